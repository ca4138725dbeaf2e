"""Answers whose fields are read from the library when they are first asked for."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import pytest

import headscope as hs


def is_unread(answer: Any) -> bool:
    return "ids" not in vars(answer)


@pytest.fixture
def asked(model: hs.Translator) -> Callable[..., hs.Translation]:
    def ask(**options: Any) -> hs.Translation:
        found = model.translate("A house.", **options)
        assert is_unread(found)
        return found

    return ask


def fields_of(answer: Any) -> dict[str, Any]:
    return {each.name: getattr(answer, each.name) for each in dataclasses.fields(answer)}


@pytest.fixture(scope="module")
def read(model: hs.Translator) -> hs.Translation:
    """Made from its fields, and the same as among several lines, which are read at once, but for rounding."""
    found = hs.Translation(**fields_of(model.translate("A house.", n_best=2)))
    among = model.translate(["A house.", "Two houses."], n_best=2)[0]
    assert not is_unread(found) and not is_unread(among) and len(found.n_best) == 2
    assert (found.text, found.tokens, found.ids) == (among.text, among.tokens, among.ids)
    assert (found.score, found.log_probability) == pytest.approx((among.score, among.log_probability), rel=1e-4)
    return found


def test_text_needs_no_reading(asked: Callable[..., hs.Translation]) -> None:
    found = asked()
    assert (found.source, found.text, str(found), found.problem) == ("A house.", "Ein Haus.", "Ein Haus.", "")
    assert is_unread(found)
    assert found.cut is False
    assert not is_unread(found)


@pytest.mark.parametrize("field", [each.name for each in dataclasses.fields(hs.Translation)])
def test_any_field_may_be_the_first(asked: Callable[..., hs.Translation], read: hs.Translation, field: str) -> None:
    assert getattr(asked(n_best=2), field) == getattr(read, field)


@pytest.mark.parametrize(
    "use",
    [
        lambda found: found,
        lambda found: pickle.loads(pickle.dumps(found)),
        lambda found: pickle.loads(pickle.dumps(found, protocol=0)),
        copy.copy,
        copy.deepcopy,
        dataclasses.replace,
        lambda found: hs.Translation(**fields_of(found)),
    ],
)
def test_as_if_it_was_read(
    asked: Callable[..., hs.Translation], read: hs.Translation, use: Callable[[Any], hs.Translation]
) -> None:
    assert use(asked(n_best=2)) == read
    assert hash(use(asked(n_best=2))) == hash(read)
    assert repr(use(asked(n_best=2))) == repr(read)
    assert dataclasses.asdict(use(asked(n_best=2))) == dataclasses.asdict(read)
    assert vars(pickle.loads(pickle.dumps(asked(n_best=2)))) == vars(read)


def test_fields_of_the_class() -> None:
    assert (hs.Translation.cut, hs.Translation.n_best, hs.Completion.problem) == (False, (), "")
    assert not hasattr(hs.Translation, "score")
    assert hs.Translation("a", "b", -1.0, -2.0, (), (), ()).sentences == 0


def test_immutable_before_it_is_read(asked: Callable[..., hs.Translation]) -> None:
    found: Any = asked()
    for name in ("text", "score"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(found, name, 0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(found, name)
    with pytest.raises(AttributeError):
        found.other  # noqa: B018
    assert is_unread(found)


def test_after_the_model_is_closed(read: hs.Translation) -> None:
    with hs.open("en-de", devices="cpu") as model:
        found = model.translate("A house.", n_best=2)
        top = model.translate("A house.", alternatives=2)
    assert is_unread(found) and found == read
    assert [len(each) for each in top.top] == [2] * len(top.ids)


def test_in_another_thread(asked: Callable[..., hs.Translation], read: hs.Translation) -> None:
    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            found = asked(n_best=2)
            start = threading.Barrier(4)

            def first(found: hs.Translation = found, start: threading.Barrier = start) -> tuple[Any, ...]:
                start.wait()
                return found.tokens, found.n_best

            seen = [each.result() for each in [pool.submit(first) for _ in range(4)]]
            assert found == read
            assert all(tokens is found.tokens and n_best is found.n_best for tokens, n_best in seen)


def test_problems(model: hs.Translator) -> None:
    bad = "x " * 2000
    with pytest.raises(hs.InvalidError, match="^(?!line).*512") as caught:
        model.translate(bad)
    assert caught.value.results[0].source == bad
    for text in (bad, "half \ud800"):
        kept = model.translate(text, errors="keep")
        assert (kept.source, kept.text, kept.ids) == (text, "", ()) and kept.problem
    assert is_unread(model.translate("A house.", errors="keep"))


def test_streams_and_completions(model: hs.Translator, lm: hs.LanguageModel) -> None:
    for unread, several in (
        (lm.complete("Could you please", max_tokens=2), lm.complete(["Could you please", "The"], max_tokens=2)),
        (model.stream("A house.", beam=1).result(), model.translate(["A house.", "The"], beam=1)),
    ):
        assert is_unread(unread) and (unread.text, unread.tokens) == (several[0].text, several[0].tokens)
        assert len(unread.token_log_probabilities) == len(unread.ids)
