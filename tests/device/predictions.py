"""What was predicted of a training step of the paper's base model in BF16 on an H200, and what is good enough.

The predictions of the ops are those of docs/cuda.md, whose table of "measured before" and "predicted now" is read.
"""
import os
import re

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "cuda.md")

# Milliseconds a step that an op may take; beyond it something is not as it was thought to be.
OPS_AT_MOST = {"attention_backward": 2.0, "attention": 1.0, "add_layer_norm_backward": 1.4,
               "smoothed_cross_entropy": 1.2}
STEP_AT_MOST = 31.0
# Times the speed of compiled PyTorch, at least.
RATIO_AT_LEAST = 1.35

# The op that is slower without the kernels of a word of HEADSCOPE_CUDA_DISABLE.
OP_OF_SWITCH = {"attention": "attention", "attention_backward": "attention_backward", "layer_norm": "add_layer_norm",
                "layer_norm_backward": "add_layer_norm_backward", "loss": "smoothed_cross_entropy",
                "bias_sums": "gradients of biases (`sum_rows`: 24 of its passes are gone)",
                "dependent_launch": "between kernels (dependent launch, fewer launches)"}
# What a word is measured with, if not with a training step of the base model.
WORKS = {"train": "a training step", "train_tf32": "the same in TF32", "long": "a training step of texts of 2,048 tokens",
         "decode": "a step of decoding one sentence", "decode_f32": "that in F32"}
WORK_OF_SWITCH = {"long_attention": "long", "long_attention_backward": "long", "top_k": "decode", "few_rows": "decode",
                  "few_rows_f32": "decode_f32", "tf32_attention": "train_tf32"}


def work_of(word):
    return WORK_OF_SWITCH.get(word, "train")


def table():
    """By op: milliseconds of a step before, and predicted. The step itself is "the whole step"."""
    rows = {}
    with open(DOCUMENT) as stream:
        lines = stream.read().split("| op | measured before | predicted now |\n")[1].split("\n\n")[0]
        for line in lines.split("\n"):
            row = re.match(r"\| ([^|]+?) \| ([\d.]+)(?: \(estimated\))? \| ([\d.]+) \|", line)
            if row:
                name = re.fullmatch(r"`(\w+)`", row[1])  # an op
                rows[name[1] if name else row[1]] = float(row[2]), float(row[3])
    return rows


def of_op(op):
    return table()[op][1] if op in table() else None


def gain_of(word):
    """Milliseconds a step, or none where nothing was predicted."""
    before, predicted = table().get(OP_OF_SWITCH.get(word), (None, None))
    return None if before is None else before - predicted
