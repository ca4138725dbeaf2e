"""Writes the files of this folder with PyTorch 2.15 and numpy 2.4: small, and with every feature that the readers know."""
import argparse
import collections
import os

import numpy as np
import torch

os.chdir(os.path.dirname(os.path.abspath(__file__)))

base = torch.arange(12, dtype=torch.float32).reshape(3, 4)
attributed = torch.ones(2)
attributed.note = "an attribute"
plain = {"f32": base, "offset": base[1:, 1:3], "transposed": base.t(), "parameter": torch.nn.Parameter(base[0]),
         "scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "f64": torch.tensor([0.5, -3.0]).double(),
         "f16": torch.tensor([[1.5, -2.0]]).half(), "bf16": torch.tensor([1.5, -2.0]).bfloat16(),
         "i64": torch.tensor([-1, 7]), "i16": torch.tensor([-300], dtype=torch.int16),
         "i8": torch.tensor([-5], dtype=torch.int8), "u8": torch.tensor([200], dtype=torch.uint8),
         "bool": torch.tensor([True, False]), "expanded": torch.ones(1).expand(3)}
objects = {"args": argparse.Namespace(layers=2, rate=0.5, name="größer", nothing=None, nested={"yes": True}),
           "ordered": collections.OrderedDict(a=[1, -2, 70000, 2**40]), "counts": collections.defaultdict(int, x=3),
           "size": torch.Size([3, 4]), "dtype": torch.float16, "device": torch.device("cpu"), "set": {5},
           "optimizer": {0: {"exp_avg": base[2]}}, "list": [torch.tensor([9.0]), "text", (b"\x00\xff", 2**70)],
           "metrics": [np.float64(0.25), np.int64(-7), np.float32(1.5), np.bool_(True)]}
torch.save(collections.OrderedDict(plain), "zip.bin")
torch.save({**plain, **objects}, "legacy.bin", _use_new_zipfile_serialization=False)
torch.save({"model": plain, **objects, "attributed": attributed, "u16": torch.tensor([65535], dtype=torch.uint16),
            "f8": torch.ones(2).to(torch.float8_e4m3fn)}, "checkpoint.pt", pickle_protocol=4)

array = np.arange(12, dtype=np.float32).reshape(3, 4)
text = np.frombuffer(b"type: transformer\n\0", dtype=np.int8)
arrays = {"c": array, "fortran": np.asfortranarray(array), "big": array.astype(">f4"), "f16": array.astype(np.float16),
          "f64": array.astype(np.float64), "i64": np.array([[-1], [2**31 - 1]]), "bool": np.array([True, False]),
          "scalar": np.float32(2.5), "empty": np.zeros((0, 3), np.float32), "special:model.yml": text,
          "words": np.array(["a", "b"])}
np.savez("stored.npz", **arrays)
np.savez_compressed("deflated.npz", **arrays)
