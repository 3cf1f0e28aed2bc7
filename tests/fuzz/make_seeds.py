#!/usr/bin/env python3
"""Writes the seeds: models of one layer and a few numbers, in each form that is read. Python alone, no packages."""
import json
import struct
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"
D, HEADS, VOCAB, D_FF, CONTEXT = 4, 2, 5, 6, 8


def write(entry, name, data):
    (SEEDS / entry).mkdir(parents=True, exist_ok=True)
    (SEEDS / entry / name).write_bytes(data)


def numbers(count, seed=1):
    """Between -0.5 and 0.5, of few different ones, so that a fuzzer has less to look at."""
    return [((i * 7 + seed * 3) % 16 - 8) / 16 for i in range(count)]


def product(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def f32(values):
    return struct.pack(f"<{len(values)}f", *values)


def tensors_of(shapes):
    return {name: (shape, f32(numbers(product(shape), i))) for i, (name, shape) in enumerate(shapes.items())}


# The models, as Hugging Face publishes them.

LLAMA = {"model_type": "llama", "num_hidden_layers": 1, "hidden_size": D, "num_attention_heads": HEADS,
         "num_key_value_heads": 1, "max_position_embeddings": CONTEXT, "intermediate_size": D_FF, "vocab_size": VOCAB,
         "hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "eos_token_id": [1, 2]}
GPT2 = {"model_type": "gpt2", "n_layer": 1, "n_embd": D, "n_head": HEADS, "n_positions": CONTEXT, "n_inner": D_FF,
        "vocab_size": VOCAB, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}
NATIVE = {"model_type": "qkv", "format_version": 1, "name": "tiny", "n_layers": 1, "d_model": D, "n_vocab": VOCAB,
          "n_ctx": CONTEXT, "position": {"kind": "learned"},
          "norm": {"kind": "layer", "epsilon": 1e-5, "bias": True},
          "attention": {"n_heads": HEADS, "n_kv_heads": HEADS, "head_dim": 2, "scale": 0.7,
                        "scale_divided_by_layer": False, "bias_q": False, "bias_k": False, "bias_v": False,
                        "bias_o": True},
          "mlp": {"kind": "plain", "activation": "gelu_tanh", "d_ff": D_FF, "bias_in": True, "bias_out": False},
          "residual": "sequential", "embedding_scale": 1.0, "logit_scale": 1.0, "head": {"tied": True, "bias": False},
          "tokens": {"bos": 0, "eos": [0]}}
ROTARY = {"kind": "rotary", "theta": 1000.0, "n_rotated": 2, "layout": "pairs",
          "scaling": {"kind": "llama3", "factor": 8.0, "low_frequency_factor": 1.0, "high_frequency_factor": 4.0,
                      "original_n_ctx": 4}}
SECOND = {key: value for key, value in ROTARY.items() if key != "kind"}
NATIVE_ROTARY = NATIVE | {"position": ROTARY | {"second": SECOND, "of_layer": [1]},
                          "norm": {"kind": "rms", "epsilon": 0.1, "bias": False, "gain": False, "gain_offset": 1.0},
                          "mlp": {"kind": "gated", "activation": "silu", "d_ff": D_FF, "bias_in": False,
                                  "bias_out": False},
                          "norm_places": {"before": True, "after": True, "stream": False},
                          "attention": NATIVE["attention"] | {"n_kv_heads": 1, "bias_o": False, "windows": [2],
                                                              "soft_cap": 5.0, "clip": 3.0}}


def llama_tensors(d=D, d_ff=D_FF, kv=D // HEADS):
    layer = "model.layers.0."
    return tensors_of({
        "model.embed_tokens.weight": [VOCAB, d], layer + "input_layernorm.weight": [d],
        layer + "self_attn.q_proj.weight": [d, d], layer + "self_attn.k_proj.weight": [kv, d],
        layer + "self_attn.v_proj.weight": [kv, d], layer + "self_attn.o_proj.weight": [d, d],
        layer + "post_attention_layernorm.weight": [d], layer + "mlp.up_proj.weight": [d_ff, d],
        layer + "mlp.gate_proj.weight": [d_ff, d], layer + "mlp.down_proj.weight": [d, d_ff],
        "model.norm.weight": [d], "lm_head.weight": [VOCAB, d]})


def gpt2_tensors():
    shapes = {"wte.weight": [VOCAB, D], "wpe.weight": [CONTEXT, D]}
    for name in ("ln_1", "ln_2"):
        shapes |= {f"h.0.{name}.weight": [D], f"h.0.{name}.bias": [D]}
    for name, rows, cols in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D), ("mlp.c_fc", D, D_FF),
                             ("mlp.c_proj", D_FF, D)):
        shapes |= {f"h.0.{name}.weight": [rows, cols], f"h.0.{name}.bias": [cols]}
    return tensors_of(shapes | {"ln_f.weight": [D], "ln_f.bias": [D]})


def native_tensors(config):
    attention, mlp, norm = config["attention"], config["mlp"], config["norm"]
    q, kv, d_ff = D, attention["n_kv_heads"] * attention["head_dim"], mlp["d_ff"]
    shapes = {"embedding.tokens": [VOCAB, D]}
    if config["position"]["kind"] == "learned":
        shapes["embedding.positions"] = [CONTEXT, D]
    norms = ["blocks.0.attn_norm", "blocks.0.mlp_norm", "final_norm"]
    if config.get("norm_places", {}).get("after"):
        norms += ["blocks.0.attn_out_norm", "blocks.0.mlp_out_norm"]
    for name in norms if norm.get("gain", True) else []:
        shapes[name + ".gain"] = [D]
        if norm["bias"]:
            shapes[name + ".bias"] = [D]
    block = "blocks.0."
    shapes |= {block + "attn.W_q": [q, D], block + "attn.W_k": [kv, D], block + "attn.W_v": [kv, D],
               block + "attn.W_o": [D, q], block + "mlp.W_in": [d_ff, D], block + "mlp.W_out": [D, d_ff]}
    if mlp["kind"] == "gated":
        shapes[block + "mlp.W_gate"] = [d_ff, D]
    if attention["bias_o"]:
        shapes[block + "attn.b_o"] = [D]
    if mlp["bias_in"]:
        shapes[block + "mlp.b_in"] = [d_ff]
    return tensors_of(shapes)


# The forms.

def with_config(config, data):
    return json.dumps(config).encode() + b"\0" + data


def safetensors(tensors, dtype="F32"):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        if dtype == "BF16":
            values = b"".join(values[i + 2:i + 4] for i in range(0, len(values), 4))
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def native_files(tensors):
    return b"".join(name.encode() + b".f32\0" + struct.pack("<H", len(values)) + values
                    for name, (_, values) in tensors.items())


def zip_archive(entries, zip64=False):
    data, directory = b"", b""
    none = 0xFFFFFFFF
    for name, content in entries.items():
        size, place, name = len(content), len(data), name.encode()
        extra = struct.pack("<HHQQQ", 1, 24, size, size, place) if zip64 else b""
        sizes = (none, none) if zip64 else (size, size)
        directory += struct.pack("<I4xHH8xIIHHH8xI", 0x02014B50, 0, 0, *sizes, len(name), len(extra), 0,
                                 none if zip64 else place) + name + extra
        data += struct.pack("<I2xHH16xHH", 0x04034B50, 0, 0, len(name), 0) + name + content
    record = len(data) + len(directory)
    end = b""
    if zip64:
        end = struct.pack("<IQ12xQQQQ", 0x06064B50, 44, len(entries), len(entries), len(directory), len(data))
        end += struct.pack("<I4xQI", 0x07064B50, record, 1)
    end += struct.pack("<I4xHHIIH", 0x06054B50, len(entries), len(entries), none if zip64 else len(directory),
                       none if zip64 else len(data), 0)
    return data + directory + end


def pickle_text(text):
    return b"X" + struct.pack("<I", len(text)) + text.encode()


def pickle_tuple(items):
    return b"(" + b"".join(items) + b"t"


def pickle_integers(values):
    return pickle_tuple([b"K" + bytes([value]) for value in values])


def pytorch(tensors, zip64=False, turned=()):
    entries, pairs = {}, b""
    for i, (name, (shape, values)) in enumerate(tensors.items()):
        strides = [product(shape[axis + 1:]) for axis in range(len(shape))]
        if name in turned:
            strides = [1, shape[0]]
        storage = pickle_tuple([pickle_text("storage"), b"ctorch\nFloatStorage\n", pickle_text(str(i)),
                                pickle_text("cpu"), b"K" + bytes([product(shape)])]) + b"Q"
        pairs += pickle_text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n" + pickle_tuple(
            [storage, b"K\0", pickle_integers(shape), pickle_integers(strides), b"\x89",
             b"ccollections\nOrderedDict\n)R"]) + b"R"
        entries[f"m/data/{i}"] = values
    return zip_archive({"m/data.pkl": b"\x80\x02}(" + pairs + b"u.", "m/byteorder": b"little"} | entries, zip64)


