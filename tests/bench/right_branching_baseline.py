#!/usr/bin/env python3
"""Right-branching trees as a baseline for parsers: each word but the last is a constituent with all that follows.

usage: right_branching_baseline.py LABEL GOLD.trees > FOUND.trees

GOLD comes from `headscope trees linearise --print trees`; `headscope trees score GOLD FOUND` scores. The trees have the
gold words and tags, an S at the top, LABEL below, and final punctuation under the S.
"""

import re
import sys

PUNCTUATION = {".", ",", ":", "``", "''", "-RRB-"}


def right_branching(label, leaves):
    end = len(leaves)
    while end > 1 and leaves[end - 1][0] in PUNCTUATION:
        end -= 1
    words = [f"({tag} {word})" for tag, word in leaves]
    tree = words[end - 1]
    for word in reversed(words[1 : end - 1]):
        tree = f"({label} {word} {tree})"
    return "(S " + " ".join(words[: min(1, end - 1)] + [tree] + words[end:]) + ")"


for line in open(sys.argv[2], encoding="utf-8"):
    print(right_branching(sys.argv[1], re.findall(r"\(([^ ()]+) ([^ ()]+)\)", line)))
