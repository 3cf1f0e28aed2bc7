#!/usr/bin/env python3
"""Writes files as PyTorch's own torch.save does, and the numbers that are in them.

tensors.bin, tensors.safetensors: tensors of every dtype, in order, turned, with a stride, on one storage; old.bin: the
form before PyTorch 1.6; model/: a two-block Llama of random weights with its config, pytorch_model.bin in two shards.
Needs PyTorch (made with Debian's 1.13):  python3 make.py
"""

import collections
import json
import os
import struct

import torch

NAMES = {
    torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64", torch.int64: "I64",
    torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        bytes_ = bytes(tensor.contiguous().flatten().clone().storage().untyped().tolist()) if tensor.numel() else b""
        header[name] = {
            "dtype": NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(bytes_)],
        }
        data += bytes_
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def of_every_kind():
    whole = torch.arange(24, dtype=torch.float32).reshape(4, 6) / 7
    tensors = collections.OrderedDict(
        order=whole,
        turned=whole.t(),
        part=whole[1:3, 2:5],
        every_second=whole.flatten()[1::2],
        axes=torch.arange(24, dtype=torch.float16).reshape(2, 3, 4).permute(2, 0, 1),
        scalar=torch.tensor(-1e4),
        empty=torch.zeros(0, 5),
        one=torch.ones(1, 1, 2, 1),
        parameter=torch.nn.Parameter(torch.tensor([0.5, -2.0])),
    )
    for dtype, name in NAMES.items():
        tensors[f"dtype.{name.lower()}"] = torch.tensor([[1, 0, 1], [0, 1, 1]]).to(dtype)
    return tensors


def random_model():
    torch.manual_seed(5)
    config = {
        "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 64, "intermediate_size": 24, "vocab_size": 40,
        "hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
    }  # fmt: skip
    block = {
        "input_layernorm": (16,), "self_attn.q_proj": (16, 16), "self_attn.k_proj": (8, 16),
        "self_attn.v_proj": (8, 16), "self_attn.o_proj": (16, 16), "post_attention_layernorm": (16,),
        "mlp.up_proj": (24, 16), "mlp.gate_proj": (24, 16), "mlp.down_proj": (16, 24),
    }  # fmt: skip
    shapes = {"model.embed_tokens": (40, 16), "model.norm": (16,), "lm_head": (40, 16)}
    for i in range(2):
        shapes.update({f"model.layers.{i}.{name}": shape for name, shape in block.items()})
    return config, {f"{name}.weight": torch.randn(shape) * 0.4 for name, shape in shapes.items()}


def as_module(tensors):
    """A state_dict as modules give it, with its notes about versions."""
    state = collections.OrderedDict(tensors)
    state._metadata = collections.OrderedDict({"": {"version": 1}})
    return state


def main():
    tensors = of_every_kind()
    torch.save(as_module(tensors), "tensors.bin")
    write_safetensors("tensors.safetensors", {name: tensor.detach() for name, tensor in tensors.items()})
    torch.save(tensors, "old.bin", _use_new_zipfile_serialization=False)

    config, weights = random_model()
    os.makedirs("model", exist_ok=True)
    json.dump(config, open("model/config.json", "w"), indent=1)
    write_safetensors("model.safetensors", weights)
    shards = {}
    for name in weights:
        shards[name] = f"pytorch_model-0000{1 if 'layers.1' in name else 2}-of-00002.bin"
    for file in set(shards.values()):
        part = {name: tensor for name, tensor in weights.items() if shards[name] == file}
        # Some as they come out of a transposed checkpoint: the numbers of a matrix column by column.
        part = {name: t.t().contiguous().t() if "o_proj" in name else t for name, t in part.items()}
        torch.save(as_module(part), f"model/{file}")
    index = {"metadata": {"total_size": sum(4 * t.numel() for t in weights.values())}, "weight_map": shards}
    json.dump(index, open("model/pytorch_model.bin.index.json", "w"), indent=1)


main()
