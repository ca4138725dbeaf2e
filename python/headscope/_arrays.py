"""NumPy arrays over the library's memory. The only module that imports NumPy, when an array is asked for."""

from __future__ import annotations

from ctypes import byref
from typing import TYPE_CHECKING, Any

from ._handles import Result
from ._library import Array, check, lib, new_array, text_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Float32 = NDArray[np.float32]
    Float64 = NDArray[np.float64]

_TYPES = {1: "<f4", 2: "<f8", 3: "<i4", 4: "<i8"}


def numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise ImportError("arrays need NumPy: pip install numpy") from None
    return numpy


class _Lent:
    """What NumPy keeps as the base of an array, and so keeps its owner."""

    def __init__(self, array: Array, owner: object, writable: bool) -> None:
        shape = tuple(array.shape[: array.rank])
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": _TYPES[array.type],
            "data": (array.data or 0, not writable),
        }


def view(array: Array, owner: object, writable: bool = False) -> Any:
    """An array over the memory that `owner` lends, without a copy."""
    np = numpy()
    if 0 in tuple(array.shape[: array.rank]):
        return np.zeros(tuple(array.shape[: array.rank]), _TYPES[array.type])
    return np.asarray(_Lent(array, owner, writable))


def of_result(result: Result, name: str, input: int = 0, choice: int = 0) -> Any:
    """An array of a result, read-only and without a copy."""
    array = new_array()
    check(lib.hs_result_array, result.pointer, input, choice, name.encode(), byref(array))
    return view(array, result)


def names_of(result: Result, input: int = 0, choice: int = 0) -> tuple[str, ...]:
    return tuple(text_at(lib.hs_result_arrays(result.pointer, input, choice)).splitlines())
