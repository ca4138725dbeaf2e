"""The options of each method, for type checkers and editors alone; headscope.keys() has their meanings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Union

Token = Union[str, int]


class TranslateOptions(TypedDict, total=False):
    """Of Translator.translate() and its kin."""

    client: str
    priority: int
    timeout: float
    prefix: str
    alignment: bool
    alignment_layer: int
    alignment_heads: Sequence[int]
    alignment_pieces: bool
    number: int
    beam: int
    length_penalty: float
    length_penalty_form: str
    max_extra: int
    max_length: int
    max_factor: float
    force_end: bool
    allow_unknown: bool
    bad_words: Sequence[Sequence[Token]]
    source_language: str
    target_language: str
    n_best: int
    n_best_duplicates: bool
    no_repeat_ngram: int
    min_length: int
    sample: bool
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    seed: int
    stop: Sequence[str]
    alternatives: int
    iterations: int
    lengths: int
    split_longer_than: int
    batch_tokens: int
    early_stopping: str | bool
    ends: Sequence[Token]
    allow_start: bool
    min_total: int
    no_source_ngram: int
    bad_first: Sequence[Token]
    repetition_penalty: float
    source_repetition_penalty: float
    sequence_bias: Sequence[tuple[Sequence[Token], float]]
    end_growth: tuple[int, float]
    renormalize: bool


class CompleteOptions(TypedDict, total=False):
    """Of LanguageModel.complete() and its kin."""

    client: str
    priority: int
    timeout: float
    number: int
    beam: int
    length_penalty: float
    length_penalty_form: str
    max_length: int
    force_end: bool
    allow_unknown: bool
    bad_words: Sequence[Sequence[Token]]
    n_best: int
    n_best_duplicates: bool
    no_repeat_ngram: int
    min_length: int
    sample: bool
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    seed: int
    stop: Sequence[str]
    batch_tokens: int
    early_stopping: str | bool
    ends: Sequence[Token]
    allow_start: bool
    min_total: int
    no_source_ngram: int
    bad_first: Sequence[Token]
    repetition_penalty: float
    source_repetition_penalty: float
    sequence_bias: Sequence[tuple[Sequence[Token], float]]
    end_growth: tuple[int, float]
    renormalize: bool


class FillOptions(TypedDict, total=False):
    """Of MaskedModel.fill()."""

    client: str
    priority: int
    timeout: float
    mask: str
    top: int
    one_by_one: bool


class ScoreOptions(TypedDict, total=False):
    """Of Model.score()."""

    client: str
    priority: int
    timeout: float
    source_language: str
    target_language: str
    batch_tokens: int


class ExploreOptions(TypedDict, total=False):
    """Of Model.attention()."""

    client: str
    priority: int
    timeout: float
    candidates: int
    pads: int
    neurons: bool
    chat: bool
    kind: str
    layer: int
    beam: int
    length_penalty: float
    length_penalty_form: str
    max_extra: int
    max_length: int
    max_factor: float
    force_end: bool
    allow_unknown: bool
    bad_words: Sequence[Sequence[Token]]
    source_language: str
    target_language: str
    no_repeat_ngram: int
    min_length: int
    sample: bool
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    seed: int
    iterations: int
    lengths: int
    early_stopping: str | bool
    ends: Sequence[Token]
    allow_start: bool
    min_total: int
    no_source_ngram: int
    bad_first: Sequence[Token]
    repetition_penalty: float
    source_repetition_penalty: float
    sequence_bias: Sequence[tuple[Sequence[Token], float]]
    end_growth: tuple[int, float]
    renormalize: bool


class RunOptions(TypedDict, total=False):
    """Of Model.run()."""

    client: str
    priority: int
    timeout: float
    candidates: int
    pads: int
    chat: bool
    source_language: str
    target_language: str


class ImportanceOptions(TypedDict, total=False):
    """Of Model.importance()."""

    client: str
    priority: int
    timeout: float
    pads: int
    chat: bool
    source_language: str
    target_language: str


class SaliencyOptions(TypedDict, total=False):
    """Of Model.saliency()."""

    client: str
    priority: int
    timeout: float
    chat: bool
    source_language: str
    target_language: str
