"""Work that was asked of a model: waiting for it, in threads and in coroutines, and reading what it writes."""

from __future__ import annotations

import ctypes
import itertools
import os
import queue
import threading
from array import array
from collections.abc import Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from ._errors import AGAIN, END, Error, InvalidError
from ._handles import Handle, Result
from ._library import DONE_FUNCTION, Event, address_of, check, failure, lib
from ._options import NativeOptions

if TYPE_CHECKING:
    import asyncio

TRANSLATE, COMPLETE, FILL, SCORE, TOKENIZE, DETOKENIZE, ATTEND, RUN, IMPORTANCE, SALIENCY, EMBED = range(1, 12)

# Between two looks for signals and closed models. No answer waits for it.
SLICE_MS = 50

TEXT_WRITTEN = 1


class Texts:
    """Texts as the C library takes them: pairs of an address and a size."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._bytes = texts[0] if len(texts) == 1 else b"".join(texts)
        start = address_of(self._bytes)
        words: list[int] = []
        for text in texts:
            words += start, len(text)
            start += len(text)
        self._words = array("Q", words)

    @property
    def address(self) -> int:
        return self._words.buffer_info()[0]


def encoded(text: object, what: str, number: int = 0) -> bytes:
    """UTF-8. InvalidError for what has none."""
    if not isinstance(text, str):
        what = f"{what} {number}" if number else what
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as problem:
        what = f"{what} {number}" if number else what
        raise InvalidError(
            f"{what} has half a surrogate pair, {text[problem.start]!r}, at character {problem.start}: "
            "it cannot be UTF-8"
        ) from None


class _Fate:
    """How a request is freed: at once if it has ended, else by a thread, since that waits for the device."""

    __slots__ = ("ended", "keep")

    def __init__(self, keep: object) -> None:
        self.ended = False
        self.keep = keep  # what callbacks need until the request has been freed

    def free(self, pointer: c_void_p) -> None:
        if self.ended:
            lib.hs_request_free(pointer)
        else:
            _free_later(pointer, self.keep)


# What is asked: the kind, inputs, targets and options.
Work = tuple[int, Sequence[bytes], Optional[Sequence[bytes]], NativeOptions]


def _submitted(
    model: Handle, kind: int, inputs: Sequence[bytes], targets: Sequence[bytes] | None, options: NativeOptions
) -> c_void_p:
    texts = Texts(inputs)
    to = Texts(targets) if targets is not None else None
    with options as chosen, model as pointer:
        place = c_void_p()
        error = c_void_p()
        status: int = lib.hs_submit(
            pointer,
            kind,
            texts.address,
            None if to is None else to.address,
            len(inputs),
            chosen,
            byref(place),
            byref(error),
        )
    if status != 0:
        raise failure(status, error)
    return place


def answer(
    model: Handle,
    kind: int,
    inputs: Sequence[bytes],
    targets: Sequence[bytes] | None = None,
    options: NativeOptions | None = None,
    keep: object = None,
) -> Result:
    """What a Request gives, without one, for which nobody else waits: of one short sentence, Python's part of the time
    is mostly that of reaching memory again that the device's work has driven out of the caches."""
    options = options or NativeOptions({})
    request = _submitted(model, kind, inputs, targets, options)
    place = c_void_p()
    error = c_void_p()
    try:
        while True:
            status: int = lib.hs_request_wait(request, SLICE_MS, byref(place), byref(error))
            if status != AGAIN:
                break
            if model.closed:
                lib.hs_request_cancel(request)
    except BaseException:
        lib.hs_request_cancel(request)
        _start_freeing()
        _free_later(request, keep)
        raise
    lib.hs_request_free(request)
    if status != 0:
        raise failure(status, error)
    return Result(place, options.values)


