"""The likeliest tokens at each place of what a model wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Callable

from ._handles import Result
from ._library import lib
from ._reading import Tops, numbers
from ._results import Candidate

Chances = list[list[tuple[int, float]]]


def tops_of(result: Result, name: Callable[[list[int]], Mapping[int, str]]) -> Tops:
    """Of a result of the option "alternatives". `name` gives the pieces of ids, and is asked once."""
    found: dict[tuple[int, int], Chances] = {}
    for input in range(lib.hs_result_count(result.pointer)):
        for choice in range(lib.hs_result_choices(result.pointer, input)):
            chances = _chances(result, input, choice)
            if chances:
                found[input, choice] = chances
    pieces = name(sorted({id for rows in found.values() for row in rows for id, _ in row})) if found else {}

    def tops(input: int, choice: int) -> tuple[tuple[Candidate, ...], ...]:
        rows = found.get((input, choice), [])
        return tuple(
            tuple(Candidate(pieces[id], (pieces[id],), (id,), log_probability) for id, log_probability in row)
            for row in rows
        )

    return tops


def _chances(result: Result, input: int, choice: int) -> Chances:
    """Ids and log-probabilities for each token. Those of -1 stand for none."""
    ids = numbers(result, input, choice, b"alternatives")
    if not ids:
        return []
    log_probabilities = numbers(result, input, choice, b"alternative_log_probabilities")
    count = len(ids) // len(numbers(result, input, choice, b"tokens"))
    pairs = list(zip(ids, log_probabilities))
    return [[pair for pair in pairs[i : i + count] if pair[0] >= 0] for i in range(0, len(pairs), count)]
