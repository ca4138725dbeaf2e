#!/usr/bin/env python3
"""Vectors for tests/model/batch_norm_vectors_test.cpp, from torch.nn.BatchNorm1d in float64.

    python3 tests/golden/make_batch_norm_vectors.py            (needs torch; writes batch_norm.safetensors beside itself)

A layer gets two padded batches in turn, of which it sees the tokens alone, and then a third one in evaluation. The sum
of the first batch's output times `weights` is differentiated.
"""

import pathlib

import torch

from make_vectors import write_safetensors

torch.set_default_dtype(torch.float64)
BATCH, LENGTH, COLUMNS = 3, 5, 6
LENGTHS = torch.tensor([5, 2, 4], dtype=torch.int32)

if __name__ == "__main__":
    torch.manual_seed(36)
    layer = torch.nn.BatchNorm1d(COLUMNS, eps=2.0**-10, momentum=0.1)
    layer.momentum = float(torch.tensor(0.1, dtype=torch.float32))  # as the op keeps it
    with torch.no_grad():
        layer.weight.copy_(1.0 + 0.3 * torch.randn(COLUMNS))
        layer.bias.copy_(0.3 * torch.randn(COLUMNS))
    tokens = torch.arange(LENGTH)[None, :] < LENGTHS[:, None]
    inputs = [(2.0 * torch.randn(BATCH, LENGTH, COLUMNS) + 1.0).requires_grad_() for _ in range(3)]
    weights = torch.randn(BATCH, LENGTH, COLUMNS) * tokens[:, :, None]
    found = {"lengths": LENGTHS, "gain": layer.weight, "bias": layer.bias, "weights": weights}
    for number, x in enumerate(inputs):
        layer.train(number < 2)
        y = torch.zeros(BATCH, LENGTH, COLUMNS).masked_scatter(tokens[:, :, None], layer(x[tokens]))
        if number == 0:
            (y * weights).sum().backward()
            found |= {"grad_x": x.grad, "grad_gain": layer.weight.grad, "grad_bias": layer.bias.grad}
        found |= {f"x{number}": x, f"y{number}": y, f"mean{number}": layer.running_mean.clone(),
                  f"variance{number}": layer.running_var.clone()}
    write_safetensors(pathlib.Path(__file__).with_name("batch_norm.safetensors"),
                      {key: value.detach().numpy() for key, value in found.items()},
                      {"made_by": f"tests/golden/make_batch_norm_vectors.py, PyTorch {torch.__version__}"})
