#!/usr/bin/env python3
"""A PCFG as a baseline for parsers: induced by NLTK from training trees, parsed exactly (Viterbi CKY) from words alone.

usage: pcfg_baseline.py TRAIN.trees GOLD.trees > FOUND.trees

Both files come from `headscope trees linearise --print trees`; `headscope trees score GOLD.trees FOUND.trees` scores.
Rules are binarised with two siblings of context, chains of single children become one label. Words seen once stand for
unknown ones of their shape. As in docs/parsing.md, gold tags replace the parser's, so that EVALB finds punctuation.
Needs nltk and numpy.
"""

import re
import sys
from collections import Counter

import nltk
import numpy as np


def shape(word):
    """What an unknown word is known by."""
    kind = "digit" if re.search(r"\d", word) else "upper" if word[0].isupper() else "lower"
    return f"<{kind}{'-' if '-' in word else ''} {word[-2:].lower() if kind != 'digit' else ''}>"


class Parser:
    def __init__(self, trees):
        counts = Counter(word for tree in trees for word in tree.leaves())
        self.known = {word for word, count in counts.items() if count > 1}
        rules = []
        for tree in trees:
            for place in tree.treepositions("leaves"):
                tree[place] = self.seen(tree[place])
            tree = nltk.Tree("ROOT", [tree])
            tree.collapse_unary(collapsePOS=True)
            tree.chomsky_normal_form(horzMarkov=2)
            rules += tree.productions()
        grammar = nltk.induce_pcfg(nltk.Nonterminal("ROOT"), rules)
        self.ids, self.words, self.roots, binary = {}, {}, {}, []
        for rule in grammar.productions():
            left, right = rule.lhs(), rule.rhs()
            if len(right) == 2:
                binary.append((self.id(left), self.id(right[0]), self.id(right[1]), rule.logprob()))
            elif isinstance(right[0], str):
                self.words.setdefault(right[0], []).append((self.id(left), rule.logprob()))
            else:
                self.roots[self.id(right[0])] = rule.logprob()
        binary.sort()
        self.parent, self.left, self.right = (np.array([rule[i] for rule in binary]) for i in range(3))
        self.cost = np.array([rule[3] for rule in binary], np.float32)
        self.parents, self.begins = np.unique(self.parent, return_index=True)
        self.names = [str(name) for name in self.ids]

    def id(self, name):
        return self.ids.setdefault(name, len(self.ids))

    def seen(self, word):
        return word if word in self.known else shape(word)

    def tags(self, word):
        for known in (self.seen(word), shape(word)):
            if known in self.words:
                return self.words[known]
        kind = shape(word).split()[0]  # no word of training ends like this one: any of its kind
        found = {}
        for other, tags in self.words.items():
            if other.startswith(kind + " "):
                for tag, cost in tags:
                    found[tag] = max(cost, found.get(tag, -np.inf))
        return list(found.items())

    def parse(self, words):
        """The likeliest tree, or None if the grammar has none."""
        size = len(words)
        self.chart = np.full((size, size + 1, len(self.ids)), -np.inf, np.float32)
        for at, word in enumerate(words):
            for tag, cost in self.tags(word):
                self.chart[at, at + 1, tag] = cost
        for length in range(2, size + 1):
            for begin in range(size - length + 1):
                end = begin + length
                best = np.full(len(self.cost), -np.inf, np.float32)
                for middle in range(begin + 1, end):
                    np.maximum(
                        best, self.chart[begin, middle][self.left] + self.chart[middle, end][self.right], out=best
                    )
                self.chart[begin, end, self.parents] = np.maximum.reduceat(best + self.cost, self.begins)
        root = max(self.roots, key=lambda one: self.roots[one] + self.chart[0, size, one])
        if self.chart[0, size, root] == -np.inf:
            return None
        tree = nltk.Tree("ROOT", [self.tree(root, 0, size, words)])
        tree.un_chomsky_normal_form()
        return tree[0]

    def tree(self, label, begin, end, words):
        if end == begin + 1:
            return nltk.Tree(self.names[label], [words[begin]])
        rules = np.flatnonzero(self.parent == label)
        left, right = self.left[rules], self.right[rules]
        _, at, middle = max(
            (scores[best], best, middle)
            for middle in range(begin + 1, end)
            for scores in [self.cost[rules] + self.chart[begin, middle][left] + self.chart[middle, end][right]]
            for best in [int(np.argmax(scores))]
        )
        children = [self.tree(left[at], begin, middle, words), self.tree(right[at], middle, end, words)]
        return nltk.Tree(self.names[label], children)


def read(path):
    with open(path, encoding="utf-8") as file:
        return [nltk.Tree.fromstring(line) for line in file]


def main():
    parser = Parser(read(sys.argv[1]))
    print(f"{len(parser.cost)} binary rules, {len(parser.ids)} labels", file=sys.stderr)
    failed = 0
    for gold in read(sys.argv[2]):
        found = parser.parse(gold.leaves())
        if found is None:
            failed += 1
            found = nltk.Tree("S", [nltk.Tree(tag, [word]) for word, tag in gold.pos()])
        for place, (_, tag) in zip(found.treepositions("leaves"), gold.pos(), strict=True):
            found[place[:-1]].set_label(tag)
        print(found.pformat(margin=sys.maxsize), flush=True)
    print(f"{failed} sentences without a tree, which are flat", file=sys.stderr)


main()
