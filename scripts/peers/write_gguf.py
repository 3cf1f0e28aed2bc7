"""The GGUF file (version 3) of a GPT-2 in Hugging Face's layout, for llama.cpp.

    python3 write_gguf.py FOLDER FILE.gguf --type f32|bf16|q8_0

Matrices and the token embedding get the type asked for. Positions, gains and biases stay float32, as llama.cpp's own
converter leaves them. The vocabulary is made up: llama.cpp wants one, but only ids are ever passed.
"""
import argparse
import os
import struct

import numpy as np

from make_weights import read_model

UINT32, FLOAT32, STRING, ARRAY, INT32 = 4, 6, 8, 9, 5  # types of metadata values
TYPES = {"f32": (0, 0), "bf16": (30, 32), "q8_0": (8, 7)}  # number of the tensor type, and of the file type
ALIGNMENT = 32

GLOBAL = {"wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm"}
BLOCK = {"ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
         "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}


def gguf_name(name):
    part, kind = name.rsplit(".", 1)
    if part in GLOBAL:
        return f"{GLOBAL[part]}.{kind}"
    _, layer, part = part.split(".", 2)
    return f"blk.{layer}.{BLOCK[part]}.{kind}"


def bf16(x):
    """The upper half of each float32, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2").tobytes()


def q8_0(x):
    """Blocks of 32 numbers: a scale in float16, then the numbers over the scale as bytes."""
    blocks = x.reshape(-1, 32)
    scale = np.abs(blocks).max(1) / np.float32(127)
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    out = np.empty(len(blocks), np.dtype([("scale", "<f2"), ("numbers", "i1", 32)]))
    out["scale"] = scale
    out["numbers"] = np.rint(blocks * inverse[:, None])
    return out.tobytes()


def encode(name, x, kind):
    """The tensor's type, its shape with outputs first, and its bytes."""
    linear = x.ndim == 2 and name.startswith("h.")
    if linear:
        x = np.ascontiguousarray(x.T)  # from [in, out]
    if not linear and name != "wte.weight":
        kind = "f32"
    data = {"f32": lambda: x.astype("<f4").tobytes(), "bf16": lambda: bf16(x), "q8_0": lambda: q8_0(x)}[kind]()
    return TYPES[kind][0], x.shape, data


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(kind, item):
    if kind == STRING:
        return string(item)
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f"}[kind], item)


def field(key, kind, item):
    return string(key) + struct.pack("<I", kind) + value(kind, item)


def array(key, kind, items):
    return string(key) + struct.pack("<IIQ", ARRAY, kind, len(items)) + b"".join(value(kind, item) for item in items)


def made_up_tokens(count):
    """One token for each byte, by the letters byte-level BPE gives them, then names nobody uses."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (chr(256 + i) for i in range(256 - len(printable)))
    letters = [chr(b) if b in printable else next(others) for b in range(256)]
    return letters + [f"token{i}" for i in range(256, count)]


def metadata(config, kind):
    tokens = made_up_tokens(config["vocab_size"])
    yield field("general.architecture", STRING, "gpt2")
    yield field("general.name", STRING, "random")
    yield field("general.file_type", UINT32, TYPES[kind][1])
    for key, item in (("block_count", config["n_layer"]), ("context_length", config["n_positions"]),
                      ("embedding_length", config["n_embd"]), ("feed_forward_length", 4 * config["n_embd"]),
                      ("attention.head_count", config["n_head"])):
        yield field(f"gpt2.{key}", UINT32, item)
    yield field("gpt2.attention.layer_norm_epsilon", FLOAT32, config["layer_norm_epsilon"])
    yield field("tokenizer.ggml.model", STRING, "gpt2")
    yield field("tokenizer.ggml.pre", STRING, "gpt-2")
    yield array("tokenizer.ggml.tokens", STRING, tokens)
    yield array("tokenizer.ggml.token_type", INT32, [1] * len(tokens))
    yield array("tokenizer.ggml.merges", STRING, ["a b"])
    yield field("tokenizer.ggml.bos_token_id", UINT32, config["bos_token_id"])
    yield field("tokenizer.ggml.eos_token_id", UINT32, config["eos_token_id"])


def write(folder, path, kind):
    config, tensors = read_model(folder)
    fields, infos, blobs, offset = list(metadata(config, kind)), [], [], 0
    for name, tensor in tensors.items():
        number, shape, data = encode(name, tensor, kind)
        dimensions = shape[::-1]  # GGUF counts from the one that lies closest
        infos.append(string(gguf_name(name)) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *dimensions, number, offset))
        blobs.append(data + b"\0" * (-len(data) % ALIGNMENT))
        offset += len(blobs[-1])
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(fields)) + b"".join(fields) + b"".join(infos)
    partial = f"{path}.partial"
    with open(partial, "wb") as file:
        file.write(head + b"\0" * (-len(head) % ALIGNMENT))
        for blob in blobs:
            file.write(blob)
    os.replace(partial, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("file")
    parser.add_argument("--type", choices=TYPES, default="f32")
    arguments = parser.parse_args()
    write(arguments.folder, arguments.file, arguments.type)
