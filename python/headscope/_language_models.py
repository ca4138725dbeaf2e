"""Language models: those that continue a text, and those that fill it in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, overload

from . import _requests
from ._asking import writing_options
from ._handles import Result
from ._models import Model
from ._options import NativeOptions
from ._reading import (
    check_errors,
    completion_of,
    failed_completion,
    failed_filled,
    filled_of,
    only_of,
    unread_completion,
)
from ._requests import Request, Work, encoded, inputs_of, listed
from ._results import Candidate, Completion, Filled
from ._run import candidates_of
from ._streams import AsyncStream, Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CompleteOptions, FillOptions

    Ids = Sequence[int]


class LanguageModel(Model):
    """A causal language model, such as GPT-2 and Llama.

    Options of its methods are those of `headscope complete`, among them max_tokens, beam, n_best, stop, and with
    sample=True temperature, top_k, top_p and seed; a temperature above 0 samples, too. `keys()` lists all.

    >>> lm = open("en-causal")
    >>> print(lm.complete("Could you please"))
     tell me what's going on here?
    """

    @overload
    def complete(  # type: ignore[overload-overlap]
        self,
        prompt: str,
        *,
        max_tokens: int | None = None,
        top: int = 0,
        errors: str = "raise",
        **options: Unpack[CompleteOptions],
    ) -> Completion: ...
    @overload
    def complete(
        self,
        prompt: Iterable[str | Ids],
        *,
        max_tokens: int | None = None,
        top: int = 0,
        errors: str = "raise",
        **options: Unpack[CompleteOptions],
    ) -> list[Completion]: ...
    def complete(
        self, prompt: Any, *, max_tokens: int | None = None, top: int = 0, errors: str = "raise", **options: Any
    ) -> Any:
        """A continuation of a prompt, or of each of a list. A prompt is a text, or with others in a list a list of ids.

        max_tokens: the most tokens that are written. top: how many of the likeliest tokens come with each one written,
        at most 20, as `top` of the completion. errors: "raise" raises if a prompt has a problem, after all others are
        done: the error has them as `results`. "keep" gives them, with a `problem`.

        >>> found = open("en-causal").complete("Could you please", max_tokens=2, top=3)
        >>> [[each.text for each in place] for place in found.top]
        [['▁tell', '▁help', '▁give'], ['▁me', '▁Tom', '▁us']]
        """
        prompts, problems, work = self._ask(prompt, max_tokens, top, errors, options)
        found = self._read(self._opened.answer(*work), prompts, problems, errors)
        return found[0] if isinstance(prompt, str) else found

    @overload
    async def complete_async(  # type: ignore[overload-overlap]
        self,
        prompt: str,
        *,
        max_tokens: int | None = None,
        top: int = 0,
        errors: str = "raise",
        **options: Unpack[CompleteOptions],
    ) -> Completion: ...
    @overload
    async def complete_async(
        self,
        prompt: Iterable[str | Ids],
        *,
        max_tokens: int | None = None,
        top: int = 0,
        errors: str = "raise",
        **options: Unpack[CompleteOptions],
    ) -> list[Completion]: ...
    async def complete_async(
        self, prompt: Any, *, max_tokens: int | None = None, top: int = 0, errors: str = "raise", **options: Any
    ) -> Any:
        """The same for asyncio. A task that is cancelled cancels its request."""
        prompts, problems, work = self._ask(prompt, max_tokens, top, errors, options)
        found = self._read(await self._opened.answer_async(*work), prompts, problems, errors)
        return found[0] if isinstance(prompt, str) else found

    def stream(
        self, prompt: str, *, max_tokens: int | None = None, top: int = 0, **options: Unpack[CompleteOptions]
    ) -> Stream[Completion]:
        """A completion as it is written: an iterator of Written. Leaving the loop stops the device.

        >>> "".join(each.text for each in open("en-causal").stream("Could you please", max_tokens=3))
        ' tell me what'
        """
        return Stream(*self._streamed(prompt, max_tokens, top, options))

    def stream_async(
        self, prompt: str, *, max_tokens: int | None = None, top: int = 0, **options: Unpack[CompleteOptions]
    ) -> AsyncStream[Completion]:
        """The same for `async for`."""
        return AsyncStream(lambda: self._streamed(prompt, max_tokens, top, options))

    def next(self, prompt: str, top: int = 10) -> tuple[Candidate, ...]:
        """The likeliest tokens after a prompt, best first.

        >>> [each.text for each in open("en-causal").next("Could you please", top=2)]
        ['▁tell', '▁help']
        """
        options = self._edited({"candidates": top, "max_extra": 1, "max_length": 0})
        inputs, targets = self._pair(prompt, None)
        found = only_of(self._done(_requests.ATTEND, inputs, targets, options))
        return candidates_of(found["steps"][-1]["candidates"])[:top]

    def _look_pair(
        self, text: str, target: str | None, options: Mapping[str, Any]
    ) -> tuple[list[bytes], list[bytes] | None]:
        # The text alone, unless it is asked how the model goes on.
        return self._pair(text, "" if target is None and not options.get("max_extra") else target)

    def _ask(
        self, prompt: Any, max_tokens: int | None, top: int, errors: str, options: Mapping[str, Any]
    ) -> tuple[list[str], dict[int, str], Work]:
        check_errors(errors)
        self._check_open()
        chosen = writing_options(options)
        if max_tokens is not None:
            chosen.update(max_extra=max_tokens, max_length=chosen.get("max_length", 0))
        if top:
            chosen["alternatives"] = top
        if "temperature" in chosen and chosen.get("sample") is None:
            chosen["sample"] = chosen["temperature"] != 0 or None
            if not chosen["sample"]:
                del chosen["temperature"]
        prompts: list[Any] = listed(prompt, "the prompt")
        if prompts and all(not isinstance(each, str) for each in prompts):
            chosen["ids"] = True
            prompts = [_ids_of(each) for each in prompts]
        inputs, problems = inputs_of(prompts, "prompt")
        return prompts, problems, (_requests.COMPLETE, inputs, None, NativeOptions(self._edited(chosen)))

    def _streamed(
        self, prompt: str, max_tokens: int | None, top: int, options: Mapping[str, Any]
    ) -> tuple[Request, Callable[[Result], Completion]]:
        encoded(prompt, "the prompt")  # before any of it is written
        prompts, problems, work = self._ask(prompt, max_tokens, top, "raise", {**options, "stream": True})
        return self._opened.submit(*work), lambda result: self._read(result, prompts, problems, "raise")[0]

    def _read(self, result: Result, prompts: list[str], problems: Mapping[int, str], errors: str) -> list[Completion]:
        return self._written(
            result, prompts, problems, completion_of, unread_completion, failed_completion, errors, "source"
        )


def _ids_of(prompt: object) -> str:
    try:
        return json.dumps([int(id) for id in prompt])  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise TypeError(f"a prompt must be a str or a list of ids, not {prompt!r}") from None


class MaskedModel(Model):
    """A masked language model, such as BERT.

    >>> masked = open("en-masked")
    >>> print(masked.fill("She opened the [MASK]."))
    She opened the door.
    """

    @overload
    def fill(self, text: str, *, errors: str = "raise", **options: Unpack[FillOptions]) -> Filled: ...  # type: ignore[overload-overlap]
    @overload
    def fill(self, text: Iterable[str], *, errors: str = "raise", **options: Unpack[FillOptions]) -> list[Filled]: ...
    def fill(self, text: Any, *, errors: str = "raise", **options: Any) -> Any:
        """What may stand at the masks of a text, or of each text of a list.

        top: candidates of each mask (5). mask: what stands for a masked word ("[MASK]"). one_by_one: the most certain
        mask is filled first, and the others see it.
        """
        texts, problems, work = self._ask(text, errors, options)
        found = self._read(self._opened.answer(*work), texts, problems, errors)
        return found[0] if isinstance(text, str) else found

    @overload
    async def fill_async(self, text: str, *, errors: str = "raise", **options: Unpack[FillOptions]) -> Filled: ...  # type: ignore[overload-overlap]
    @overload
    async def fill_async(
        self, text: Iterable[str], *, errors: str = "raise", **options: Unpack[FillOptions]
    ) -> list[Filled]: ...
    async def fill_async(self, text: Any, *, errors: str = "raise", **options: Any) -> Any:
        """The same for asyncio. A task that is cancelled cancels its request."""
        texts, problems, work = self._ask(text, errors, options)
        found = self._read(await self._opened.answer_async(*work), texts, problems, errors)
        return found[0] if isinstance(text, str) else found

    def _ask(self, text: Any, errors: str, options: Mapping[str, Any]) -> tuple[list[str], dict[int, str], Work]:
        check_errors(errors)
        self._check_open()
        texts: list[str] = listed(text, "the text")
        inputs, problems = inputs_of(texts, "text")
        return texts, problems, (_requests.FILL, inputs, None, NativeOptions(self._edited(options)))

    def _read(self, result: Result, texts: list[str], problems: Mapping[int, str], errors: str) -> list[Filled]:
        return self._answers(result, texts, problems, filled_of, failed_filled, errors)
