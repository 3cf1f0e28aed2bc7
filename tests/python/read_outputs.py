"""Every output form of qkv attention and qkv heads, opened by the programs that people open it with.

    read_outputs.py QKV MODELS
"""
import io
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import pandas

QKV, MODELS = sys.argv[1], pathlib.Path(sys.argv[2])
IDS = "1,7,3,7,9"


def attention(what, ending, directory, model="llama-tied"):
    """Runs qkv attention into a file and returns its path."""
    path = pathlib.Path(directory) / f"{what}.{ending}"
    subprocess.run([QKV, "attention", "-q", "-m", MODELS / model, "--ids", IDS, "--what", what, "-o", path], check=True)
    return path


def safetensors(path):
    """The arrays of a .safetensors file, read by hand."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8: 8 + length])
    body = data[8 + length:]
    kinds = {"F32": "<f4", "I64": "<i8"}
    return {name: numpy.frombuffer(body[slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}


def check(what, directory):
    """The same numbers in npy, safetensors, json and csv."""
    array = numpy.load(attention(what, "npy", directory))
    assert array.dtype == numpy.float32
    arrays = safetensors(attention(what, "safetensors", directory))
    numpy.testing.assert_array_equal(arrays[what], array)
    assert arrays["input_ids"].tolist() == [int(i) for i in IDS.split(",")]

    path = attention(what, "json", directory)
    subprocess.run([sys.executable, "-m", "json.tool", path, "/dev/null"], check=True)
    document = json.loads(path.read_text())
    assert document["what"] == what and document["shape"] == list(array.shape)
    nested = numpy.array(document["values"], dtype=numpy.float32)  # null becomes NaN
    numpy.testing.assert_array_equal(nested, array)

    frame = pandas.read_csv(attention(what, "csv", directory))
    axes = document["axes"]
    assert list(frame.columns[: len(axes)]) == axes and frame.columns[-1] == "value"
    found = array[tuple(frame[axis] for axis in axes)]
    numpy.testing.assert_array_equal(frame["value"].to_numpy(numpy.float32), found)
    causal = what in ("weights", "scores")
    n = array.shape[-2]
    assert len(frame) == (array.size // (n * n) * n * (n + 1) // 2 if causal else array.size)


def check_labels():
    """Tokens that hold what breaks CSV come back as they are."""
    text = 'a,"b"\nc'
    out = subprocess.run([QKV, "attention", "-q", "-p", text, "--layer", "0", "--head", "0", "--format", "csv"],
                         check=True, capture_output=True).stdout.decode()
    frame = pandas.read_csv(io.StringIO(out, newline=""), keep_default_na=False)
    last = frame[frame["query"] == frame["query"].max()]
    assert text in "".join(last["key_token"]), repr("".join(last["key_token"]))


def check_heads():
    """The report in csv and in json."""
    run = [QKV, "heads", "-q", "-p", "The dog chased the ball. The dog sat.", "--format"]
    frame = pandas.read_csv(io.StringIO(subprocess.run([*run, "csv"], check=True, capture_output=True, text=True).stdout))
    rows = json.loads(subprocess.run([*run, "json"], check=True, capture_output=True, text=True).stdout)["heads"]
    assert len(frame) == len(rows)
    numpy.testing.assert_allclose(frame["previous"], [row["previous"] for row in rows])


def main():
    with tempfile.TemporaryDirectory() as directory:
        for what in ("weights", "scores", "q", "k", "v", "head_out", "attn_out", "mlp_out", "residual", "embedding",
                     "logits", "similarity"):
            check(what, directory)
    check_labels()
    check_heads()
    print("numpy, pandas and json.tool read every form")


main()
