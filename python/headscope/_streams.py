"""Text as it is written."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Generic, TypeVar

from ._closing import Closing
from ._errors import CancelledError
from ._handles import Result
from ._library import Event, bytes_at
from ._requests import TEXT_WRITTEN, Request

if TYPE_CHECKING:
    import asyncio

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Written:
    """What was written since the one before.

    text: new. so_far: the whole text. kept: the characters of the text before that still hold: only a beam search takes
    back what it wrote. ids, log_probabilities: of the new tokens, natural logarithms; a token whose characters are not
    whole yet comes with the text of a later one.
    """

    text: str
    so_far: str
    kept: int
    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]

    def __str__(self) -> str:
        return self.text


class _Writer:
    """Turns events into Written."""

    def __init__(self) -> None:
        self._bytes = b""

    def add(self, event: Event) -> Written | None:
        if event.kind != TEXT_WRITTEN:
            return None
        kept = self._bytes[: event.kept_bytes]
        new = bytes_at(event.text)
        self._bytes = kept + new
        count = event.token_count
        return Written(
            new.decode("utf-8", "replace"),
            self._bytes.decode("utf-8", "replace"),
            len(kept.decode("utf-8", "replace")),
            tuple(event.tokens[:count]) if count else (),
            tuple(event.log_probabilities[:count]) if count else (),
        )


class Stream(Closing, Generic[Answer]):
    """An iterator over what is written. Leaving the loop, `close()` or the end of `with` stops the device."""

    def __init__(self, request: Request, finish: Callable[[Result], Answer]) -> None:
        self._request = request
        self._finish = finish
        self._writer = _Writer()
        self._answer: list[Answer] = []

    def __iter__(self) -> Stream[Answer]:
        return self

    def __next__(self) -> Written:
        try:
            while not self._answer:
                event = self._request.next()
                if event is None:
                    self.result()
                    break
                written = self._writer.add(event)
                if written is not None:
                    return written
        except BaseException:
            self._request.close()
            raise
        raise StopIteration

    def result(self) -> Answer:
        """The whole answer. Waits for it."""
        if not self._answer:
            self._answer.append(self._finish(self._request.wait()))
            self._request.close()
        return self._answer[0]

    def close(self) -> None:
        """Stops the device, if it still writes."""
        self._request.close()

    def __del__(self) -> None:
        self.close()


class AsyncStream(Generic[Answer]):
    """The same for `async for`. A thread of its own reads what is written, so that the loop never waits."""

    def __init__(self, ask: Callable[[], tuple[Request, Callable[[Result], Answer]]]) -> None:
        self._ask = ask
        self._request: Request | None = None
        self._items: Any = None
        self._ended = False
        self._answer: list[Answer] = []

    def __aiter__(self) -> AsyncStream[Answer]:
        return self

    async def __anext__(self) -> Written:
        if self._ended:
            raise StopAsyncIteration
        if self._request is None:
            self._start()
        try:
            item = await self._items.get()
        except BaseException:
            self.close()
            raise
        if isinstance(item, Written):
            return item
        self._ended = True
        self.close()
        if isinstance(item, BaseException):
            raise item
        self._answer.append(item)
        raise StopAsyncIteration

    def _start(self) -> None:
        import asyncio

        self._request, finish = self._ask()
        items: asyncio.Queue[Any] = asyncio.Queue()
        self._items = items
        thread = threading.Thread(
            target=_read, args=(self._request, finish, asyncio.get_running_loop(), items), daemon=True
        )
        thread.start()

    def result(self) -> Answer:
        """The whole answer, after the last of what was written."""
        if not self._answer:
            raise CancelledError("the stream has not ended: read it to its end")
        return self._answer[0]

    def close(self) -> None:
        """Stops the device, if it still writes. Never waits."""
        if self._request is not None:
            self._request.cancel()

    async def aclose(self) -> None:
        """As close()."""
        self.close()

    async def __aenter__(self) -> AsyncStream[Answer]:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _read(
    request: Request,
    finish: Callable[[Result], Any],
    loop: asyncio.AbstractEventLoop,
    items: asyncio.Queue[Any],
) -> None:
    def put(item: Any) -> None:
        loop.call_soon_threadsafe(items.put_nowait, item)

    writer = _Writer()
    try:
        try:
            while True:
                event = request.next()
                if event is None:
                    put(finish(request.wait()))
                    return
                written = writer.add(event)
                if written is not None:
                    put(written)
        except BaseException as failure:
            put(failure)
    except RuntimeError:
        pass  # the loop is closed: nobody reads
    finally:
        request.close()
