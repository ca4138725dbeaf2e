"""How a model is asked: what its methods have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Callable, TypeVar

from ._errors import OK, ClosedError
from ._facts import Facts
from ._handles import Result
from ._library import lib, text_at
from ._options import NativeOptions
from ._reading import answers, json_of, raise_problems
from ._requests import DETOKENIZE, Request, Work, encoded
from ._top import tops_of

Found = TypeVar("Found")


def writing_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """A copy, in which a text to stop at is a list of one."""
    stop = options.get("stop")
    return {**options, "stop": [stop]} if isinstance(stop, str) else dict(options)


class Asking(Facts):
    """Requests of a model, and what they give."""

    def _check_open(self) -> None:
        if self._view_closed:
            raise ClosedError("this edited view of the model is closed")

    def _done(
        self, kind: int, inputs: Sequence[bytes], targets: Sequence[bytes] | None, options: Mapping[str, Any]
    ) -> Result:
        self._check_open()
        return self._opened.answer(kind, inputs, targets, NativeOptions(options))

    def _submitted(self, _: Sequence[str], problems: dict[int, str], work: Work) -> tuple[Request, dict[int, str]]:
        return self._opened.submit(*work), problems

    def _pair(self, text: str, target: str | None) -> tuple[list[bytes], list[bytes] | None]:
        return (
            [encoded(text, "the text")],
            None if target is None else [encoded(target, "the target")],
        )

    def _look_pair(
        self, text: str, target: str | None, options: Mapping[str, Any]
    ) -> tuple[list[bytes], list[bytes] | None]:
        """Of attention(): the model writes a target that is not given."""
        return self._pair(text, target)

    def _read_pair(
        self, text: str, target: str | None, options: Mapping[str, Any]
    ) -> tuple[list[bytes], list[bytes] | None]:
        """Of a pass that needs a target."""
        return self._pair(text, target)

    def _names(self, ids: Sequence[int], side: str) -> dict[int, str]:
        """The pieces of ids; empty for those that the tokenizer does not have."""
        if not ids:
            return {}
        result = self._done(DETOKENIZE, [json.dumps([id]).encode() for id in ids], None, {"side": side})
        found = [each.get("pieces") for each in json_of(result)]
        return {id: pieces[0]["piece"] if pieces else "" for id, pieces in zip(ids, found)}

    def _edited(self, options: Mapping[str, Any]) -> dict[str, Any]:
        edits = [each.as_option() for each in self._edits]
        return {**options, "edits": edits} if edits else dict(options)

    def _written(
        self,
        result: Result,
        sources: Sequence[str],
        problems: Mapping[int, str],
        convert: Callable[..., Found],
        unread: Callable[[Result, str, str], Found],
        failed: Callable[[str, str], Found],
        errors: str,
        side: str,
    ) -> list[Found]:
        """Answers of a model that writes pieces of `side`."""
        if result.asked.get("alternatives"):  # whose names need the open model
            convert = partial(convert, tops=tops_of(result, lambda ids: self._names(ids, side)))
        elif len(sources) == 1 and not problems:
            # Among several, one that is kept unread would keep the memory of all.
            text = text_at(lib.hs_result_text(result.pointer, 0, 0))
            if text or lib.hs_result_status(result.pointer, 0) == OK:
                return [unread(result, sources[0], text)]
        return self._answers(result, sources, problems, convert, failed, errors)

    def _answers(
        self,
        result: Result,
        sources: Sequence[str],
        problems: Mapping[int, str],
        convert: Callable[[Result, int, Mapping[str, Any], str], Found],
        failed: Callable[[str, str], Found],
        errors: str,
    ) -> list[Found]:
        found = answers(result, sources, problems, convert, failed)
        if errors == "raise":
            raise_problems(result, found, problems, "line")
        return found
