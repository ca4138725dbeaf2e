"""What a text's probability owes to heads and to tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._arrays import numpy, of_result
from ._attention import KINDS, _kind
from ._errors import InvalidError
from ._figures import Figure, heat_map
from ._handles import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class HeadImportance:
    """loss: the log-probability that is lost without the head, in nats. log_probability: without it."""

    kind: str
    layer: int
    head: int
    loss: float
    log_probability: float


class Importance:
    """What the probability of a target loses without each head.

    log_probability: with all heads, natural logarithm. heads: in the order of the model. Index it by a kind to get a
    float64 array [layers, heads] in nats.

    >>> worth = open("en-de").importance("The cat sleeps.", "Die Katze schläft.")
    >>> worth["cross"].shape
    (3, 8)
    >>> worth.ranked()[0].loss >= worth.ranked()[1].loss
    True
    """

    def __init__(self, result: Result, json: Mapping[str, Any]) -> None:
        self._result = result
        self.log_probability: float = json["log_probability"]
        self.heads: tuple[HeadImportance, ...] = tuple(
            HeadImportance(each["kind"], each["layer"], each["head"], each["loss"], each["log_probability"])
            for each in json["heads"]
        )

    @property
    def array(self) -> NDArray[np.float64]:
        """float64 [heads of all layers, 4]: kind (0 encoder, 1 decoder, 2 cross), layer and head from 1, loss in nats.
        Read-only and without a copy."""
        rows: NDArray[np.float64] = of_result(self._result, "importance")
        return rows

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention that the model has."""
        return tuple(kind for kind in KINDS if any(each.kind == kind for each in self.heads))

    def __getitem__(self, kind: str) -> NDArray[np.float64]:
        rows = [each for each in self.heads if each.kind == _kind(kind)]
        if not rows:
            raise KeyError("the model has no attention {!r}, but {}".format(kind, ", ".join(self.kinds)))
        losses: NDArray[np.float64] = numpy().full(
            (max(each.layer for each in rows), max(each.head for each in rows)), float("nan")
        )
        for each in rows:
            losses[each.layer - 1, each.head - 1] = each.loss
        return losses

    def ranked(self) -> list[HeadImportance]:
        """All heads, the most important first."""
        return sorted(self.heads, key=lambda each: -each.loss)

    def figure(self, title: str = "Log-probability lost without each head") -> Figure:
        """A heat map with a row for each layer and a column for each head."""
        rows: list[tuple[str, Sequence[float]]] = []
        gaps = []
        for kind in self.kinds:
            gaps.append(len(rows))
            for i, row in enumerate(self[kind]):
                rows.append((f"{kind} {i + 1}", [float(loss) for loss in row]))
        columns = [str(i + 1) for i in range(max([len(row) for _, row in rows] or [0]))]
        return heat_map(title, rows, columns, "nats", gaps[1:])

    def _repr_svg_(self) -> str:
        return self.figure().svg

    def __repr__(self) -> str:
        best = self.ranked()[:1]
        most = "".join(f", most: {each.kind} layer {each.layer} head {each.head}" for each in best)
        return f"<headscope.Importance of {len(self.heads)} heads{most}>"


class Saliency:
    """What each predicted token owes to each token that the model reads: gradient times embedding, or integrated
    gradients, whose sums are changes of the log-probability.

    predicted: the tokens of the target. source_tokens, target_tokens: what the encoder and the decoder read.

    >>> s = open("en-de").saliency("The cat sleeps.", "Die Katze schläft.")
    >>> s.source.shape == (len(s.predicted), len(s.source_tokens))
    True
    """

    def __init__(self, result: Result, json: Mapping[str, Any], steps: int = 1) -> None:
        self._result = result
        self._title = "Saliency: " + ("gradient times embedding" if steps == 1 else "integrated gradients")
        self.predicted: tuple[str, ...] = tuple(json["predicted"])
        self.source_tokens: tuple[str, ...] = tuple(json.get("source", ()))
        self.target_tokens: tuple[str, ...] = tuple(json["target"])

    @property
    def source(self) -> NDArray[np.float64] | None:
        """float64 [predicted, source_tokens], read-only and without a copy; None of a language model."""
        return of_result(self._result, "source") if self.source_tokens else None

    @property
    def target(self) -> NDArray[np.float64]:
        """float64 [predicted, target_tokens], read-only and without a copy."""
        products: NDArray[np.float64] = of_result(self._result, "target")
        return products

    def figure(self, title: str | None = None, side: str | None = None) -> Figure:
        """A heat map with a row for each predicted token.

        side: the columns: "source", or "target", what the decoder reads; by default the source, if there is one.
        """
        of_source = side == "source" if side is not None else bool(self.source_tokens)
        read = self.source if of_source else self.target
        if side not in (None, "source", "target") or read is None:
            sides = '"source" or "target"' if self.source_tokens else '"target"'
            raise InvalidError(f"side must be {sides}, not {side!r}")
        names = self.source_tokens if of_source else self.target_tokens
        rows = [(name, [float(value) for value in row]) for name, row in zip(self.predicted, read)]
        return heat_map(self._title if title is None else title, rows, names, "nats")

    def _repr_svg_(self) -> str:
        return self.figure().svg

    def __repr__(self) -> str:
        return f"<headscope.Saliency of {len(self.predicted)} predictions>"
