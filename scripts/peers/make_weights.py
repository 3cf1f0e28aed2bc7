"""A GPT-2 of random weights, as Hugging Face lays it out: config.json and model.safetensors in float32.

    python3 make_weights.py FOLDER [--shape tiny] [--seed N]

Every contestant of scripts/compare computes with these numbers.
"""
import argparse
import json
import os
import pathlib
import struct

import numpy as np

SHAPES = {
    "gpt2": {"n_layer": 12, "n_head": 12, "n_embd": 768, "n_positions": 1024, "vocab_size": 50257},
    "tiny": {"n_layer": 2, "n_head": 4, "n_embd": 64, "n_positions": 1024, "vocab_size": 1000},
}


def config_of(shape):
    return {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], **SHAPES[shape],
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": True,
        "bos_token_id": 0, "eos_token_id": 0,
    }


def shapes_of(config):
    """Name and shape of every tensor. Matrices are [in, out], as GPT-2's files have them."""
    d = config["n_embd"]
    yield "wte.weight", (config["vocab_size"], d)
    yield "wpe.weight", (config["n_positions"], d)
    for i in range(config["n_layer"]):
        for norm in ("ln_1", "ln_2"):
            yield f"h.{i}.{norm}.weight", (d,)
            yield f"h.{i}.{norm}.bias", (d,)
        for linear, n_in, n_out in (("attn.c_attn", d, 3 * d), ("attn.c_proj", d, d),
                                    ("mlp.c_fc", d, 4 * d), ("mlp.c_proj", 4 * d, d)):
            yield f"h.{i}.{linear}.weight", (n_in, n_out)
            yield f"h.{i}.{linear}.bias", (n_out,)
    yield "ln_f.weight", (d,)
    yield "ln_f.bias", (d,)


def random_tensor(rng, name, shape):
    x = rng.standard_normal(shape, dtype=np.float32) * np.float32(0.02)
    is_gain = name.endswith(".weight") and "ln_" in name
    return x + np.float32(1) if is_gain else x


def write_safetensors(path, shapes, tensors):
    header, end = {}, 0
    for name, shape in shapes:
        begin, end = end, end + 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors:
            file.write(tensor.astype("<f4").tobytes())


def read_model(folder):
    """The config, and the tensors as views of the mapped file."""
    config = json.loads((pathlib.Path(folder) / "config.json").read_text())
    path = pathlib.Path(folder) / "model.safetensors"
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    data = np.memmap(path, np.uint8, "r", offset=8 + length)
    return config, {name: data[slice(*entry["data_offsets"])].view("<f4").reshape(entry["shape"])
                    for name, entry in header.items()}


def make(folder, shape, seed):
    """Writes the folder; what is there of the same shape and seed stays. The config comes last, to vouch for the rest."""
    folder = pathlib.Path(folder)
    config = {**config_of(shape), "_name_or_path": f"random-{shape}-{seed}"}
    about = folder / "config.json"
    if about.exists() and json.loads(about.read_text()) == config:
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    shapes = list(shapes_of(config))
    write_safetensors(folder / "model.partial", shapes, (random_tensor(rng, *item) for item in shapes))
    os.replace(folder / "model.partial", folder / "model.safetensors")
    about.write_text(json.dumps(config, indent=2) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--shape", choices=SHAPES, default="gpt2")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    make(arguments.folder, arguments.shape, arguments.seed)
