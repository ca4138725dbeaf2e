"""Translating, completing, filling in and scoring, beyond what test_commands.py compares."""

from __future__ import annotations

import itertools
import pickle
import time
from collections.abc import Iterator
from typing import Any

import pytest

import headscope as hs


def test_str_is_the_text(model: hs.Translator, lm: hs.LanguageModel, masked: hs.MaskedModel) -> None:
    assert str(model.translate("A house.")) == "Ein Haus."
    assert str(lm.complete("Could you please", max_tokens=2)) == " tell me"
    assert str(masked.fill("She opened the [MASK].")) == "She opened the door."


def test_lists(model: hs.Translator) -> None:
    assert model.translate([]) == []
    assert [each.text for each in model.translate(("A house.", ""))] == ["Ein Haus.", ""]
    assert [each.text for each in model.translate(iter(["A house."]))] == ["Ein Haus."]


def test_results_are_immutable_and_pickle(model: hs.Translator) -> None:
    found = model.translate("A house.", n_best=2)
    with pytest.raises(AttributeError):
        found.text = "Zwei Häuser."  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(found)) == found
    assert found.n_best[0].text == found.text


def test_token_log_probabilities(model: hs.Translator) -> None:
    found = model.translate("The weather is nice today.")
    assert len(found.ids) == len(found.tokens) + 1  # the end
    assert sum(found.token_log_probabilities) == pytest.approx(found.log_probability)


def test_translate_iter(model: hs.Translator, lines: list[str]) -> None:
    expected = [each.text for each in model.translate(lines)]
    assert [each.text for each in model.translate_iter(lines, ahead=40)] == expected
    assert sorted(each.text for each in model.translate_iter(lines, ahead=40, ordered=False)) == sorted(expected)
    assert list(model.translate_iter([])) == []
    assert [each.source for each in model.translate_iter(["A.\n", "B.\r\n", "C"], ahead=1)] == ["A.", "B.", "C"]


def test_translate_iter_reads_ahead_boundedly(model: hs.Translator) -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        for read in itertools.count(1):
            yield f"I have {read} houses."

    translations = model.translate_iter(endless(), ahead=16, beam=1)
    for taken in range(1, 41):
        assert next(translations).text.startswith("Ich habe")
        assert read <= taken + 16 + 4  # those ahead, and a part that is being taken
    translations.close()  # type: ignore[attr-defined]


def test_a_bad_line_among_others(model: hs.Translator) -> None:
    bad = "x " * 2000
    with pytest.raises(hs.InvalidError, match="line 2 of 3: .*512") as caught:
        model.translate(["A house.", bad, "Two houses."])
    assert [each.text for each in caught.value.results][::2] == ["Ein Haus.", "Zwei Häuser!"]
    kept = model.translate(["A house.", bad, "half \ud800"], errors="keep")
    assert kept[0].problem == "" and "512" in kept[1].problem and "surrogate" in kept[2].problem
    assert [each.problem == "" for each in model.translate_iter(["A house.", bad])] == [True, False]
    with pytest.raises(hs.InvalidError):
        list(model.translate_iter(["A house.", bad], errors="raise"))


def test_stream(model: hs.Translator, lm: hs.LanguageModel) -> None:
    for stream in (
        model.stream("The weather is nice today.", beam=1),
        model.stream("The weather is nice today."),
        lm.stream("Could you please"),
        lm.stream("Ça va", sample=True, seed=3, max_tokens=30),
    ):
        so_far = ""
        ids: list[int] = []
        for written in stream:
            so_far = so_far[: written.kept] + written.text
            assert written.so_far == so_far
            assert len(written.ids) == len(written.log_probabilities)
            ids = ids if written.kept else ids
        assert stream.result().text == so_far
        assert stream.result().text == so_far  # again
    tokens = [each for part in lm.stream("Could you please", max_tokens=5) for each in part.ids]
    assert tuple(tokens) == lm.complete("Could you please", max_tokens=5).ids


def test_leaving_a_stream_stops_the_device(lm: hs.LanguageModel) -> None:
    before = lm.engine.statistics()["requests"]["cancelled"]
    for _ in lm.stream("Once", max_tokens=400, min_length=400):
        break
    with lm.stream("Once", max_tokens=400, min_length=400) as stream:
        next(stream)
    assert str(lm.complete("Could you please", max_tokens=2)) == " tell me"
    end = time.monotonic() + 10
    while lm.engine.statistics()["requests"]["cancelled"] < before + 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert lm.engine.statistics()["requests"]["cancelled"] >= before + 2


def test_prompts_of_ids(lm: hs.LanguageModel) -> None:
    ids = [piece.id for piece in lm.tokenize("Could you please")]
    begin = lm.config["frame.bos_id"]
    (found,) = lm.complete([[begin, *ids]])
    assert found.text == lm.complete("Could you please").text


def test_temperature_samples(lm: hs.LanguageModel) -> None:
    one = lm.complete("Once", temperature=1.2, seed=1, max_tokens=20)
    assert one.text == lm.complete("Once", temperature=1.2, seed=1, max_tokens=20).text
    assert one.text != lm.complete("Once", temperature=1.2, seed=2, max_tokens=20).text
    assert lm.complete("Once", temperature=0.0).text == lm.complete("Once").text


def test_next(lm: hs.LanguageModel) -> None:
    found = lm.next("Could you please", top=3)
    assert [each.text for each in found] == ["▁tell", "▁help", "▁give"]
    assert 0 < found[0].probability < 1
    assert found[0].log_probability > found[1].log_probability


def test_tokenize_spans_are_characters(model: hs.Translator) -> None:
    text = "straße 東京 cat"
    pieces = model.tokenize(text)
    assert "".join(text[each.begin : each.end] for each in pieces) == text
    assert model.detokenize([each.id for each in model.tokenize("The cat sleeps.")]) == "The cat sleeps."
    assert model.tokenize("") == []


def test_ensembles(command: Any) -> None:
    with hs.open(["en-de", "en-de"], devices="cpu") as model:
        assert str(model.translate("A house.")) == "Ein Haus."


def test_perplexity(lm: hs.LanguageModel) -> None:
    likely, unlikely = lm.score(["The weather is nice.", "Weather the nice is."])
    assert likely.perplexity < unlikely.perplexity


def test_options_of_editors_are_those_of_the_library() -> None:
    from headscope import _keywords

    uses = {
        "TranslateOptions": ("HS_TRANSLATE", {"stream"}),
        "CompleteOptions": ("HS_COMPLETE", {"stream", "ids", "max_extra"}),
        "FillOptions": ("HS_FILL", set()),
        "ScoreOptions": ("HS_SCORE", set()),
        "ExploreOptions": ("HS_ATTEND", {"edits"}),
        "RunOptions": ("HS_RUN", {"edits", "record"}),
        "ImportanceOptions": ("HS_IMPORTANCE", {"edits"}),
        "SaliencyOptions": ("HS_SALIENCY", {"steps"}),
    }
    for name, (use, own) in uses.items():
        keys = {each.key for each in hs.keys() if use in each.uses}
        assert set(getattr(_keywords, name).__annotations__) == keys - own, name
