"""The options of each method, for type checkers and editors alone; headscope.keys() has their meanings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Union

Token = Union[str, int]


class Terms(TypedDict, total=False):
    """Of every method that a device works for."""

    client: str
    priority: int
    timeout: float


class SearchOptions(Terms, total=False):
    """Of every method that writes or looks at what is written."""

    beam: int
    length_penalty: float
    length_penalty_form: str
    max_length: int
    force_end: bool
    allow_unknown: bool
    bad_words: Sequence[Sequence[Token]]
    no_repeat_ngram: int
    min_length: int
    sample: bool
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    seed: int
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


class WritingOptions(SearchOptions, total=False):
    """Of translating and completing."""

    number: int
    n_best: int
    n_best_duplicates: bool
    stop: str | Sequence[str]
    batch_tokens: int


class TranslateOptions(WritingOptions, total=False):
    """Of Translator.translate() and its kin."""

    prefix: str
    alignment: bool
    alignment_layer: int
    alignment_heads: Sequence[int]
    alignment_pieces: bool
    max_extra: int
    max_factor: float
    source_language: str
    target_language: str
    task_prefix: str
    alternatives: int
    iterations: int
    lengths: int
    split_longer_than: int


class CompleteOptions(WritingOptions, total=False):
    """Of LanguageModel.complete() and its kin."""


class FillOptions(Terms, total=False):
    """Of MaskedModel.fill()."""

    mask: str
    top: int
    one_by_one: bool


class ScoreOptions(Terms, total=False):
    """Of Model.score()."""

    source_language: str
    target_language: str
    task_prefix: str
    batch_tokens: int


class ExploreOptions(SearchOptions, total=False):
    """Of Model.attention()."""

    candidates: int
    pads: int
    neurons: bool
    chat: bool
    kind: str
    layer: int
    max_extra: int
    max_factor: float
    source_language: str
    target_language: str
    task_prefix: str
    iterations: int
    lengths: int


class RunOptions(Terms, total=False):
    """Of Model.run()."""

    candidates: int
    pads: int
    chat: bool
    source_language: str
    target_language: str
    task_prefix: str


class ImportanceOptions(Terms, total=False):
    """Of Model.importance()."""

    pads: int
    chat: bool
    source_language: str
    target_language: str
    task_prefix: str


class SaliencyOptions(Terms, total=False):
    """Of Model.saliency()."""

    chat: bool
    source_language: str
    target_language: str
    task_prefix: str


class EmbedOptions(Terms, total=False):
    """Of Model.embed()."""

    pooling: str
    source_language: str
    target_language: str
    task_prefix: str
    batch_tokens: int
