"""Translation models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Callable, overload

from . import _requests
from ._ahead import in_order
from ._asking import writing_options
from ._errors import Error, UnsupportedError
from ._handles import Result
from ._models import Model
from ._options import NativeOptions
from ._reading import check_errors, error_for, failed_translation, numbers, translation_of, unread_translation
from ._requests import Request, Work, encoded, inputs_of, listed
from ._results import Translation
from ._streams import AsyncStream, Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import TranslateOptions


class Translator(Model):
    """A translation model.

    Options of its methods are those of `headscope translate`: beam, n_best, length_penalty, sample, seed, prefix,
    source_language, target_language and more. `keys()` lists all with their ranges and defaults; the model's author has
    chosen some (`defaults`). timeout: seconds, after which DeadlineError is raised.

    >>> model = open("en-de")
    >>> print(model.translate("The weather is nice today."))
    Heute ist das Wetter schön.
    >>> [str(each) for each in model.translate("A house.", n_best=2).n_best]
    ['Ein Haus.', 'Ein Haus ist.']
    """

    @overload
    def translate(self, text: str, *, errors: str = "raise", **options: Unpack[TranslateOptions]) -> Translation: ...  # type: ignore[overload-overlap]
    @overload
    def translate(
        self, text: Iterable[str], *, errors: str = "raise", **options: Unpack[TranslateOptions]
    ) -> list[Translation]: ...
    def translate(self, text: Any, *, errors: str = "raise", **options: Any) -> Any:
        """A translation of a line, or of each line of a list.

        errors: "raise" raises if a line has a problem, after all others are done: the error has them as `results`.
        "keep" gives them, with a `problem`.
        alternatives: how many of the likeliest tokens come with each one written, as `top` of the translation.
        """
        lines, problems, work = self._ask(text, errors, options)
        found = self._read(self._opened.answer(*work), lines, problems, errors)
        return found[0] if isinstance(text, str) else found

    @overload
    async def translate_async(  # type: ignore[overload-overlap]
        self, text: str, *, errors: str = "raise", **options: Unpack[TranslateOptions]
    ) -> Translation: ...
    @overload
    async def translate_async(
        self, text: Iterable[str], *, errors: str = "raise", **options: Unpack[TranslateOptions]
    ) -> list[Translation]: ...
    async def translate_async(self, text: Any, *, errors: str = "raise", **options: Any) -> Any:
        """The same for asyncio. A task that is cancelled cancels its request."""
        lines, problems, work = self._ask(text, errors, options)
        found = self._read(await self._opened.answer_async(*work), lines, problems, errors)
        return found[0] if isinstance(text, str) else found

    def translate_iter(
        self,
        lines: Iterable[str],
        *,
        ordered: bool = True,
        ahead: int = 2048,
        errors: str = "keep",
        **options: Unpack[TranslateOptions],
    ) -> Iterator[Translation]:
        """Translations of lines that are read as they are needed, at most `ahead` of them before their translations
        are taken. The end of a line is not translated, so that an open file will do.

        ordered: in the order of the lines, else as parts of them are done. errors: "keep" gives lines without a
        translation a `problem`; "raise" raises at the first such line, after those before it.

        >>> [str(each) for each in open("en-de").translate_iter(["Hello!", "Good morning!"])]
        ['Hallo!', 'Guten Morgen!']
        """
        check_errors(errors)
        if isinstance(lines, str):
            raise TypeError("lines must be several texts or an open file, not a str: use translate() or [text]")
        read = (line.rstrip("\r\n") if isinstance(line, str) else line for line in lines)

        def found(result: Result, part: list[str], problems: Mapping[int, str]) -> list[Translation | Error]:
            return [
                error_for(result, i, problems, each.problem) if each.problem and errors == "raise" else each
                for i, each in enumerate(self._read(result, part, problems, "keep"))
            ]

        return _raising(
            in_order(read, ahead, ordered, lambda part: self._submitted(*self._ask(part, errors, options)), found),
            ordered,
        )

    def stream(self, text: str, **options: Unpack[TranslateOptions]) -> Stream[Translation]:
        """A translation as it is written: an iterator of Written. Only a beam search takes back what it wrote.

        >>> *_, last = open("en-de").stream("Good morning!", beam=1)
        >>> last.so_far
        'Guten Morgen!'
        """
        return Stream(*self._streamed(text, options))

    def stream_async(self, text: str, **options: Unpack[TranslateOptions]) -> AsyncStream[Translation]:
        """The same for `async for`."""
        return AsyncStream(lambda: self._streamed(text, options))

    def _read_pair(
        self, text: str, target: str | None, options: Mapping[str, Any]
    ) -> tuple[list[bytes], list[bytes] | None]:
        if target is None:
            keys = ("source_language", "target_language", "task_prefix")
            read: Any = {key: options[key] for key in keys if key in options}
            target = self.translate(text, **read).text
        return self._pair(text, target)

    def _ask(self, text: Any, errors: str, options: Mapping[str, Any]) -> tuple[list[str], dict[int, str], Work]:
        check_errors(errors)
        self._check_open()
        options = writing_options(options)
        lines: list[str] = listed(text, "the text")
        inputs, problems = inputs_of(lines, "line")
        kind = _requests.TRANSLATE
        if self._edits:
            if options.get("stream"):
                raise UnsupportedError("stream() does not obey edits: translate() gives the whole text")
            kind = _requests.ATTEND  # which counts the rows of cross-attention: docs/library.md
            options = self._edited(options)
        return lines, problems, (kind, inputs, None, NativeOptions(options))

    def _streamed(self, text: str, options: Mapping[str, Any]) -> tuple[Request, Callable[[Result], Translation]]:
        encoded(text, "the text")  # before any of it is written
        lines, problems, work = self._ask(text, "raise", {**options, "stream": True})
        return self._opened.submit(*work), lambda result: self._read(result, lines, problems, "raise")[0]

    def _read(self, result: Result, lines: list[str], problems: Mapping[int, str], errors: str) -> list[Translation]:
        if self._edits:
            return self._answers(result, lines, problems, _edited_translation, failed_translation, errors)
        return self._written(
            result, lines, problems, translation_of, unread_translation, failed_translation, errors, "target"
        )


def _raising(found: Iterator[Translation | Error], ordered: bool) -> Iterator[Translation]:
    for number, each in enumerate(found, 1):
        if isinstance(each, Error):
            raise type(each)(f"line {number}: {each}" if ordered else str(each))
        yield each


def _edited_translation(result: Result, input: int, json: Mapping[str, Any], source: str) -> Translation:
    if json.get("problem"):
        return failed_translation(source, json["problem"])
    ids = numbers(result, input, 0, b"tokens")
    log_probabilities = numbers(result, input, 0, b"token_log_probabilities")
    pieces = _pieces(json["steps"])
    return Translation(source, json["output"], json["score"], json["log_probability"], pieces, ids, log_probabilities)


def _pieces(steps: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Of the tokens that are among the candidates of their step, as those that a model chose nearly always are."""
    found = []
    for step in steps:
        named: str | None = next((each["piece"] for each in step["candidates"] if each["id"] == step["id"]), None)
        found.append("" if named is None else named)
    return tuple(found)