class Request:
    """Work in an engine. Any thread may wait for it and cancel it; one at a time may read its events."""

    def __init__(
        self,
        model: Handle,
        kind: int,
        inputs: Sequence[bytes],
        targets: Sequence[bytes] | None = None,
        options: NativeOptions | None = None,
        keep: object = None,
    ) -> None:
        _start_freeing()
        self._fate = _Fate(keep)
        options = options or NativeOptions({})
        self._asked = options.values
        self._handle = Handle(_submitted(model, kind, inputs, targets, options), self._fate.free, "request")

    def wait(self) -> Result:
        """The result. An exception that comes meanwhile, such as KeyboardInterrupt, cancels the request."""
        place = c_void_p()
        error = c_void_p()
        try:
            with self._handle as pointer:
                while True:
                    status: int = lib.hs_request_wait(pointer, SLICE_MS, byref(place), byref(error))
                    if status != AGAIN:
                        break
        except BaseException:
            self.cancel()
            raise
        self._fate.ended = True
        if status != 0:
            raise failure(status, error)
        return Result(place, self._asked)

    async def wait_async(self) -> Result:
        """The same, without a thread that waits. Cancelling the task cancels the request."""
        import asyncio

        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        key = next(_keys)
        _waiting[key] = (loop, done)
        try:
            with self._handle as pointer:
                check(lib.hs_request_on_done, pointer, _DONE, key)
            await done
        except BaseException:
            self.cancel()
            raise
        finally:
            _waiting.pop(key, None)
        return self.wait()

    def next(self) -> Event | None:
        """The next event, whose texts live until the next call, or None at the end."""
        event = Event()
        event.size = ctypes.sizeof(Event)
        error = c_void_p()
        with self._handle as pointer:
            while True:
                status: int = lib.hs_request_next(pointer, SLICE_MS, byref(event), byref(error))
                if status != AGAIN:
                    break
        if status == END:
            self._fate.ended = True
            return None
        if status != 0:
            raise failure(status, error)
        return event

    def ready(self) -> bool:
        """Whether wait() would not wait."""
        place = c_void_p()
        with self._handle as pointer:
            status: int = lib.hs_request_wait(pointer, 0, byref(place), None)
        lib.hs_result_free(place)
        return status != AGAIN

    def cancel(self) -> None:
        """Ends it early. Never waits."""
        if self._handle.closed:
            return
        try:
            with self._handle as pointer:
                lib.hs_request_cancel(pointer)
        except Error:
            pass  # closed meanwhile, or of another process

    def close(self) -> None:
        """Cancels what has not ended. Never waits for the device."""
        if not self._fate.ended:
            self.cancel()
        self._handle.close()


# ---- Being called when a request has ended

_Waiter = tuple["asyncio.AbstractEventLoop", "asyncio.Future[None]"]
_waiting: dict[int, _Waiter] = {}
_keys = itertools.count(1)


def _wake(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


def _on_done(key: int | None) -> None:
    waiter = _waiting.pop(key or 0, None)
    if waiter is not None:
        try:
            waiter[0].call_soon_threadsafe(_wake, waiter[1])
        except RuntimeError:
            pass  # the loop is closed: nobody waits


_DONE = DONE_FUNCTION(_on_done)


# ---- Freeing requests that still run, in a thread of its own


class _Freeing:
    """A thread that waits for the devices, in the place of those who do not want an answer any more."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.pointers: queue.SimpleQueue[tuple[c_void_p, object]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="headscope-free", daemon=True).start()

    def _run(self) -> None:
        while True:
            pointer, keep = self.pointers.get()
            lib.hs_request_free(pointer)
            del pointer, keep


_freeing: _Freeing | None = None
_ending = False


def _start_freeing() -> None:
    """Before the first request, since a thread cannot be started wherever an object is deleted."""
    global _freeing
    if _freeing is None or _freeing.process != os.getpid():
        _freeing = _Freeing()


def _free_later(pointer: c_void_p, keep: object) -> None:
    if _ending or _freeing is None:
        lib.hs_request_free(pointer)  # the engines are closed, so that nothing runs
    else:
        _freeing.pointers.put((pointer, keep))


def interpreter_ends() -> None:
    """After the engines were closed, and before threads stop where they are."""
    global _ending
    _ending = True


def listed(texts: Any, what: str) -> list[Any]:
    """One text or several, as a list."""
    if isinstance(texts, str):
        return [texts]
    try:
        return list(texts)
    except TypeError:
        raise TypeError(f"{what} must be a str or several, not {type(texts).__name__}") from None


def inputs_of(texts: Sequence[object], what: str) -> tuple[list[bytes], dict[int, str]]:
    """All texts as UTF-8, and why some have none, which become empty."""
    done: list[bytes] = []
    problems: dict[int, str] = {}
    for text in texts:
        try:
            done.append(encoded(text, what, len(done) + 1))
        except InvalidError as problem:
            problems[len(done)] = str(problem)
            done.append(b"")
    return done, problems
