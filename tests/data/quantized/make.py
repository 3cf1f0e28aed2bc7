#!/usr/bin/env python3
"""Writes blocks.safetensors: random blocks of each quantised dtype, and the numbers they stand for.

The numbers are computed here with numpy from the published layouts of ggml's blocks, whole arrays of bits at a time;
nothing is taken from the program. NAME.bytes is [blocks, bytes of a block], NAME.numbers [blocks, numbers in one].
Needs only numpy:  python3 make.py
"""

import json
import struct

import numpy as np

BLOCKS = 3
rng = np.random.default_rng(20)


def halves(n):
    """n scales as f16, large and small, of both signs, a zero and a subnormal among them."""
    values = rng.normal(size=n) * 10.0 ** rng.integers(-4, 2, size=n)
    values[:2] = [0.0, 3e-6]
    return rng.permutation(values).astype("<f2")


def fields(*sizes):
    """Random bytes, the parts of a block side by side: (name, count) of bytes, or of f16 for names that begin with d."""
    parts = {}
    for name, count in sizes:
        if name[0] == "d":
            parts[name] = halves(BLOCKS * count).reshape(BLOCKS, count)
        else:
            parts[name] = rng.integers(0, 256, size=(BLOCKS, count), dtype=np.uint8)
    blocks = np.concatenate([parts[name].view(np.uint8).reshape(BLOCKS, -1) for name, _ in sizes], axis=1)
    return blocks, parts


def f32(x):
    return x.astype(np.float32)


def nibbles(bytes_):
    """[..., n] bytes to [..., 2, n]: all low nibbles, then all high ones."""
    return np.stack([bytes_ & 15, bytes_ >> 4], axis=-2)


def q8_0():
    blocks, p = fields(("d", 1), ("q", 32))
    return blocks, f32(p["q"].view(np.int8)) * f32(p["d"])


def q4_0():
    blocks, p = fields(("d", 1), ("q", 16))
    return blocks, f32(nibbles(p["q"]).reshape(BLOCKS, 32).astype(int) - 8) * f32(p["d"])


def q4_1():
    blocks, p = fields(("d", 1), ("dm", 1), ("q", 16))
    return blocks, f32(nibbles(p["q"]).reshape(BLOCKS, 32)) * f32(p["d"]) + f32(p["dm"])


def fifths(bytes_):
    return np.unpackbits(bytes_, axis=-1, bitorder="little").astype(int) * 16


def q5_0():
    blocks, p = fields(("d", 1), ("h", 4), ("q", 16))
    return blocks, f32(nibbles(p["q"]).reshape(BLOCKS, 32) + fifths(p["h"]) - 16) * f32(p["d"])


def q5_1():
    blocks, p = fields(("d", 1), ("dm", 1), ("h", 4), ("q", 16))
    return blocks, f32(nibbles(p["q"]).reshape(BLOCKS, 32) + fifths(p["h"])) * f32(p["d"]) + f32(p["dm"])


def pairs(bytes_):
    """64 bytes to 256 numbers of two bits: each half of 128 takes 32 bytes, its lowest pairs first."""
    halves_ = bytes_.reshape(BLOCKS, 2, 1, 32)
    return ((halves_ >> np.array([0, 2, 4, 6], np.uint8).reshape(1, 1, 4, 1)) & 3).reshape(BLOCKS, 256)


def q2_k():
    blocks, p = fields(("s", 16), ("q", 64), ("d", 1), ("dm", 1))
    scale = f32(p["d"]) * f32(p["s"] & 15)
    offset = f32(p["dm"]) * f32(p["s"] >> 4)
    return blocks, np.repeat(scale, 16, axis=1) * f32(pairs(p["q"])) - np.repeat(offset, 16, axis=1)


def q3_k():
    blocks, p = fields(("h", 32), ("q", 64), ("s", 12), ("d", 1))
    low = nibbles(p["s"][:, :8]).reshape(BLOCKS, 16)
    high = (p["s"][:, None, 8:] >> np.array([0, 2, 4, 6], np.uint8).reshape(1, 4, 1)) & 3
    scale = f32(p["d"]) * f32((low | high.reshape(BLOCKS, 16) << 4).astype(int) - 32)
    third = (p["h"][:, None, :] >> np.arange(8, dtype=np.uint8).reshape(1, 8, 1)) & 1
    number = pairs(p["q"]).astype(int) + 4 * third.reshape(BLOCKS, 256) - 4
    return blocks, np.repeat(scale, 16, axis=1) * f32(number)


def six_bits(packed):
    """12 bytes to eight scales and eight offsets."""
    a, b, c = (packed[:, i : i + 4] for i in (0, 4, 8))
    scale = np.concatenate([a & 63, (c & 15) | (a >> 6) << 4], axis=1)
    offset = np.concatenate([b & 63, (c >> 4) | (b >> 6) << 4], axis=1)
    return scale, offset


def of_eight(p, number):
    scale, offset = six_bits(p["s"])
    scale, offset = f32(p["d"]) * f32(scale), f32(p["dm"]) * f32(offset)
    return np.repeat(scale, 32, axis=1) * f32(number) - np.repeat(offset, 32, axis=1)


def q4_k():
    blocks, p = fields(("d", 1), ("dm", 1), ("s", 12), ("q", 128))
    return blocks, of_eight(p, nibbles(p["q"].reshape(BLOCKS, 4, 32)).reshape(BLOCKS, 256))


def q5_k():
    blocks, p = fields(("d", 1), ("dm", 1), ("s", 12), ("h", 32), ("q", 128))
    fifth = (p["h"][:, None, :] >> np.arange(8, dtype=np.uint8).reshape(1, 8, 1)) & 1
    number = nibbles(p["q"].reshape(BLOCKS, 4, 32)).reshape(BLOCKS, 256) + 16 * fifth.reshape(BLOCKS, 256)
    return blocks, of_eight(p, number)


def q6_k():
    blocks, p = fields(("q", 128), ("h", 64), ("s", 16), ("d", 1))
    number = nibbles(p["q"].reshape(BLOCKS, 2, 64)).reshape(BLOCKS, 256) | pairs(p["h"]) << 4
    scale = f32(p["d"]) * f32(p["s"].view(np.int8))
    return blocks, np.repeat(scale, 16, axis=1) * f32(number.astype(int) - 32)


def main():
    header, data = {}, b""
    for make in (q8_0, q4_0, q4_1, q5_0, q5_1, q2_k, q3_k, q4_k, q5_k, q6_k):
        blocks, numbers = make()
        assert numbers.dtype == np.float32
        for name, array, dtype in (("bytes", blocks, "U8"), ("numbers", numbers, "F32")):
            bytes_ = np.ascontiguousarray(array).tobytes()
            header[f"{make.__name__}.{name}"] = {
                "dtype": dtype,
                "shape": list(array.shape),
                "data_offsets": [len(data), len(data) + len(bytes_)],
            }
            data += bytes_
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open("blocks.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


main()
