#!/usr/bin/env python3
"""Vectors for tests/eval/rouge_test.cpp: scores of the package rouge-score, with and without its stemmer.

    python3 tests/golden/make_rouge_vectors.py    (needs rouge-score; writes rouge.json beside itself)
"""
import json
import pathlib
import random

from nltk.stem.porter import PorterStemmer
from rouge_score import rouge_scorer

PAIRS = [
    ("The cat sat on the mat.", "The cat was sitting on the mat."),
    ("the cat sat", "the cat sat"),
    ("", ""),
    ("", "a reference without a summary"),
    ("a summary without a reference", ""),
    ("   ", "blanks against words"),
    ("...!?", "only punctuation"),
    ("one", "one"),
    ("one", "two"),
    ("the the the the", "the the"),
    ("police killed the gunman", "police kill the gunman"),
    ("the gunman kill police", "police kill the gunman"),
    ("a b c d e f g", "g f e d c b a"),
    ("Übermäßig süße Grüße aus Köln", "Uebermaessig suesse Gruesse aus Koeln"),
    ("Übermäßig süße Grüße aus Köln", "übermäßig süße grüße aus köln"),
    ("café naïve résumé", "cafe naive resume"),
    ("日本語のテスト test 🙂", "日本語 テスト test"),
    ("İstanbul and 300 K of \u212aelvin", "istanbul and 300 k of kelvin"),
    ("tabs\tand\u00a0no-break spaces\u2003here", "tabs and no break spaces here"),
    ("It's 3.14, isn't it? 100% of $5", "its 3 14 isn t it 100 of 5"),
    ("under_scores and CamelCase", "under scores and camelcase"),
    ("Running runners ran runs", "run runner running ran"),
    ("The flies died while the spies were dying and lying", "A fly dies while a spy dies and lies"),
    ("generalizations of rationalized conditional hopefulness", "generalization of rational condition hopeful"),
    ("hopping tanned falling hissing fizzed failing filing", "hop tan fall hiss fizz fail file"),
    ("agreed feed plastered bled motoring sing", "agree feeds plaster bleeding motor sings"),
    ("happily enjoyed the sky and skies", "happy joy in the sky"),
    ("exceedingly proceed to succeed in innings", "exceed proceeding succeeded inning"),
    ("radically theology geology logically", "radical theological geologies logic"),
    ("controlled rolls of electrical effects", "control roll of electricity effective"),
]
VOCABULARY = ("the a of and to in is was says said police man woman two three government report new people killed "
              "killing Reuters London Köln 2020 minister ministers announced announcement agreeing agreement house "
              "houses, quickly - relational troubled").split()
WORDS = ("caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized hopping "
         "tanned falling hissing fizzed failing filing happy sky relational conditional rational valenci hesitanci "
         "digitizer conformabli radicalli differentli vileli analogousli vietnamization predication operator feudalism "
         "decisiveness hopefulness callousness formaliti sensitiviti sensibiliti triplicate formative formalize "
         "electriciti electrical hopeful goodness revival allowance inference airliner gyroscopic adjustable defensible "
         "irritant replacement adjustment dependent adoption homologou communism activate angulariti homologous "
         "effective bowdlerize probate rate cease controll roll dies died spied flies tries dying skies news innings "
         "howe succeed geologi theologi archaeologi usefulli generalli syzygy yyyyy toy enjoy enjoyment spy fly by at "
         "ion ions union station 1990s 4th oed ing inging eed aed ied used using owed bowing boxing x1y2 ally dually "
         "logi balli ooze ee ll bll pull").split()


def pairs():
    rng = random.Random(7)
    for _ in range(25):
        reference = [rng.choice(VOCABULARY) for _ in range(rng.randint(1, 24))]
        summary = [word for word in reference if rng.random() < 0.7]
        summary += [rng.choice(VOCABULARY) for _ in range(rng.randint(0, 6))]
        yield " ".join(summary), " ".join(reference)


def main():
    cases = PAIRS + list(pairs())
    scores = {}
    for stemmed in (False, True):
        scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=stemmed)
        rows = []
        for summary, reference in cases:
            of = scorer.score(reference, summary)
            assert of["rougeL"].fmeasure == of["rougeLsum"].fmeasure
            rows.append([list(of[key]) for key in ("rouge1", "rouge2", "rougeL")])
        several = [[summary, [reference, other]] for (summary, reference), (_, other) in zip(cases, cases[1:])]
        best = [scorer.score_multi(references, summary) for summary, references in several]
        scores["stemmed" if stemmed else "plain"] = {
            "scores": rows, "best_of_two": [[list(of[key]) for key in ("rouge1", "rouge2", "rougeL")] for of in best]}
    stems = {word: PorterStemmer().stem(word) for word in sorted(set(WORDS))}
    path = pathlib.Path(__file__).with_name("rouge.json")
    path.write_text(json.dumps({"pairs": cases, **scores, "stems": stems}, ensure_ascii=False) + "\n", "utf-8")


main()
