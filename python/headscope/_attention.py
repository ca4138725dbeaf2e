"""What the heads of a model attend to in a text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from ctypes import byref
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._arrays import numpy, view
from ._errors import Error, InvalidError, UnsupportedError
from ._figures import Figure, figure_of_record, frame_of
from ._handles import Record
from ._library import Array, check, given, lib, new_array, take, text_at

if TYPE_CHECKING:
    from ._arrays import Float32

KINDS = ("encoder", "decoder", "cross")
_SOURCE, _TARGET_IN, _TARGET_OUT = 0, 1, 2


@dataclass(frozen=True)
class Head:
    """What a head does on average over the queries of a text. Layers and heads count from 1.

    entropy: of its weights, in bits. distance, offset: |key - query| and key - query in tokens, weighted. sharpness:
    the largest weight. diagonal: the share on the keys before, at and after the query's position. on_end: the share on
    the end of the sentence. strongest: the largest weight of all, at strongest_query and strongest_key, from 0.
    previous, induction, duplicate: scores of docs/figures.md; None where they mean nothing. off: whether it was
    switched off, when all others are NaN.
    """

    kind: str
    layer: int
    head: int
    entropy: float = float("nan")
    distance: float = float("nan")
    offset: float = float("nan")
    sharpness: float = float("nan")
    diagonal: float = float("nan")
    on_end: float = float("nan")
    strongest: float = float("nan")
    strongest_query: int = -1
    strongest_key: int = -1
    previous: float | None = None
    induction: float | None = None
    duplicate: float | None = None
    off: bool = False


@dataclass(frozen=True)
class WordAttention:
    """Attention between words instead of pieces: summed over a key's pieces, averaged over a query's.

    weights: float64 [heads, queries, keys].
    """

    queries: tuple[str, ...]
    keys: tuple[str, ...]
    weights: Any


class Attention:
    """The attention of all heads for one text.

    Index it by a kind, "encoder", "decoder" or "cross", to get a float32 array [layers, heads, queries, keys] whose
    rows add up to 1. It is read-only, over the library's memory without a copy where the layers of a kind lie one
    behind the other there, and otherwise a stack that is made once; `layer()` never copies. Indices of arrays count
    from 0, `layer` and `head` from 1, as in the paper's figures.

    output: what the model wrote, or the target that it was given. log_probability: of that, natural logarithm.

    >>> a = open("en-de").attention("The cat sleeps.")
    >>> a.kinds
    ('encoder', 'decoder', 'cross')
    >>> a["cross"].shape == (3, 8, len(a.queries("cross")), len(a.keys("cross")))
    True
    >>> a.source
    ('▁The', '▁cat', '▁sleep', 's', '.', '<EOS>')
    """

    def __init__(
        self, record: Record, layers: Mapping[str, int], output: str = "", log_probability: float = float("nan")
    ) -> None:
        self._record = record
        self._most = dict(layers)  # layers of the model
        self._layers: dict[str, tuple[int, ...]] = {}
        self._stacks: dict[str, Any] = {}
        self.output = output
        self.log_probability = log_probability

    # ---- Tokens

    def _tokens(self, side: int) -> tuple[str, ...]:
        pointer = self._record.pointer
        return tuple(text_at(lib.hs_record_token(pointer, side, i)) for i in range(lib.hs_record_tokens(pointer, side)))

    @property
    def source(self) -> tuple[str, ...]:
        """The tokens that the encoder reads; of a masked language model, its text."""
        return self._tokens(_SOURCE)

    @property
    def target_in(self) -> tuple[str, ...]:
        """The tokens that the decoder reads; of a causal language model, its text."""
        return self._tokens(_TARGET_IN)

    @property
    def target_out(self) -> tuple[str, ...]:
        """The token that is predicted at each of the same places."""
        return self._tokens(_TARGET_OUT)

    def queries(self, kind: str) -> tuple[str, ...]:
        """Names of the rows of a kind: of cross-attention, the token that is predicted there."""
        return {"encoder": self.source, "decoder": self.target_in, "cross": self.target_out}[_kind(kind)]

    def keys(self, kind: str) -> tuple[str, ...]:
        """Names of the columns of a kind."""
        return self.target_in if _kind(kind) == "decoder" else self.source

    # ---- Weights

    def _lent(self, kind: str, layer: int) -> Array:
        array = new_array()
        check(lib.hs_record_weights, self._record.pointer, KINDS.index(kind), layer, byref(array))
        return array

    def recorded(self, kind: str) -> tuple[int, ...]:
        """The layers of a kind that were recorded, from 1."""
        if kind not in self._layers:
            found = []
            for layer in range(1, self._most.get(_kind(kind), 0) + 1):
                try:
                    self._lent(kind, layer)
                    found.append(layer)
                except Error:
                    pass
            self._layers[kind] = tuple(found)
        return self._layers[kind]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention that were recorded."""
        return tuple(kind for kind in KINDS if self.recorded(kind))

    def layer(self, kind: str, layer: int) -> Float32:
        """The weights of a layer, from 1: float32 [heads, queries, keys], read-only, never copied."""
        weights: Float32 = view(self._lent(_kind(kind), layer), self._record)
        return weights

    def __getitem__(self, kind: str) -> Float32:
        if kind not in self._stacks:
            layers = self.recorded(kind)
            if not layers:
                raise KeyError("this text has no attention {!r}, but {}".format(kind, ", ".join(self.kinds)))
            self._stacks[kind] = self._stacked(kind, layers)
        stack: Float32 = self._stacks[kind]
        return stack

    def _stacked(self, kind: str, layers: Sequence[int]) -> Any:
        try:
            array = self._lent(kind, 0)
            if array.rank == 4:
                return view(array, self._record)
        except Error:
            pass  # they do not lie one behind the other
        stack = numpy().stack([self.layer(kind, layer) for layer in layers])
        stack.flags.writeable = False
        return stack

    def __contains__(self, kind: object) -> bool:
        return kind in self.kinds

    # ---- Computed from it

    def _derived(self, how: str, other: Attention | None = None) -> Attention:
        record = given(
            lib.hs_record_derive, self._record.pointer, how.encode(), None if other is None else other._record.pointer
        )
        return Attention(Record(record), self._most, self.output, self.log_probability)

    def rollout(self) -> Attention:
        """How much of each token reaches each position after each layer (Abnar and Zuidema, 2020): one head a layer."""
        return self._derived("rollout")

    def mean(self, over: str = "heads") -> Attention:
        """The mean over "heads", one head a layer, or over "layers", one layer a kind."""
        if over not in ("heads", "layers"):
            raise InvalidError(f'the mean is over "heads" or "layers", not {over!r}')
        return self._derived("mean of " + over)

    def __sub__(self, other: Attention) -> Attention:
        """The difference of two records of the same tokens, such as with and without an edit."""
        if not isinstance(other, Attention):
            return NotImplemented
        return self._derived("difference", other)

    def heads(self) -> list[Head]:
        """What each head does, for a table: `pandas.DataFrame(a.heads())`."""
        names = set(Head.__dataclass_fields__)
        found = json.loads(take(given(lib.hs_record_statistics, self._record.pointer)))
        return [Head(**{key: value for key, value in each.items() if key in names}) for each in found]

    def words(self, kind: str, layer: int) -> WordAttention:
        """The weights of a layer between words instead of pieces."""
        shown = json.loads(self.figure(layer, kind).json())
        weights = numpy().array([head["weights"] for head in shown["heads"]])
        return WordAttention(tuple(shown["queries"]), tuple(shown["keys"]), weights)

    # ---- Pictures

    def figure(
        self,
        layer: int | None = None,
        kind: str | None = None,
        heads: Sequence[int] = (),
        word: str | Sequence[str] | None = None,
        *,
        dark: bool = False,
        **options: object,
    ) -> Figure:
        """The paper's figure of a layer: by default the fifth or the last.

        heads: from 1; by default all. word: only the lines of these; "its:2" is the second "its". `options` are those
        of `headscope attention`: pieces, special, overview, least, top, numbers, palette, title and more (`keys()`).
        """
        words = [word] if isinstance(word, str) else word
        return self._figure(dark, options, kind=kind, layer=layer, heads=list(heads) or None, words=words)

    def matrix(
        self,
        layer: int | None = None,
        head: int = 1,
        kind: str | None = None,
        *,
        dark: bool = False,
        **options: object,
    ) -> Figure:
        """A head as a heat map with a row for each query."""
        return self._figure(dark, options, kind=kind, layer=layer, heads=[head], matrix=True)

    def grid(self, kind: str | None = None, sort: str = "model", *, dark: bool = False, **options: object) -> Figure:
        """All heads, small. sort: "model", "entropy", "distance", "sharpness", "diagonal" and so on."""
        return self._figure(dark, options, kind=kind, sort=sort, all_heads=True)

    def _figure(self, dark: bool, options: Mapping[str, object], **own: object) -> Figure:
        kind = own["kind"]
        if kind is not None:
            _kind(kind)
        theme = {"theme": "dark"} if dark else {}
        return figure_of_record(self._record, {**own, **theme, **options})

    def page(self, **options: object) -> str:
        """All heads of all layers as one HTML page for a browser, which refers to no other file. With
        `attention(text, neurons=True)` it also shows queries and keys. options: title, caption, palette, pieces."""
        return self._figure(False, {**options, "page": True}, kind=None).html()

    def _repr_html_(self) -> str:
        return frame_of(self.page())

    # ---- For other programs

    def to_json(self) -> str:
        """The whole record, as `headscope attention --all-heads -o FILE.json` writes it."""
        return take(given(lib.hs_record_json, self._record.pointer)).decode()

    def as_transformers(self, return_tensors: str = "np") -> dict[str, tuple[Any, ...]]:
        """The attention with the names and shapes of Hugging Face's outputs: for each layer [1, heads, queries, keys].

        A translation model has "encoder_attentions", "decoder_attentions" and "cross_attentions", a language model
        "attentions". return_tensors: "np", or "pt" for PyTorch, which BertViz needs:

            outputs = a.as_transformers("pt")
            bertviz.head_view(
                encoder_attention=outputs["encoder_attentions"], encoder_tokens=list(a.source),
                decoder_attention=outputs["decoder_attentions"], decoder_tokens=list(a.target_in),
                cross_attention=outputs["cross_attentions"], include_layers=[0, 1, 2],
            )
        """
        if return_tensors not in ("np", "pt"):
            raise InvalidError(f'return_tensors must be "np" or "pt", not {return_tensors!r}')
        kinds = self.kinds
        if not kinds:
            raise UnsupportedError("the record has no attention")
        alone = len(kinds) == 1
        return {
            "attentions" if alone else kind + "_attentions": tuple(
                _tensor(self.layer(kind, layer), return_tensors) for layer in self.recorded(kind)
            )
            for kind in kinds
        }

    def __repr__(self) -> str:
        shapes = [f"{kind}: {len(self.recorded(kind))} layers" for kind in self.kinds]
        return "<headscope.Attention of {}>".format(", ".join(shapes) or "nothing")


def _tensor(weights: Any, return_tensors: str) -> Any:
    if return_tensors == "np":
        return weights[None]
    torch = import_module("torch")

    return torch.tensor(weights)[None]  # a copy: tensors are never read-only


def _kind(kind: object) -> str:
    if kind not in KINDS:
        raise InvalidError("the kind of attention must be one of {}, not {!r}".format(", ".join(KINDS), kind))
    return str(kind)
