#!/usr/bin/env python3
"""Short sentences from the clauses of longer ones, for parsers of text that has few.

BARE.trees come from `headscope trees linearise --print trees`. Each S below another constituent that has a subject and
a finite verb, and 3 to 25 words, gets a capital letter and a full stop. With --short all S count, and only a subject of
up to 4 words without constituents and the verb remain ("The gene encodes.").
"""

import argparse
import re

FINITE = {"VBZ", "VBD", "VBP", "MD"}
AUXILIARY = {"is", "are", "was", "were", "has", "have", "had", "does", "do", "did", "can", "may", "will"}


def read(line):
    """Nested lists: [label, child, ...], a word's [tag, "word"]."""
    open_ones = [[]]
    for token in re.findall(r"\([^\s()]+|\)|[^\s()]+", line):
        if token[0] == "(":
            open_ones.append([token[1:]])
        elif token == ")":
            done = open_ones.pop()
            open_ones[-1].append(done)
        else:
            open_ones[-1].append(token)
    return open_ones[0][0]


def written(tree):
    return tree if isinstance(tree, str) else "(" + " ".join([tree[0]] + [written(child) for child in tree[1:]]) + ")"


def words(tree):
    """Its words' [tag, word], in order."""
    return [tree] if isinstance(tree[1], str) else [word for child in tree[1:] for word in words(child)]


def is_clause(tree):
    labels = [child[0] for child in tree[1:]]
    return tree[0] == "S" and labels[:2] == ["NP", "VP"] and words(tree[2])[0][0] in FINITE


def sentence(clause):
    """With a capital letter and a full stop."""
    first = words(clause)[0]
    first[1] = first[1][0].upper() + first[1][1:]
    return clause + [[".", "."]]


def clauses(tree, top=True):
    if isinstance(tree[1], str):
        return
    if not top and is_clause(tree) and 3 <= len(words(tree)) <= 25 and tree[-1][0] != ".":
        yield sentence(tree)
    for child in tree[1:]:
        yield from clauses(child, False)


def short_clauses(tree):
    if isinstance(tree[1], str):
        return
    if is_clause(tree):
        subject, verb = tree[1], tree[2][1]
        is_flat = all(isinstance(child[1], str) for child in subject[1:])
        if is_flat and len(subject) < 6 and isinstance(verb[1], str) and verb[1] not in AUXILIARY and verb[0] != "MD":
            yield sentence(["S", [subject[0], *map(list, subject[1:])], ["VP", verb]])
    for child in tree[1:]:
        yield from short_clauses(child)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="subjects and verbs alone")
    parser.add_argument("trees", metavar="BARE.trees", type=argparse.FileType(encoding="utf-8"))
    arguments = parser.parse_args()
    for line in arguments.trees:
        for clause in (short_clauses if arguments.short else clauses)(read(line)):
            print(written(clause))


main()
