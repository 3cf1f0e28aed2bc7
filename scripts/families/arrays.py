"""Reads .safetensors files with numpy, and writes them: float32 and int64."""
import json
import struct

import numpy as np

DTYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}


def load(path):
    data = path.read_bytes()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:end])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[end + entry["data_offsets"][0]:end + entry["data_offsets"][1]],
                                DTYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}


def save(path, arrays):
    header, chunks, at = {}, [], 0
    for name, array in sorted(arrays.items()):
        kind = "I64" if np.issubdtype(array.dtype, np.integer) else "F32"
        chunks.append(np.ascontiguousarray(array, DTYPES[kind]).tobytes())
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + len(chunks[-1])]}
        at += len(chunks[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(chunks))
