"""Write the trained model as a native model directory.

    python3 export.py OUT DIRECTORY        (reads OUT/model.pt and OUT/tokenizer.json)
"""
import json
import pathlib
import sys

import torch

import native
from bpe import END

SPECIAL = {"SpecialToken": {"id": END, "type_id": 0}}


def fronted(tokenizer):
    """The tokenizer, made to put the end token in front of a text, where every story had one."""
    one, two = ({"Sequence": {"id": name, "type_id": n}} for n, name in enumerate("AB"))
    end = tokenizer["model"]["vocab"][END]
    tokenizer["post_processor"] = {
        "type": "TemplateProcessing", "single": [SPECIAL, one], "pair": [SPECIAL, one, two],
        "special_tokens": {END: {"id": END, "ids": [end], "tokens": [END]}},
    }
    return tokenizer


def main():
    out, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    saved = torch.load(out + "/model.pt", map_location="cpu")
    tensors = {name: t.float().numpy() for name, t in saved["state"].items()}
    size = native.write(directory, saved["config"], tensors)
    tokenizer = fronted(json.loads(pathlib.Path(out, "tokenizer.json").read_text(encoding="utf-8")))
    (directory / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(len(tensors), "tensors,", size, "bytes; step", saved["step"], "tokens", saved["tokens"])


if __name__ == "__main__":
    main()
