"""Translating, completing, filling in and scoring, beyond what test_commands.py compares."""

from __future__ import annotations

import itertools
import math
import pickle
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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


def test_confidence(model: hs.Translator, lm: hs.LanguageModel) -> None:
    found = model.translate("The weather is nice today.", n_best=2)
    mean = found.log_probability / len(found.ids)
    assert found.confidence == found.n_best[0].confidence == pytest.approx(math.exp(mean))
    assert " ".join(word for word, _ in found.words) == found.text
    assert sum(math.log(p) for _, p in found.words) == pytest.approx(sum(found.token_log_probabilities[:-1]))
    assert model.translate("").confidence is None and model.translate("").words == ()
    written = lm.complete("Could you please", max_tokens=2)
    assert written.confidence == pytest.approx(math.exp(written.log_probability / 2))
    assert [word for word, _ in written.words] == ["tell", "me"]


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
    found = model.translate_iter(["A house."] * 9 + [bad, "x " * 2000], errors="raise", ahead=8)
    for _ in range(9):
        assert next(found).text == "Ein Haus."
    with pytest.raises(hs.InvalidError, match="^line 10: "):
        next(found)


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


def _ids(top: tuple[tuple[hs.Candidate, ...], ...]) -> list[list[int]]:
    return [[each.id for each in place] for place in top]


def test_top(lm: hs.LanguageModel) -> None:
    found = lm.complete("Could you please", max_tokens=5, top=3)
    assert len(found.top) == len(found.ids) and {len(place) for place in found.top} == {3}
    for place, token, id, log_probability in zip(found.top, found.tokens, found.ids, found.token_log_probabilities):
        assert (place[0].text, place[0].id, place[0].log_probability) == (token, id, log_probability)  # it is greedy
        assert place[0].log_probability > place[1].log_probability > place[2].log_probability
    first, then = lm.next("Could you please", top=3), found.top[0]
    assert [(each.text, each.id) for each in first] == [(each.text, each.id) for each in then]
    assert [each.log_probability for each in first] == pytest.approx([each.log_probability for each in then], abs=1e-4)
    assert lm.complete("Could you please", max_tokens=5).top == ()
    many = lm.complete(["Could you please", "Once", "x " * 2000], max_tokens=4, top=2, errors="keep")
    assert _ids(many[0].top) == [place[:2] for place in _ids(found.top)[:4]]
    assert len(many[1].top) == 4 and many[2].top == ()
    one, two = lm.complete("Could you please", max_tokens=4, beam=2, n_best=2, top=2).n_best
    assert one.top[0] == two.top[0] and one.top != two.top
    stream = lm.stream("Could you please", max_tokens=5, top=3)
    assert "".join(each.text for each in stream) == found.text and stream.result().top == found.top
    ends = lm.complete("Could you please", top=20).top[-1]
    assert "</s>" in [each.text for each in ends] and len(ends) == 20
    with pytest.raises(hs.InvalidError, match="from 0 to 20, got 21"):
        lm.complete("Could you please", top=21)
    with pytest.raises(hs.InvalidError, match="alternatives"):
        lm.complete("Could you please", top="many")  # type: ignore[call-overload]


def test_alternatives(model: hs.Translator) -> None:
    found = model.translate("A house.", alternatives=2)
    assert [[each.text for each in place] for place in found.top[:2]] == [["▁Ein", "▁"], ["▁Haus", "▁H"]]
    assert [place[0].id for place in found.top] == list(found.ids)
    steps = model.run("A house.", "Ein Haus.").steps
    for place, step in zip(found.top, steps):
        assert [each.id for each in place] == [each.id for each in step.candidates[:2]]
        assert place[0].log_probability == pytest.approx(step.candidates[0].log_probability, abs=1e-4)
    lines = model.translate(["A house.", "", "Two houses."], alternatives=2, alignment=True)
    assert _ids(lines[0].top) == _ids(found.top) and lines[1].top == () and len(lines[2].top) == len(lines[2].ids)
    assert [each.top for each in model.translate_iter(["A house."], alternatives=2)] == [found.top]
    assert model.translate("A house.").top == ()
    with model.edit(hs.off("cross", 1, 1)) as view, pytest.raises(hs.InvalidError, match="alternatives"):
        view.translate("A house.", alternatives=2)


def test_top_of_coroutines(model: hs.Translator, lm: hs.LanguageModel) -> None:
    import asyncio

    async def main() -> None:
        found = await lm.complete_async("Could you please", max_tokens=2, top=2)
        assert found.top == lm.complete("Could you please", max_tokens=2, top=2).top != ()
        stream = lm.stream_async("Could you please", max_tokens=2, top=2)
        async for _ in stream:
            pass
        assert stream.result().top == found.top
        line = await model.translate_async("A house.", alternatives=2)
        assert line.top == model.translate("A house.", alternatives=2).top != ()

    asyncio.run(main())


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


def test_stop(model: hs.Translator, lm: hs.LanguageModel) -> None:
    for written in (
        lm.complete("Could you please", stop="going"),
        lm.complete("Could you please", stop=["going"]),
        lm.stream("Could you please", stop="going").result(),
    ):
        assert written.text.strip() == "tell me what's" and written.end == "stop"
    assert model.translate("The weather is nice.", stop="Wetter").text.strip() == "Das"


def test_options_of_editors_are_those_of_the_library() -> None:
    from headscope import _keywords

    uses = {
        "TranslateOptions": ("HS_TRANSLATE", {"stream"}),
        "CompleteOptions": ("HS_COMPLETE", {"stream", "ids", "max_extra", "alternatives", "edits"}),
        "FillOptions": ("HS_FILL", {"edits"}),
        "ScoreOptions": ("HS_SCORE", {"edits"}),
        "ExploreOptions": ("HS_ATTEND", {"edits"}),
        "RunOptions": ("HS_RUN", {"edits", "record"}),
        "ImportanceOptions": ("HS_IMPORTANCE", {"edits"}),
        "SaliencyOptions": ("HS_SALIENCY", {"edits", "steps"}),
        "EmbedOptions": ("HS_EMBED", {"edits", "unit", "after_layer"}),
    }
    for name, (use, own) in uses.items():
        keys = {each.key for each in hs.keys() if use in each.uses}
        assert set(getattr(_keywords, name).__annotations__) == keys - own, name


def test_options_are_those_of_the_call(model: hs.Translator) -> None:
    """The options of the last call are used again if they are equal, and of the same types."""
    for _ in range(2):
        assert model.translate("A house.", n_best=1, beam=1).n_best
        with pytest.raises(hs.InvalidError, match="beam"):
            model.translate("A house.", n_best=1, beam=True)
        assert not model.translate("A house.").n_best
        with pytest.raises(hs.InvalidError, match="n-best"):
            model.translate("A house.", beam=1, n_best=2)
    with ThreadPoolExecutor(4) as pool:
        counts = [1, 2, 3, 3, 2, 1] * 10
        found = pool.map(lambda count: len(model.translate("A house.", beam=4, n_best=count).n_best), counts)
        assert list(found) == counts
