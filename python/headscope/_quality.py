"""BLEU and chrF of translations, as sacreBLEU counts them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union

from ._errors import InvalidError

if TYPE_CHECKING:
    from ._results import Translation

    Line = Union[str, Translation]


def bleu(translations: Iterable[Line], *references: Iterable[str]) -> float:
    """BLEU from 0 to 100 of all lines together, cased, with 13a tokens, as `headscope evaluate` prints.

    translations: texts or results of translate(). references: one or several lists of as many lines. Needs sacreBLEU:
    pip install sacrebleu.
    """
    return float(_sacrebleu().corpus_bleu(*_lines(translations, references)).score)


def chrf(translations: Iterable[Line], *references: Iterable[str]) -> float:
    """chrF2 from 0 to 100, as bleu()."""
    return float(_sacrebleu().corpus_chrf(*_lines(translations, references)).score)


def _lines(translations: Iterable[Line], references: tuple[Iterable[str], ...]) -> tuple[list[str], list[list[str]]]:
    if isinstance(translations, str) or any(isinstance(each, str) for each in references):
        raise TypeError("translations and references must be lists of lines, not a str")
    found = [str(each) for each in translations]
    lists = [list(each) for each in references]
    if not found or not lists:
        raise InvalidError("there must be at least one translation and one list of references")
    for i, each in enumerate(lists):
        if len(each) != len(found):
            raise InvalidError(
                f"{len(found)} translations have {len(each)} references in list {i + 1}: give one for each"
            )
    return found, lists


def _sacrebleu() -> Any:
    from importlib import import_module

    try:
        return import_module("sacrebleu")
    except ImportError:
        raise ImportError("BLEU and chrF need sacreBLEU: pip install sacrebleu") from None
