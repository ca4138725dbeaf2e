#!/usr/bin/env python3
"""Scores for tests/eval/class_evaluation_test.cpp, by scikit-learn and SciPy.

    python3 tests/golden/make_classification_scores.py    (needs scikit-learn and scipy; writes
                                                           classification_scores.json beside itself)
"""
import json
import pathlib
import random

from scipy import stats
from sklearn import metrics
import numpy

BINS = 15


def probabilities(draw, classes, label, sureness):
    weights = [draw.random() ** 2 + (sureness if i == label and draw.random() < 0.7 else 0.0) for i in range(classes)]
    return [round(weight / sum(weights), 6) for weight in weights]


def calibration_error(rows, labels):
    """Guo et al. (2017), of the likeliest class."""
    best, right = rows.max(axis=1), rows.argmax(axis=1) == labels
    error = 0.0
    for i in range(BINS):
        inside = (best > i / BINS) & (best <= (i + 1) / BINS)
        if inside.any():
            error += inside.mean() * abs(right[inside].mean() - best[inside].mean())
    return error


def of_classes(seed, classes, texts, used, sureness):
    """`used`: the classes that texts have."""
    draw = random.Random(seed)
    labels = [draw.choice(used) for _ in range(texts)]
    rows = [probabilities(draw, classes, label, sureness) for label in labels]
    array = numpy.array(rows)
    found = array.argmax(axis=1)
    every = list(range(classes))
    precision, recall, f1, support = metrics.precision_recall_fscore_support(labels, found, labels=every, zero_division=0)
    return {"labels": labels, "probabilities": rows, "accuracy": metrics.accuracy_score(labels, found),
            "macro_f1": metrics.f1_score(labels, found, average="macro", zero_division=0),
            "precision": precision.tolist(), "recall": recall.tolist(), "f1": f1.tolist(), "texts": support.tolist(),
            "confusion": metrics.confusion_matrix(labels, found, labels=every).tolist(),
            "nll": float(-numpy.log(array[range(texts), labels]).mean()),
            "calibration_error": calibration_error(array, numpy.array(labels))}


def of_lists(seed, classes, texts, rarity):
    """Any number of classes for a text; `rarity`: how many are rare."""
    draw = random.Random(seed)
    wanted = [[int(draw.random() < 0.4 / (1 + rarity * i)) for i in range(classes)] for _ in range(texts)]
    scores = [[round(draw.gauss(1.5 if has else -1.5, 2.0), 3) for has in row] for row in wanted]
    chances = 1 / (1 + numpy.exp(-numpy.array(scores)))
    given = (chances >= 0.5).astype(int)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(wanted, given, zero_division=0)
    return {"wanted": wanted, "scores": scores, "exact_match": metrics.accuracy_score(wanted, given),
            "micro_f1": metrics.f1_score(wanted, given, average="micro", zero_division=0),
            "macro_f1": metrics.f1_score(wanted, given, average="macro", zero_division=0),
            "precision": precision.tolist(), "recall": recall.tolist(), "f1": f1.tolist(), "texts": support.tolist(),
            "nll": metrics.log_loss(numpy.array(wanted).ravel(), chances.ravel(), labels=[0, 1])}


def of_numbers(seed, texts, steps):
    draw = random.Random(seed)
    wanted = [round(draw.random() * steps) / 2 for _ in range(texts)]
    found = [round(number + draw.gauss(0.0, 1.0), 1) for number in wanted]
    return {"found": found, "wanted": wanted, "mse": metrics.mean_squared_error(wanted, found),
            "pearson": stats.pearsonr(found, wanted).statistic, "spearman": stats.spearmanr(found, wanted).statistic}


def main():
    vectors = {"classes": [of_classes(1, 3, 60, [0, 1, 2], 1.0), of_classes(2, 2, 40, [0, 1], 0.1),
                           of_classes(3, 5, 30, [1, 3], 4.0), of_classes(4, 2, 12, [1], 0.5)],
               "lists": [of_lists(7, 4, 40, 1.0), of_lists(8, 2, 10, 0.0), of_lists(9, 6, 12, 20.0)],
               "numbers": [of_numbers(5, 50, 10), of_numbers(6, 7, 3)]}
    file = pathlib.Path(__file__).with_name("classification_scores.json")
    file.write_text(json.dumps(vectors) + "\n", encoding="utf-8")


main()
