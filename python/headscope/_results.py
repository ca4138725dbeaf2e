"""What models answer. Each is immutable, and str() of it is its text."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Any, Callable, TypeVar

Answer = TypeVar("Answer", bound="Unread")


class Unread:
    """An answer whose fields may be read later: those that are not there, all at once, when one is first asked for."""

    __slots__ = ("_read",)
    _read: Callable[[], Any] | None

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]


class _Field:
    """Reads a field that is not there. Those that are there come before it."""

    def __init__(self, name: str, default: object) -> None:
        self._name = name
        self._default = default

    def __get__(self, answer: Unread | None, owner: type[Unread]) -> Any:
        if answer is None:
            if self._default is MISSING:
                raise AttributeError(f"type object {owner.__name__!r} has no attribute {self._name!r}")
            return self._default
        read = answer._read
        own = vars(answer)
        if read is not None:
            # Threads that do this at a time all get the objects of the first.
            for name, value in vars(read()).items():
                own.setdefault(name, value)
            _set_read(answer, None)
        return own[self._name]


_set_read = vars(Unread)["_read"].__set__  # also of a frozen class


def unread(form: type[Answer], read: Callable[[], Answer], **known: object) -> Answer:
    """An answer with the fields that are `known`. `read` gives an equal one with all."""
    found = form.__new__(form)
    found.__dict__.update(known)
    _set_read(found, read)
    return found


def _may_be_unread(cls: type[Answer]) -> type[Answer]:
    for each in fields(cls):  # type: ignore[arg-type]
        setattr(cls, each.name, _Field(each.name, each.default))
    return cls


@_may_be_unread
@dataclass(frozen=True)
class Translation(Unread):
    """A translation of a line.

    source: the line. text: its translation; empty if there is a `problem`.
    score: the log-probability over the length penalty, by which a beam search orders. log_probability: natural
        logarithm, of the pieces and the end. token_log_probabilities: of each of `ids`.
    tokens: the pieces. ids: theirs, and that of the end.
    n_best: with the option n_best, all translations, best first, itself among them.
    cut: whether it has reached the maximum length. sentences: into how many the line was split; 0: it was not.
    alignment: with the option alignment, pairs of a word of the source and one of the text, from 0, as cross-attention
        links them.
    top: with the option alternatives, for each of `ids` the likeliest tokens at its place, best first; none where the
        language is given, nor of a line that was split.
    confidence: the geometric mean of the probabilities of the pieces, the end among them; None of an empty line.
    words: each word of the text with the product of the probabilities of its pieces.
    remark: what is worth knowing of the line, such as characters that the model does not know. problem: why there is no
        translation.
    """

    source: str
    text: str
    score: float
    log_probability: float
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    token_log_probabilities: tuple[float, ...]
    n_best: tuple[Translation, ...] = ()
    cut: bool = False
    sentences: int = 0
    alignment: tuple[tuple[int, int], ...] = ()
    top: tuple[tuple[Candidate, ...], ...] = ()
    remark: str = ""
    problem: str = ""
    confidence: float | None = None
    words: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        return self.text


@_may_be_unread
@dataclass(frozen=True)
class Completion(Unread):
    """A continuation of a prompt.

    text: what the model wrote after `prompt`. log_probability: natural logarithm, the sum of token_log_probabilities.
    tokens, ids, token_log_probabilities: of each piece that it wrote, the end among them.
    top: with complete(top=n), for each of `ids` the likeliest tokens at its place, best first.
    confidence, words: as of a Translation.
    end: why it stopped, such as "end", "stop" or "limit". n_best: with the option n_best, all completions, best first.
    problem: why there is none.
    """

    prompt: str
    text: str
    log_probability: float
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    token_log_probabilities: tuple[float, ...]
    end: str
    n_best: tuple[Completion, ...] = ()
    top: tuple[tuple[Candidate, ...], ...] = ()
    problem: str = ""
    confidence: float | None = None
    words: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Score:
    """How probable a text is.

    text: of a language model; else the translation of `source`. log_probability: natural logarithm, the sum of
    token_log_probabilities; of a masked language model, whose pieces are masked one by one, the pseudo-log-likelihood.
    nll: the mean negative log-probability, in nats per token. perplexity: exp(nll). problem: why it has no score.
    """

    source: str
    text: str
    log_probability: float
    nll: float
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    token_log_probabilities: tuple[float, ...]
    problem: str = ""

    @property
    def perplexity(self) -> float:
        """exp(nll)"""
        import math

        return math.exp(self.nll)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Piece:
    """A piece of a text, which stands in text[begin:end], counted in characters as Python does."""

    text: str
    id: int
    begin: int
    end: int
    unknown: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Candidate:
    """What may stand somewhere. pieces: one, or several of a span model. log_probability: natural logarithm.

    text: a word, or of `top` and `next()` the piece.
    """

    text: str
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    log_probability: float

    @property
    def id(self) -> int:
        """Of the first piece."""
        return self.ids[0]

    @property
    def probability(self) -> float:
        """exp(log_probability)"""
        import math

        return math.exp(self.log_probability)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Filled:
    """A text whose masks are filled in. source: with masks. masks: for each, the candidates, best first."""

    source: str
    text: str
    masks: tuple[tuple[Candidate, ...], ...]
    problem: str = ""

    def __str__(self) -> str:
        return self.text
