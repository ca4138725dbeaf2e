#!/usr/bin/env python3
"""Exact matches and F1 for tests/eval/answer_scores_test.cpp, by torchmetrics, whose rules are those of SQuAD's script.

    python3 tests/golden/make_answer_scores.py    (needs torch and torchmetrics; writes answer_scores.json beside itself)
"""
import json
import pathlib

from torchmetrics.functional.text import squad
from torchmetrics.functional.text.squad import _normalize_text

ANSWERS = [
    ("The cat", ["cat"]),
    ("the an a", ["the"]),
    ("a", ["b"]),
    ("", ["the"]),
    ("in 1066.", ["1066", "in the year 1066"]),
    ("Denver Broncos", ["The Denver Broncos!", "Broncos"]),
    ("cat cat dog", ["cat dog dog"]),
    ("Theatre", ["theatre, the"]),
    ("\u00c9cole  Polytechnique", ["\u00e9cole\u00a0polytechnique"]),
    ("U.S.-led", ["us led", "USled"]),
    ("the\u2019s end", ["s end"]),
    ("an\u2013the hour", ["hour"]),
    ("$1,000 (about)", ["1000 about"]),
    ("x_y the", ["xy"]),
    ("\u0130stanbul a", ["i\u0307stanbul"]),
    ("one two three", ["three four", "two three four five"]),
]


def main():
    rows = []
    for found, wanted in ANSWERS:
        scores = squad([{"prediction_text": found, "id": "1"}],
                       [{"answers": {"answer_start": [0] * len(wanted), "text": wanted}, "id": "1"}])
        rows.append({"found": found, "wanted": wanted, "normalised": _normalize_text(found),
                     "exact_match": float(scores["exact_match"]) / 100, "f1": float(scores["f1"]) / 100})
    file = pathlib.Path(__file__).with_name("answer_scores.json")
    file.write_text(json.dumps(rows) + "\n", encoding="utf-8")


main()
