"""What a model is: its family, its shape and its places."""

from __future__ import annotations

from typing import Any

from ._edits import Edit
from ._engine import Engine
from ._errors import NotFoundError
from ._opened import Opened, family_of


class Facts:
    """What is known of an open model without asking it anything."""

    _opened: Opened
    _edits: tuple[Edit, ...]
    _view_closed: bool

    @property
    def family(self) -> str:
        """Such as "encoder-decoder", "causal-lm" or "masked-lm"."""
        return family_of(self._opened.info)

    @property
    def path(self) -> str:
        """The folder or file of the weights."""
        return str(self._opened.info["path"])

    @property
    def config(self) -> dict[str, Any]:
        """What `headscope inspect` lists, such as config["d_model"]."""
        return dict(self._opened.info["keys"])

    @property
    def languages(self) -> tuple[str, ...]:
        """Names for source_language and target_language; empty unless the model needs them."""
        return tuple(self._opened.info["languages"])

    @property
    def layers(self) -> dict[str, int]:
        """The number of layers of "encoder", "decoder" and "cross"."""
        counts = {kind: int(self._opened.info["keys"].get(kind + "_layers", 0)) for kind in ("encoder", "decoder")}
        if counts["encoder"] and counts["decoder"]:
            counts["cross"] = counts["decoder"]
        return {kind: count for kind, count in counts.items() if count}

    @property
    def heads(self) -> int:
        """The number of heads of a layer."""
        return int(self._opened.info["keys"]["attention.heads"])

    @property
    def sites(self) -> tuple[str, ...]:
        """The values that `run()` records and replaces, in the order of a pass."""
        return tuple(self._opened.info["sites"])

    def matching_sites(self, pattern: str) -> tuple[str, ...]:
        """The sites that a pattern names, with "*" for anything between two dots."""
        import re

        wanted = re.compile("[^.]*".join(re.escape(part) for part in pattern.split("*")))
        found = tuple(site for site in self.sites if wanted.fullmatch(site))
        if not found:
            raise NotFoundError(f"the model has no site {pattern!r}; see its `sites`")
        return found

    @property
    def defaults(self) -> dict[str, Any]:
        """The decoding options of the model's author."""
        return dict(self._opened.info["decoding"])

    @property
    def longest(self) -> int:
        """The most tokens of an input."""
        return int(self._opened.info["longest"])

    @property
    def engine(self) -> Engine:
        """Its devices."""
        return self._opened.engine

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that work, such as ("cpu",)."""
        return self.engine.devices

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What edit() has changed."""
        return self._edits

    @property
    def closed(self) -> bool:
        """Whether it, or this view of it, was closed."""
        return self._view_closed or self._opened.handle.closed

    def __repr__(self) -> str:
        if self.closed:
            return f"<headscope.{type(self).__name__}, closed>"
        edits = f", {len(self._edits)} edits" if self._edits else ""
        return f"<headscope.{type(self).__name__} {self.path}{edits}>"
