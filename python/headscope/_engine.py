"""Engines: devices, and one queue for all work on them."""

from __future__ import annotations

import atexit
import json
import math
import os
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from ctypes import c_void_p
from functools import cache
from typing import Any, Callable, Union

from ._closing import Closing
from ._errors import AGAIN, Error, InvalidError
from ._handles import Handle
from ._library import ABI, LOG_FUNCTION, check, given, lib, take, text_at
from ._options import NativeOptions, texts_of
from ._requests import SLICE_MS, interpreter_ends

Devices = Union[str, Sequence[str]]
Log = Callable[[str], object]

# Not settings of the library: what they mean is chosen by arguments.
_OURS = ("HEADSCOPE_DEVICE", "HEADSCOPE_MODEL")


@cache
def _settings() -> frozenset[str]:
    """The names of the option "settings"."""
    rows = json.loads(take(given(lib.hs_options_keys)))
    return frozenset(name for row in rows if row["key"] == "settings" for name in row["choices"] if name not in _OURS)


def environment() -> dict[str, str]:
    """The settings of devices in the environment, which the library itself does not read."""
    return {name: value for name, value in os.environ.items() if name in _settings()}


class Engine(Closing):
    """Devices, and one queue for all work on them. Several models share one.

    `open()` makes one if it is not given any; models that are opened with the same devices share it.

    devices: "cpu", "cuda", "vulkan", "vulkan:1", .., a list of these, "all", or "auto": HEADSCOPE_DEVICE, else the best
        GPU, else the CPU.
    precision: storage and products, as of `headscope translate --precision`: "f32", "bf16", "i8" and so on.
    threads: of the CPU; 0: one for each core that the process may use.
    max_requests, max_tokens, max_tokens_of_client: more work at a time raises BusyError.
    settings: instead of the environment variables of docs/environment.md.
    log: called with each message about devices that were lost or reopened, on another thread; by default the logger
        "headscope" gets them.

    >>> with Engine(devices="cpu") as engine, open("en-de", engine=engine) as model:
    ...     print(model.translate("Good morning!"))
    Guten Morgen!
    """

    def __init__(
        self,
        devices: Devices = "auto",
        *,
        precision: str = "f32",
        threads: int = 0,
        max_requests: int | None = None,
        max_tokens: int | None = None,
        max_tokens_of_client: int | None = None,
        settings: Mapping[str, str] | None = None,
        log: Log | None = None,
    ) -> None:
        if log is not None and not callable(log):
            raise TypeError(f"log must be a function, not {type(log).__name__}")
        self._arguments = {
            "devices": devices,
            "precision": precision,
            "threads": threads,
            "max_requests": max_requests,
            "max_tokens": max_tokens,
            "max_tokens_of_client": max_tokens_of_client,
            "settings": settings,
            "log": log,
        }
        options: dict[str, object] = {
            "devices": device_names(devices),
            "precision": precision,
            "threads": threads or None,
            "max_requests": max_requests,
            "max_tokens": max_tokens,
            "max_tokens_of_client": max_tokens_of_client,
            "settings": environment() if settings is None else dict(settings),
        }
        self._log = LOG_FUNCTION(_told(log))  # kept as long as the engine calls it
        self._borrowers = 0
        with NativeOptions(options) as chosen:
            pointer = given(lib.hs_engine_open, ABI, chosen, self._log, None)
        self._handle = Handle(pointer, _Close(self._log), "engine")
        with _lock:
            _engines.add(self)

    @property
    def handle(self) -> Handle:
        """Of the C library, for this package alone."""
        return self._handle

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle.closed

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that work, such as ("cpu",)."""
        return tuple(each["device"] for each in self.statistics()["devices"])

    def statistics(self) -> dict[str, Any]:
        """What was done so far: "devices" with their batches, tokens and seconds, "requests" by their end, and
        histograms in seconds ("queue_seconds", "first_seconds", "run_seconds") and rows ("batch_rows")."""
        with self._handle as pointer:
            found: dict[str, Any] = json.loads(take(given(lib.hs_engine_statistics, pointer)))
        return found

    def drain(self, timeout: float | None = None) -> bool:
        """Takes no more requests, and waits until all that it has are done; False if that takes more than `timeout`
        seconds."""
        refuse_in_hook(self)
        end = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            with self._handle as pointer:
                slice_ms = min(SLICE_MS, max(0, int(left * 1000))) if left < 1 else SLICE_MS
                if check(lib.hs_engine_drain, pointer, slice_ms) != AGAIN:
                    return True
            if left <= 0:
                return False

    def close(self) -> None:
        """Cancels all requests and closes the devices. Results stay."""
        self._handle.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened_engine, (self._arguments,)

    def __repr__(self) -> str:
        try:
            return "<headscope.Engine of {}>".format(", ".join(self.devices))
        except Error:
            return "<headscope.Engine, closed>"


class _Close:
    """Closes an engine, which may call its log until then."""

    def __init__(self, log: object) -> None:
        self._log = log

    def __call__(self, pointer: c_void_p) -> None:
        lib.hs_engine_close(pointer)


def _opened_engine(arguments: dict[str, Any]) -> Engine:
    return Engine(**arguments)


def device_names(devices: Devices) -> Sequence[str] | None:
    if isinstance(devices, str) and devices == "auto":
        devices = os.environ.get("HEADSCOPE_DEVICE", "")
    if isinstance(devices, str):
        return [each.strip() for each in devices.split(",") if each.strip()] or None
    return texts_of(devices, "devices")


def _told(log: Log | None) -> Callable[[int | None, Any], None]:
    def tell(_: int | None, message: Any) -> None:
        text = text_at(message)
        if log is not None:
            log(text)
        else:
            import logging

            logging.getLogger("headscope").warning("%s", text)

    return tell


class _Serving(threading.local):
    """The engine whose hook this thread runs."""

    engine: Engine | None = None


serving = _Serving()


def refuse_in_hook(engine: Engine) -> None:
    """InvalidError if the engine waits for this thread, which would wait for the engine."""
    if serving.engine is engine:
        raise InvalidError("a hook must not ask its own engine, which waits for it: ask before, or another Engine")


# ---- Engines that models share, and those that are left at the end of the interpreter

_engines: weakref.WeakSet[Engine] = weakref.WeakSet()
_shared: dict[tuple[Any, ...], Engine] = {}
_lock = threading.RLock()  # a model may be deleted, and return its engine, wherever the garbage is collected


def borrowed(devices: Devices, precision: str, threads: int) -> Engine:
    """An engine that is shared by all who ask for the same, until each has returned it."""
    names = device_names(devices)
    if not isinstance(precision, str):
        raise TypeError(f"precision must be a str, not {type(precision).__name__}")
    key = (tuple(names or ()), precision, threads, os.getpid(), tuple(sorted(environment().items())))
    with _lock:
        engine = _shared.get(key)
        if engine is not None and not engine.closed:
            engine._borrowers += 1
            return engine
    # Opening takes a while. If two do that at a time, both get an engine, and one is shared.
    engine = Engine(devices, precision=precision, threads=threads)
    engine._borrowers = 1
    with _lock:
        _shared[key] = engine
    return engine


def returned(engine: Engine) -> None:
    """Closes an engine that nobody has borrowed any more."""
    if engine.handle.foreign:
        return
    with _lock:
        engine._borrowers -= 1
        if engine._borrowers > 0:
            return
        for key, each in list(_shared.items()):
            if each is engine:
                _shared.pop(key, None)
    engine.close()


def _close_all() -> None:
    with _lock:
        engines = list(_engines)
    for engine in engines:
        engine.close()
    interpreter_ends()


def _after_fork_in_child() -> None:
    global _lock
    _lock = threading.RLock()
    _shared.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork_in_child)