def llama2c(version):
    header = b"" if version == 0 else struct.pack("<II", 0x616B3432, version)
    header += struct.pack("<7i", D, D_FF, 1, HEADS, 1, -VOCAB if version == 0 else VOCAB, CONTEXT)
    if version > 0:
        header = (header + b"\0" + struct.pack("<i", 2 if version == 2 else 0)).ljust(256, b"\0")
    by_name = {name: values for name, (_, values) in llama_tensors().items()}
    layer = "model.layers.0."
    norms = [layer + "input_layernorm", layer + "post_attention_layernorm", "model.norm"]
    matrices = [layer + "self_attn." + part + "_proj" for part in "qkvo"]
    mlp = [layer + "mlp." + part + "_proj" for part in ("gate", "down", "up")]
    tables = b"\0" * (CONTEXT * (D // HEADS // 2) * 2 * 4)

    def put(names):
        data = b""
        for name in names:
            values = by_name[name + ".weight"]
            count = len(values) // 4
            packed = bytes(i % 100 for i in range(count)) + f32([0.01] * (count // 2))
            data += packed if version == 2 and name not in norms else values
        return data

    if version == 0:
        return header + put(["model.embed_tokens", norms[0], *matrices, norms[1], *mlp, norms[2]]) + tables + put(
            ["lm_head"])
    return header + put([*norms, "model.embed_tokens", *matrices, *mlp, "lm_head"])


GGUF_TYPES = {int: (4, "<I"), float: (6, "<f"), bool: (7, "<?")}
BLOCKS = {0: (1, 4), 1: (1, 2), 30: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
          10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210)}  # numbers and bytes


def gguf_text(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_value(value):
    if isinstance(value, str):
        return struct.pack("<I", 8) + gguf_text(value)
    if not isinstance(value, list):
        number, form = GGUF_TYPES[type(value)]
        return struct.pack("<I", number) + struct.pack(form, value)
    if isinstance(value[0], str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(gguf_text, value))
    number, form = (6, "f") if isinstance(value[0], float) else (5, "i")
    return struct.pack("<IIQ", 9, number, len(value)) + struct.pack(f"<{len(value)}{form}", *value)


def gguf(keys, tensors, version=3):
    """Of tensors, shape and type; what they hold is the same few bytes again and again."""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    head += b"".join(gguf_text(key) + gguf_value(value) for key, value in keys.items())
    data = b""
    for name, (shape, kind) in tensors.items():
        block, size = BLOCKS[kind]
        data += b"\0" * (-len(data) % 32)
        head += gguf_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), kind, len(data))
        data += (f32(numbers(product(shape))) if kind == 0 else
                 b"\x01\x2c\x33\x21" * (product(shape) // block * size // 4 + 1))[:product(shape) // block * size]
    return head + b"\0" * (-len(head) % 32) + data


def gguf_llama(d=D, d_ff=D_FF, head_dim=D // HEADS, kinds=(0,), n_heads=HEADS):
    keys = {"general.architecture": "llama", "llama.block_count": 1, "llama.embedding_length": d,
            "llama.attention.head_count": n_heads, "llama.attention.head_count_kv": 1,
            "llama.attention.key_length": head_dim, "llama.context_length": CONTEXT,
            "llama.feed_forward_length": d_ff, "llama.rope.freq_base": 10000.0,
            "llama.attention.layer_norm_rms_epsilon": 1e-5}
    q = n_heads * head_dim
    matrices = {"token_embd": [VOCAB, d], "blk.0.attn_q": [q, d], "blk.0.attn_k": [head_dim, d],
                "blk.0.attn_v": [head_dim, d], "blk.0.attn_output": [d, q], "blk.0.ffn_up": [d_ff, d],
                "blk.0.ffn_gate": [d_ff, d], "blk.0.ffn_down": [d, d_ff], "output": [VOCAB, d]}
    tensors = {name + ".weight": ([d], 0) for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm")}
    for i, (name, shape) in enumerate(matrices.items()):
        kind = kinds[i % len(kinds)]
        tensors[name + ".weight"] = (shape, kind if shape[1] % BLOCKS[kind][0] == 0 else 0)
    return keys, tensors


def gguf_gpt2():
    keys = {"general.architecture": "gpt2", "gpt2.block_count": 1, "gpt2.embedding_length": D,
            "gpt2.attention.head_count": HEADS, "gpt2.context_length": CONTEXT, "gpt2.feed_forward_length": D_FF,
            "gpt2.attention.layer_norm_epsilon": 1e-5}
    tensors = {"token_embd.weight": ([VOCAB, D], 0), "position_embd.weight": ([CONTEXT, D], 0)}
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        tensors |= {name + ".weight": ([D], 0), name + ".bias": ([D], 0)}
    for name, out, into in (("attn_qkv", 3 * D, D), ("attn_output", D, D), ("ffn_up", D_FF, D), ("ffn_down", D, D_FF)):
        tensors |= {f"blk.0.{name}.weight": ([out, into], 0), f"blk.0.{name}.bias": ([out], 0)}
    return keys, tensors


def byte_symbols():
    symbols, later = [], 256
    for byte in range(256):
        prints = 32 < byte < 127 or 160 < byte != 173
        symbols.append(chr(byte if prints else later))
        later += not prints
    return symbols


# Pieces as SentencePiece has them: text, score, kind.
PIECES = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3), ("<0x0A>", 0.0, 6), ("\u2581", -1.0, 1),
          ("h", -2.0, 1), ("e", -2.5, 1), ("l", -3.0, 1), ("o", -3.5, 1), ("he", -4.0, 1), ("ll", -4.5, 1),
          ("\u2581he", -5.0, 1), ("<user>", 0.0, 4)]


def tokenizer_keys(kind):
    if kind == "llama":
        return {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": [piece for piece, _, _ in PIECES],
                "tokenizer.ggml.scores": [score for _, score, _ in PIECES],
                "tokenizer.ggml.token_type": [number for _, _, number in PIECES],
                "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2,
                "tokenizer.ggml.unknown_token_id": 0, "tokenizer.ggml.add_bos_token": True}
    tokens = [*byte_symbols(), "he", "\u0120he", "<|end|>", "<user>"]
    return {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "llama-bpe", "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.token_type": [1] * 258 + [3, 4], "tokenizer.ggml.merges": ["h e", "\u0120 he"],
            "tokenizer.ggml.bos_token_id": 258}


def write_models():
    index = json.dumps({"weight_map": dict.fromkeys(llama_tensors(), "1.safetensors")}).encode()
    write("safetensors", "llama-index", with_config(LLAMA, index + b"\0" + safetensors(llama_tensors())))
    write("safetensors", "llama", with_config(LLAMA, b"\0" + safetensors(llama_tensors())))
    write("safetensors", "gpt2-bf16", with_config(GPT2, b"\0" + safetensors(gpt2_tensors(), "BF16")))
    write("safetensors", "native", with_config(NATIVE, b"\0" + safetensors(native_tensors(NATIVE))))
    write("pytorch", "llama", with_config(LLAMA, pytorch(llama_tensors())))
    turned = {"h.0.attn.c_attn.weight", "h.0.mlp.c_fc.weight"}
    write("pytorch", "gpt2-zip64-turned", with_config(GPT2, pytorch(gpt2_tensors(), True, turned)))
    for name, config in (("learned", NATIVE), ("rotary", NATIVE_ROTARY)):
        write("native", name, with_config(config, native_files(native_tensors(config))))
    for version in range(3):
        write("llama2c", f"version{version}", llama2c(version))
    write("gguf", "llama", gguf(*gguf_llama()))
    write("gguf", "llama-blocks", gguf(*gguf_llama(32, 32, 2, (1, 30, 2, 3, 6, 7, 8))))
    write("gguf", "llama-large-blocks", gguf(*gguf_llama(256, 1, 2, (10, 11, 12, 13, 0, 14), 1)))
    write("gguf", "gpt2", gguf(*gguf_gpt2(), version=2))


def write_tokenizers():
    for kind in ("llama", "gpt2"):
        write("gguf", f"tokenizer-{kind}", gguf({"general.architecture": "llama"} | tokenizer_keys(kind), {}))
    data = struct.pack("<i", 8)
    for piece, score, kind in PIECES:
        text = f"\n{piece}\n" if kind == 3 else piece.replace("\u2581", " ")
        data += struct.pack("<fi", score, len(text.encode())) + text.encode()
    write("tokenizer_file", "llama2c", data)
    vocab = {piece: i for i, piece in enumerate([*byte_symbols(), "he", "\u0120he", "<|endoftext|>"])}
    write("tokenizer_pair", "gpt2", with_config(vocab, "#version: 0.2\nh e\n\u0120 he\n".encode()))


if __name__ == "__main__":
    write_models()
    write_tokenizers()
