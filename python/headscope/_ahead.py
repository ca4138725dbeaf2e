"""Many lines, of which only some are in memory."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Callable, TypeVar

from ._errors import BusyError, InvalidError
from ._handles import Result
from ._requests import Request

Answer = TypeVar("Answer")
Asked = tuple[Request, dict[int, str]]
Submit = Callable[[list[str]], Asked]
Read = Callable[[Result, list[str], dict[int, str]], Sequence[Answer]]

# Parts of what is read ahead: while one is read and another one is taken, the device has the others.
_PARTS = 4
_SECONDS_AT_MOST = 0.2


def in_order(lines: Iterable[str], ahead: int, ordered: bool, submit: Submit, read: Read[Answer]) -> Iterator[Answer]:
    """Answers of lines, with at most `ahead` lines in the engine."""
    if not isinstance(ahead, int) or ahead < 1:
        raise InvalidError(f"ahead must be a whole number from 1, not {ahead!r}")
    return _iterate(iter(lines), ahead, ordered, submit, read)


def _iterate(lines: Iterator[str], ahead: int, ordered: bool, submit: Submit, read: Read[Answer]) -> Iterator[Answer]:
    size = max(1, ahead // _PARTS)
    open_parts: deque[tuple[list[str], Asked]] = deque()
    more = True
    try:
        while True:
            while more and (len(open_parts) + 1) * size <= max(ahead, size):
                part = list(islice(lines, size))
                more = len(part) == size
                if part:
                    open_parts.append((part, _submitted(submit, part, not open_parts)))
            if not open_parts:
                return
            part, (request, problems) = _next(open_parts, ordered)
            try:
                found = read(request.wait(), part, problems)
            finally:
                request.close()
            yield from found
    finally:  # also if the caller leaves the loop
        for _, (request, _problems) in open_parts:
            request.close()


def _submitted(submit: Submit, part: list[str], alone: bool) -> Asked:
    while True:
        try:
            return submit(part)
        except BusyError as busy:
            # Others fill the engine.
            time.sleep(min(max(busy.seconds, 0.01), _SECONDS_AT_MOST))


def _next(open_parts: deque[tuple[list[str], Asked]], ordered: bool) -> tuple[list[str], Asked]:
    if ordered:
        return open_parts.popleft()
    index = next((i for i, (_, asked) in enumerate(open_parts) if asked[0].ready()), 0)
    chosen: Any = open_parts[index]
    del open_parts[index]
    return chosen  # type: ignore[no-any-return]
