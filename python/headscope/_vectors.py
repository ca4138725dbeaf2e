"""Texts as vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._arrays import numpy, of_result
from ._errors import InvalidError
from ._handles import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LISTS = {"word": "words", "piece": "pieces"}


class Vectors(Sequence[Any]):
    """The words or pieces of a text with a vector for each: a sequence of pairs.

    >>> [word for word, vector in open("en-de").embed("The cat sleeps.", unit="word")]
    ['The', 'cat', 'sleeps', '.']
    """

    def __init__(self, labels: Sequence[str], array: NDArray[np.float32]) -> None:
        self.labels: tuple[str, ...] = tuple(labels)
        self.array: NDArray[np.float32] = array

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Vectors(self.labels[index], self.array[index])
        return self.labels[index], self.array[index]

    def __iter__(self) -> Iterator[tuple[str, NDArray[np.float32]]]:
        return zip(self.labels, self.array)

    def __repr__(self) -> str:
        return f"<headscope.Vectors of {len(self)}, of {self.array.shape[-1]} numbers each>"


def vectors_of(result: Result, input: int, json: Mapping[str, Any], unit: str) -> Vectors:
    """What the library answered to an input: the vector of a line is one row."""
    labels = [json["text"]] if unit == "line" else [each[unit] for each in json[_LISTS[unit]]]
    return Vectors(labels, of_result(result, "vectors", input))


def cosines(a: Any, b: Any = None) -> Any:
    """The cosines of the angles between the rows of a and those of b, by default of a: float64 [a, b].

    That with a vector of zeros is 0.

    >>> lines = open("en-masked").embed(["The cat sleeps.", "The dog sleeps.", "No."])
    >>> alike = cosines(lines)
    >>> bool(alike[0, 1] > alike[0, 2])
    True
    """
    np = numpy()

    def directions(vectors: Any) -> Any:
        rows = np.atleast_2d(np.asarray(getattr(vectors, "array", vectors), dtype=np.float64))
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0.0)

    of_a = directions(a)
    of_b = of_a if b is None else directions(b)
    if of_a.shape[1] != of_b.shape[1]:
        raise InvalidError(f"vectors of {of_a.shape[1]} and of {of_b.shape[1]} numbers have no angle")
    return of_a @ of_b.T
