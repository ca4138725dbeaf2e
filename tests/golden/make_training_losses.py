#!/usr/bin/env python3
"""Losses of a training for tests/model/training_losses_test.cpp, by the model of make_vectors.py in PyTorch and float64.

    python3 tests/golden/make_training_losses.py    (needs torch; writes training_losses.json beside itself)

The model is wide enough for the kernels of tensor cores and of whole warps. Its parameters and texts would not fit into
this folder, so both programs make them by the same formulas.
"""
import json
import math
import pathlib

import numpy
import torch

from make_vectors import ADAM_EPSILON, BASE, BETA1, BETA2, Model, learning_rate, losses, single

STEPS, WARMUP, EPSILON = 5, 40, 0.1
CONFIG = {**BASE, "encoder_layers": 1, "decoder_layers": 1, "d_model": 256, "d_ff": 256, "heads": 4, "d_k": 64, "d_v": 64,
          "max_length": 32, "source_vocabulary": 64, "target_vocabulary": 64}
PIECES = [19, 7, 30, 12]  # of each sentence


def hashed(name, count):
    """Numbers in [-1, 1) from FNV-1a of the name, and the place."""
    seed = 2166136261
    for byte in name.encode():
        seed = (seed ^ byte) * 16777619 % 2**32
    bits = (numpy.arange(count, dtype=numpy.uint64) * numpy.uint64(2654435761) + numpy.uint64(seed)) % numpy.uint64(2**32)
    bits ^= bits >> numpy.uint64(15)
    bits = bits * numpy.uint64(2246822519) % numpy.uint64(2**32)
    bits ^= bits >> numpy.uint64(13)
    return bits.astype(numpy.float64) / 2**31 - 1.0


class HashedModel(Model):
    def get(self, name, *shape):
        if name not in self.p:
            size = math.sqrt(3.0 / shape[-1]) if len(shape) == 2 else 0.1
            value = size * hashed(name, math.prod(shape)).reshape(shape) + (1.0 if name.endswith(".gain") else 0.0)
            self.p[name] = torch.tensor(value).float().double().requires_grad_()
        return self.p[name]


def make_texts():
    longest = max(PIECES) + 1
    shape = (len(PIECES), longest)
    source = numpy.full(shape, CONFIG["pad_id"])
    target_in, target_out = source.copy(), numpy.full(shape, -1)
    for row, count in enumerate(PIECES):
        first = [4 + (7 * i + 5 * row + i * i) % 60 for i in range(count)]
        second = [4 + (11 * i + 3 * row + 2 * i * i) % 60 for i in range(count)]
        source[row, : count + 1] = [*first, CONFIG["eos_id"]]
        target_in[row, : count + 1] = [CONFIG["bos_id"], *second]
        target_out[row, : count + 1] = [*second, CONFIG["eos_id"]]
    batch = {"source": source, "source_lengths": numpy.array(PIECES) + 1, "target_in": target_in, "target_out": target_out}
    return {key: torch.from_numpy(value).long() for key, value in batch.items()}


def main():
    model, texts = HashedModel(CONFIG, 0), make_texts()
    tokens = int((texts["target_out"] >= 0).sum())

    def loss():
        return losses(model.logits(texts), texts["target_out"], EPSILON, "all")[0]

    found = [loss().item()]  # which names every parameter
    adam = torch.optim.Adam(model.p.values(), betas=(single(BETA1), single(BETA2)), eps=single(ADAM_EPSILON))
    for step in range(1, STEPS + 1):
        for group in adam.param_groups:
            group["lr"] = learning_rate(CONFIG["d_model"], step, WARMUP)
        adam.zero_grad()
        (loss() / tokens).backward()
        adam.step()
        found.append(loss().item())
    pathlib.Path(__file__).with_name("training_losses.json").write_text(json.dumps({
        "made_by": f"tests/golden/make_training_losses.py, PyTorch {torch.__version__}", "config": CONFIG, "warmup": WARMUP,
        "epsilon": EPSILON, "pieces": PIECES, "losses_per_token": [each / tokens for each in found]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
