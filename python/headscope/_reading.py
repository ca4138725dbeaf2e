"""Reads results of the C library into what models answer."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from ctypes import byref, c_double, c_int32, c_int64
from functools import partial
from typing import Any, Callable, TypeVar

from ._errors import INVALID, Error, InvalidError, error_of
from ._handles import Result
from ._library import given, lib, new_array, take
from ._results import Candidate, Completion, Filled, Piece, Score, Translation, unread

_TYPES: dict[int, type[Any]] = {1: ctypes.c_float, 2: c_double, 3: c_int32, 4: c_int64}

Answer = TypeVar("Answer")
# Of an input and a choice: the candidates of each token, best first.
Tops = Callable[[int, int], tuple[tuple[Candidate, ...], ...]]


def json_of(result: Result) -> list[dict[str, Any]]:
    """What the commands print with --json, one for each input."""
    found: list[dict[str, Any]] = json.loads(take(given(lib.hs_result_json, result.pointer)))
    return found


def numbers(result: Result, input: int, choice: int, name: bytes) -> tuple[Any, ...]:
    """An array of one dimension; empty if there is none."""
    array = new_array()
    status = lib.hs_result_array(result.pointer, input, choice, name, byref(array), None)
    if status != 0 or not array.data:
        return ()
    count = 1
    for i in range(array.rank):
        count *= array.shape[i]
    element: Any = _TYPES[array.type]
    return tuple((element * count).from_address(array.data))


def _ids(result: Result, input: int, choice: int) -> tuple[int, ...]:
    return numbers(result, input, choice, b"tokens")


def _log_probabilities(result: Result, input: int, choice: int) -> tuple[float, ...]:
    return numbers(result, input, choice, b"token_log_probabilities")


def _words_of(json: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    return tuple((each["word"], each["probability"]) for each in json["words"])


_NAN = float("nan")


def no_tops(_input: int, _choice: int) -> tuple[tuple[Candidate, ...], ...]:
    """Without the option "alternatives"."""
    return ()


def translation_of(
    result: Result, input: int, json: Mapping[str, Any], source: str, tops: Tops = no_tops
) -> Translation:
    def one(choice: int, each: Mapping[str, Any], **more: Any) -> Translation:
        return Translation(
            source,
            each["translation"],
            each["score"],
            each["log_probability"],
            tuple(each["tokens"]),
            _ids(result, input, choice),
            _log_probabilities(result, input, choice),
            cut=each.get("cut", False),
            alignment=tuple((pair[0], pair[1]) for pair in each.get("alignment", ())),
            top=tops(input, choice),
            confidence=each["confidence"],
            words=_words_of(each),
            **more,
        )

    if json.get("problem"):
        return failed_translation(source, json["problem"])
    n_best = tuple(one(i, each) for i, each in enumerate(json.get("n_best", ())))
    return one(0, json, n_best=n_best, sentences=json.get("sentences", 0), remark=json.get("remark", ""))


def unread_translation(result: Result, source: str, text: str) -> Translation:
    """Of the only input, which has no problem."""
    read = partial(_only, result, translation_of, source)
    return unread(Translation, read, source=source, text=text, problem="")


def failed_translation(source: str, problem: str) -> Translation:
    return Translation(source, "", _NAN, _NAN, (), (), (), problem=problem)


def completion_of(result: Result, input: int, json: Mapping[str, Any], prompt: str, tops: Tops = no_tops) -> Completion:
    def one(choice: int, each: Mapping[str, Any], **more: Any) -> Completion:
        return Completion(
            prompt,
            each["completion"],
            each["log_probability"],
            tuple(each["tokens"]),
            _ids(result, input, choice),
            tuple(each["token_log_probabilities"]),
            each["end"],
            top=tops(input, choice),
            confidence=each["confidence"],
            words=_words_of(each),
            **more,
        )

    if json.get("problem"):
        return failed_completion(prompt, json["problem"])
    return one(0, json, n_best=tuple(one(i, each) for i, each in enumerate(json.get("n_best", ()))))


def unread_completion(result: Result, prompt: str, text: str) -> Completion:
    """Of the only input, which has no problem."""
    read = partial(_only, result, completion_of, prompt)
    return unread(Completion, read, prompt=prompt, text=text, problem="")


def _only(result: Result, convert: Callable[[Result, int, Mapping[str, Any], str], Answer], source: str) -> Answer:
    return convert(result, 0, json_of(result)[0], source)


def failed_completion(prompt: str, problem: str) -> Completion:
    return Completion(prompt, "", _NAN, (), (), (), "", problem=problem)


def score_of(result: Result, input: int, json: Mapping[str, Any], source: str, text: str) -> Score:
    if json.get("problem"):
        return failed_score(source, text, json["problem"])
    log_probability = json.get("log_probability", json.get("pseudo_log_likelihood"))
    tokens = tuple(each["token"] for each in json["tokens"])
    log_probabilities = tuple(each["log_probability"] for each in json["tokens"])
    nll = json.get("nll")
    return Score(
        source,
        text,
        _NAN if log_probability is None else log_probability,
        _NAN if nll is None else nll,
        tokens,
        _ids(result, input, 0),
        log_probabilities,
    )


def failed_score(source: str, text: str, problem: str) -> Score:
    return Score(source, text, _NAN, _NAN, (), (), (), problem)


def pieces_of(json: Mapping[str, Any], data: bytes) -> list[Piece]:
    """Spans in bytes become spans in characters."""
    return [
        Piece(each["piece"], each["id"], characters(data, each["begin"]), characters(data, each["end"]),
              each.get("unknown", False))
        for each in json["pieces"]
    ]  # fmt: skip


def characters(data: bytes, bytes_before: int) -> int:
    return len(data[:bytes_before].decode("utf-8", "replace"))


def filled_of(result: Result, input: int, json: Mapping[str, Any], source: str) -> Filled:
    if json.get("problem"):
        return failed_filled(source, json["problem"])

    def candidate(each: Mapping[str, Any]) -> Candidate:
        pieces = each.get("pieces") or [each["piece"]]
        ids = each.get("ids") or ([each["id"]] if "id" in each else [])
        return Candidate(each["word"], tuple(pieces), tuple(ids), each["log_probability"])

    masks = tuple(tuple(candidate(each) for each in mask) for mask in json["masks"])
    return Filled(source, json["filled"], masks)


def failed_filled(source: str, problem: str) -> Filled:
    return Filled(source, "", (), problem)


def only_of(result: Result) -> dict[str, Any]:
    """The JSON of the only input, or the exception for its problem."""
    found = json_of(result)[0]
    if found.get("problem"):
        raise error_of(lib.hs_result_status(result.pointer, 0), found["problem"])
    return found


def answers(
    result: Result,
    sources: Sequence[str],
    problems: Mapping[int, str],
    convert: Callable[[Result, int, Mapping[str, Any], str], Answer],
    failed: Callable[[str, str], Answer],
) -> list[Answer]:
    """One for each source. `problems` are of those that were not asked."""
    return [
        failed(source, problems[i]) if i in problems else convert(result, i, json, source)
        for i, (source, json) in enumerate(zip(sources, json_of(result)))
    ]


def raise_problems(result: Result, results: Sequence[Any], problems: Mapping[int, str], noun: str) -> None:
    """The exception for the first that has a problem, with all results. `problems` are of those that were not asked."""
    failed = [(i, each.problem) for i, each in enumerate(results) if each.problem]
    if not failed:
        return
    first, problem = failed[0]
    message = problem if len(results) == 1 else f"{noun} {first + 1} of {len(results)}: {problem}"
    if len(failed) > 1:
        message += f" ({len(failed)} {noun}s failed)"
    error = error_for(result, first, problems, message)
    error.results = results
    raise error


def error_for(result: Result, input: int, problems: Mapping[int, str], message: str) -> Error:
    """The exception for the problem of an input."""
    return error_of(INVALID if input in problems else lib.hs_result_status(result.pointer, input), message)


def check_errors(errors: str) -> None:
    if errors not in ("raise", "keep"):
        raise InvalidError(f'errors must be "raise" or "keep", not {errors!r}')
