"""Options of the C library, which are keys with JSON values."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Mapping, Sequence
from ctypes import byref, c_void_p
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._errors import InvalidError, NotFoundError
from ._library import check, lent, lib, new_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # A site, its float32 values, the head from 1 or 0, and the first position.
    NativePatch = tuple[str, NDArray[np.float32], int, int]

_FLOAT32 = 1


class _Options:
    """An hs_options. `key`: types and values, if it has only what cannot change."""

    __slots__ = ("pointer", "key")

    def __init__(self, key: tuple[object, ...] | None) -> None:
        self.key = key
        self.pointer = c_void_p(lib.hs_options_new())
        if not self.pointer:
            raise MemoryError("no memory for options")

    def __del__(self, free: Any = lib.hs_options_free) -> None:
        free(self.pointer)


# The last one, for the next call with equal options. Who takes it out has it alone, as the library wants it.
_last: deque[_Options] = deque(maxlen=1)
_SCALARS = (bool, int, float, str)


def _key_of(values: Mapping[str, object]) -> tuple[object, ...] | None:
    key: list[object] = []
    for name, value in values.items():
        if type(value) not in _SCALARS:
            return None
        key += name, type(value), value
    return tuple(key)


class NativeOptions:
    """An hs_options for the length of a call; None stands for a key that is not set."""

    def __init__(
        self,
        values: Mapping[str, object],
        patches: Sequence[NativePatch] = (),
        hooks: Sequence[tuple[str, Any]] = (),
    ) -> None:
        self.values = {key: value for key, value in values.items() if value is not None}
        self._patches = patches
        self._hooks = hooks
        self._options: _Options | None = None

    def __enter__(self) -> c_void_p | None:
        if not self.values and not self._patches and not self._hooks:
            return None
        key = None if self._patches or self._hooks else _key_of(self.values)
        if key is not None:
            try:
                last = _last.pop()
            except IndexError:
                last = None
            if last is not None and last.key == key:
                self._options = last
                return last.pointer
        made = _Options(key)
        for name, value in self.values.items():
            _set(made.pointer, name, value)
        for patch in self._patches:
            _patch(made.pointer, patch)
        for site, function in self._hooks:
            check(lib.hs_options_hook, made.pointer, name_of_site(site), function, None)
        self._options = made
        return made.pointer

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        used, self._options = self._options, None
        if used is not None and used.key is not None:
            _last.append(used)


def name_of_site(site: str) -> bytes:
    if not isinstance(site, str):
        raise TypeError(f"the name of a site must be a str, not {type(site).__name__}")
    name = site.encode("utf-8", "replace")
    if b"\0" in name:
        raise InvalidError(f"the name of a site has a NUL: {site!r}")
    return name


def _set(pointer: c_void_p, key: str, value: object) -> None:
    try:
        text = json.dumps(value, default=_plain, allow_nan=False).encode()
    except (TypeError, ValueError) as problem:
        raise InvalidError(f'option: "{key}" cannot be {value!r}: {problem}') from None
    try:
        check(lib.hs_options_set_json, pointer, key.encode(), lent(text))
    except NotFoundError as error:
        raise InvalidError(str(error)) from None


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays, paths, and other sequences as what JSON has."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset, range)):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no value of an option")


def _patch(pointer: c_void_p, patch: NativePatch) -> None:
    site, values, head, first = patch
    array = new_array()
    array.type = _FLOAT32
    array.rank = values.ndim
    for i, size in enumerate(values.shape[:6]):
        array.shape[i] = size
    array.data = values.ctypes.data
    check(lib.hs_options_patch, pointer, name_of_site(site), byref(array), head, first)


def texts_of(value: object | None, what: str) -> list[str]:
    """One text or several, as a list."""
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        return [os.fspath(value)]
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{what} must be a str or a list of str, not {type(value).__name__}")
    return [os.fspath(each) for each in value]
