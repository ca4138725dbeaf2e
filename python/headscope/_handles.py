"""Objects of the C library that Python holds: used by many threads, freed once, and left alone after a fork."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from ctypes import c_void_p
from os import getpid
from typing import Any, Callable, NoReturn

from ._errors import ForkedError, raise_closed
from ._library import lib, of_another


class _Held:
    """What lies in the memory of this process."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError("what the library holds cannot be pickled: pickle arrays, numbers and texts of it")


class Handle(_Held):
    """A pointer that is freed when it is closed and no call uses it any more.

    `with handle as pointer:` around each call. Closing never waits for a call of another thread.
    """

    __slots__ = ("_pointer", "_free", "_what", "_process", "_users", "_closed", "_lock", "__weakref__")

    def __init__(self, pointer: c_void_p, free: Callable[[c_void_p], Any], what: str) -> None:
        self._pointer = pointer
        self._free = free
        self._what = what
        self._process = getpid()
        self._users = 0
        self._closed = False
        self._lock = threading.Lock()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def foreign(self) -> bool:
        """Whether it belongs to the process before a fork, where its lock may be held for ever."""
        return self._process != getpid()

    def __enter__(self) -> c_void_p:
        if self._process != getpid():
            raise ForkedError(of_another(self._process))
        with self._lock:
            if self._closed:
                raise_closed(self._what)
            self._users += 1
        return self._pointer

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            last = self._closed and self._users == 0
        if last:
            self._free(self._pointer)

    def close(self) -> None:
        if self.foreign:
            self._closed = True
            return
        with self._lock:
            first = not self._closed
            self._closed = True
            unused = first and self._users == 0
        if unused:
            self._free(self._pointer)

    def __del__(self) -> None:
        if hasattr(self, "_lock") and not self._closed:
            self.close()


class Result(_Held):
    """An hs_result. Results may outlive their request, model and engine, and a fork. `asked`: its options."""

    __slots__ = ("pointer", "asked", "__weakref__")

    def __init__(self, pointer: c_void_p, asked: Mapping[str, object]) -> None:
        self.pointer = pointer
        self.asked = asked

    def __del__(self, free: Any = lib.hs_result_free) -> None:
        free(self.pointer)


class Record(_Held):
    """An hs_record."""

    __slots__ = ("pointer", "__weakref__")

    def __init__(self, pointer: c_void_p) -> None:
        self.pointer = pointer

    def __del__(self, free: Any = lib.hs_record_free) -> None:
        free(self.pointer)
