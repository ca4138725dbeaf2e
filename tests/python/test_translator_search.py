"""What other translators are tested for: options and results of a search. docs/python-behaviours.md has the list."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import pytest

import headscope as hs
from conftest import TREE, kit_folder

CAT = "The cat sleeps."
WORDS = ["آ ت ز م و ن", "آ ت ش ي س و ن"]  # of CTranslate2's model
beams = pytest.mark.parametrize("beam", [1, 2])


@pytest.fixture(scope="module")
def theirs() -> Iterator[hs.Translator]:
    with hs.Translator.open(kit_folder("ct2-v2-aren-int8-real"), devices="cpu") as model:
        yield model


def test_the_list_names_every_test() -> None:
    listed = re.findall(r"`(test_\w+)`", (TREE / "docs" / "python-behaviours.md").read_text(encoding="utf-8"))
    here = []
    for name in ("test_translator_behaviours.py", "test_translator_search.py"):
        here += re.findall(r"^def (test_\w+)", (TREE / "tests" / "python" / name).read_text(encoding="utf-8"), re.M)
    assert set(listed) == set(here) - {"test_the_list_names_every_test"}


def test_their_model(theirs: hs.Translator) -> None:
    found = theirs.translate(WORDS)
    assert [each.text for each in found] == ["a t z m o n", "a c h i s o n"]
    assert found[0].tokens == tuple("atzmon") and found[0].score < 0


# ---- Options of a search


def test_bad_options(model: hs.Translator) -> None:
    for options in ({"min_length": -1}, {"max_length": -3}, {"beam": 1.5}, {"n_best": 0}, {"beam": 2, "n_best": 3}):
        with pytest.raises(hs.InvalidError, match="must be"):
            model.translate(CAT, **options)  # type: ignore[call-overload]
    assert len(model.translate(CAT, min_length=9, max_length=3).tokens) == 3


@beams
def test_a_prefix(model: hs.Translator, beam: int) -> None:
    assert model.translate(CAT, prefix="Der Hund", beam=beam).text.startswith("Der Hund schl")
    assert str(model.translate(CAT, prefix="D", beam=beam)) == "Die Katze schläft."  # within a word


def test_a_prefix_for_each_line(model: hs.Translator) -> None:
    async def main() -> list[hs.Translation]:
        pairs = [("Der Hund", CAT), ("", CAT)]
        return await asyncio.gather(*(model.translate_async(text, prefix=prefix) for prefix, text in pairs))

    assert [each.text[:8] for each in asyncio.run(main())] == ["Der Hund", "Die Katz"]


@beams
def test_biases(model: hs.Translator, beam: int) -> None:
    plain = model.translate(CAT, beam=beam)
    strong = model.translate(CAT, beam=beam, sequence_bias=[(["▁Die", "▁Hund"], 15.0)])
    assert "Hund" in strong.tokens[1] and plain.tokens[1] == "▁Katze"
    weak = model.translate(CAT, beam=beam, sequence_bias=[(["▁Die", "▁Hund"], 1e-7)])
    assert weak.text == plain.text and weak.score == pytest.approx(plain.score, abs=1e-5)


@beams
def test_repetition_penalty(model: hs.Translator, beam: int) -> None:
    found = model.translate("dog " * 8, beam=beam, repetition_penalty=100.0, max_length=5)
    assert len(set(found.tokens)) == len(found.tokens)
    free = model.translate("dog " * 8, beam=beam, max_length=5)
    assert len(set(free.tokens)) < len(free.tokens)


@beams
def test_no_repeat_ngram(model: hs.Translator, beam: int) -> None:
    def repeated(tokens: tuple[str, ...]) -> bool:
        found = [tokens[i : i + 2] for i in range(len(tokens) - 1)]
        return len(set(found)) < len(found)

    assert repeated(model.translate("dog " * 8, beam=beam).tokens)
    assert not repeated(model.translate("dog " * 8, beam=beam, no_repeat_ngram=2).tokens)


@beams
def test_bad_words(model: hs.Translator, beam: int) -> None:
    found = model.translate(CAT, beam=beam, bad_words=[["▁Katze"], ["▁Kat", "ze"]])
    assert "▁Katze" not in found.tokens and "▁Kat ze" not in " ".join(found.tokens)


def test_n_best(model: hs.Translator) -> None:
    found = model.translate(CAT, beam=4, n_best=2)
    assert len(found.n_best) == 2 and found.n_best[0].score >= found.n_best[1].score


@beams
def test_lengths(model: hs.Translator, beam: int) -> None:
    short = model.translate(CAT, beam=beam, max_length=2)
    assert short.text == "Die Katze" and short.cut
    assert len(model.translate(CAT, beam=beam, min_length=7).tokens) >= 7
    assert model.translate(CAT, beam=beam, min_length=1) == model.translate(CAT, beam=beam)


def test_sampling(model: hs.Translator) -> None:
    found = [model.translate(CAT, sample=True, seed=seed) for seed in range(5)]
    assert len({each.text for each in found}) > 1
    assert found[3] == model.translate(CAT, sample=True, seed=3)
    assert str(model.translate(CAT, sample=True, top_k=1, seed=3)) == str(model.translate(CAT, beam=1))


def test_alternatives_by_hand(model: hs.Translator) -> None:
    begun = model.translate(CAT, prefix="Die", alternatives=10)
    starts = [model.detokenize([begun.ids[0], each.id], side="target") for each in begun.top[1]]
    found = [model.translate(CAT, prefix=start) for start in starts]
    assert len(found) == 10 and found[0].text == "Die Katze schläft."
    assert all(each.text.startswith(start) for each, start in zip(found, starts))
    assert len({each.text for each in found}) > 1


# ---- What comes with a translation


def test_attention(model: hs.Translator) -> None:
    weights = model.attention(CAT)["cross"]
    pieces, target = model.tokenize(CAT), model.translate(CAT).tokens
    assert weights.shape == (3, 8, len(target) + 1, len(pieces) + 1)  # both ends, too
    assert abs(weights.sum(-1) - 1).max() < 1e-5
    assert model.translate(CAT, alignment=True).alignment == ((0, 0), (1, 1), (2, 2))


def test_scores_always_come(model: hs.Translator) -> None:
    assert model.translate(CAT, beam=1).score < 0
    with pytest.raises(hs.InvalidError, match="return_scores"):
        model.translate(CAT, return_scores=False)  # type: ignore[call-overload]


def test_unknown_characters(model: hs.Translator) -> None:
    for options in ({}, {"allow_unknown": True}):
        found = model.translate("I have ☃ houses.", **options)  # type: ignore[call-overload]
        assert "☃" not in found.text and "unk" not in found.text


def test_scores(model: hs.Translator, theirs: hs.Translator) -> None:
    found = theirs.score(WORDS, ["a t z m o n", "a c h i s o n"])
    assert [len(each.token_log_probabilities) for each in found] == [7, 8]
    assert found[0].nll == pytest.approx(0.1553, abs=1e-3)
    assert model.score([], []) == []

    async def main() -> list[hs.Score]:
        return await asyncio.to_thread(theirs.score, WORDS, ["a t z m o n", "a c h i s o n"])

    assert asyncio.run(main()) == found
    with pytest.raises(hs.InvalidError, match="1 texts have 0 targets"):
        model.score(["A"], [])
    with pytest.raises(hs.InvalidError, match="the source is empty"):
        model.score("", "Ein Haus.")
    assert model.score("", "Ein Haus.", errors="keep").problem == "the source is empty"
