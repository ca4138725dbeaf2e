#!/usr/bin/env python3
"""Checksums of dequantised blocks for tests/io/gguf_archive_test.cpp, which makes the same blocks.

    python3 tests/golden/make_gguf_vectors.py        (writes tests/golden/gguf_blocks.json)

Needs gguf 0.19 (PyPI). Of each type, 1,000 blocks of bytes that a generator of numbers gives; scales are finite.
"""

import json
import pathlib
import zlib

import gguf
import numpy

BLOCKS = 1000
# Where the halves of a block lie that are scales or least values.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0]}


def random_bytes(count):
    state, values = 1, bytearray()
    while len(values) < count:
        state = (1664525 * state + 1013904223) % 2 ** 32
        values.append(state >> 24)
    return values


def main():
    expected = {}
    for name, halves in HALVES.items():
        kind = gguf.GGMLQuantizationType[name]
        size = gguf.GGML_QUANT_SIZES[kind][1]
        data = random_bytes(BLOCKS * size)
        for block in range(BLOCKS):
            for half in halves:
                data[block * size + half + 1] &= 0xbf  # below 2
        values = gguf.dequantize(numpy.frombuffer(bytes(data), dtype=numpy.uint8).reshape(BLOCKS, size), kind)
        values = numpy.ascontiguousarray(values, dtype="<f4")
        expected[name] = {"type": int(kind), "halves": halves, "block_bytes": size, "crc32": zlib.crc32(values.tobytes()),
                          "first": [float(value) for value in values.flat[:4]]}
    text = json.dumps(expected, indent=1)
    (pathlib.Path(__file__).parent / "gguf_blocks.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
