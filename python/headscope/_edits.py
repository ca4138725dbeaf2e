"""Changes of heads, for Model.edit()."""

from __future__ import annotations

from dataclasses import dataclass

from ._attention import _kind
from ._errors import InvalidError


@dataclass(frozen=True)
class Edit:
    """A change of a head: see off(), uniform(), pin() and unmasked()."""

    kind: str
    layer: int
    head: int
    edit: str
    query: int | None = None
    key: int | None = None

    def as_option(self) -> dict[str, str | int]:
        """As the C library takes it."""
        found: dict[str, str | int] = {
            "kind": self.kind,
            "layer": self.layer,
            "head": self.head,
            "edit": self.edit,
        }
        if self.query is not None:
            found["query"] = self.query
        if self.key is not None:
            found["key"] = self.key
        return found


def off(kind: str, layer: int, head: int, query: int | None = None) -> Edit:
    """Switches a head off: it adds nothing. Layers and heads count from 1.

    query: only there, from 0.
    """
    return _edit(kind, layer, head, "off", query)


def uniform(kind: str, layer: int, head: int, query: int | None = None) -> Edit:
    """Makes all weights of a head equal. Layers and heads count from 1.

    query: only there, from 0.
    """
    return _edit(kind, layer, head, "uniform", query)


def pin(kind: str, layer: int, head: int, key: int, query: int | None = None) -> Edit:
    """Makes a head attend to one key only, from 0. Layers and heads count from 1.

    query: only there, from 0.
    """
    return _edit(kind, layer, head, "pin", query, key)


def unmasked(kind: str, layer: int, head: int, query: int | None = None) -> Edit:
    """Takes the causal mask off a head of a "decoder": it also attends to later tokens of what is read at once.

    Layers and heads count from 1. query: only there, from 0.
    """
    return _edit(kind, layer, head, "unmasked", query)


def _edit(kind: str, layer: int, head: int, edit: str, query: int | None, key: int | None = None) -> Edit:
    for name, number, least in (("layer", layer, 1), ("head", head, 1), ("query", query, 0), ("key", key, 0)):
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < least):
            raise InvalidError(f"the {name} of an edit must be a whole number from {least}, not {number!r}")
    return Edit(_kind(kind), layer, head, edit, query, key)
