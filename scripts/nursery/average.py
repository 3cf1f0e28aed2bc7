"""The mean of two checkpoints of one run, weight by weight, which is often better than either.

    python3 average.py ONE TWO RESULT
"""
import sys

import torch


def main():
    one, two = torch.load(sys.argv[1]), torch.load(sys.argv[2])
    state = {name: (t + two["state"][name]) / 2 for name, t in one["state"].items()}
    torch.save({"config": two["config"], "state": state, "step": two["step"], "tokens": two["tokens"]}, sys.argv[3])


if __name__ == "__main__":
    main()
