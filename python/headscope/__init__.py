"""Headscope: translation, language models and the attention of every head.

>>> import headscope as hs
>>> with hs.open("en-de") as model:
...     print(model.translate("The weather is nice today."))
...     attention = model.attention("The cat sleeps.")
...     print(attention["encoder"].shape)
Heute ist das Wetter schön.
(6, 8, 6, 6)

docs/python.md is a guide.
"""

from __future__ import annotations

from . import _library
from ._errors import (
    BusyError,
    CancelledError,
    ClosedError,
    DeadlineError,
    DeviceError,
    Error,
    ForkedError,
    InternalError,
    InvalidError,
    NotFoundError,
    OutOfMemoryError,
    UnsupportedError,
)

TYPE_CHECKING = False  # type checkers know better; importing typing takes as long as all the rest
if TYPE_CHECKING:
    from typing import Any

    from ._attention import Attention, Head, WordAttention
    from ._conform import Conformance, FailedCase, conform
    from ._edits import Edit, off, pin, uniform, unmasked
    from ._engine import Engine
    from ._figures import Figure
    from ._importance import HeadImportance, Importance, Saliency
    from ._language_models import LanguageModel, MaskedModel
    from ._models import Model
    from ._open import Device, ModelInfo, Option, about, devices, keys, models, open
    from ._quality import bleu, chrf
    from ._results import Candidate, Completion, Filled, Piece, Score, Translation
    from ._run import Patch, Run, States, Step, transformer_lens_names
    from ._streams import AsyncStream, Stream, Written
    from ._training import Report, Trainer
    from ._translators import Translator
    from ._vectors import Vectors, cosines

__version__ = _library.version()

# Imported when they are asked for, so that importing the package takes little time.
_PLACES: dict[str, str] = {
    name: module
    for module, names in {
        "_attention": "Attention Head WordAttention",
        "_conform": "Conformance FailedCase conform",
        "_edits": "Edit off pin uniform unmasked",
        "_engine": "Engine",
        "_figures": "Figure",
        "_importance": "HeadImportance Importance Saliency",
        "_language_models": "LanguageModel MaskedModel",
        "_models": "Model",
        "_open": "Device ModelInfo Option about devices keys models open",
        "_quality": "bleu chrf",
        "_results": "Candidate Completion Filled Piece Score Translation",
        "_run": "Patch Run States Step transformer_lens_names",
        "_streams": "AsyncStream Stream Written",
        "_training": "Report Trainer",
        "_translators": "Translator",
        "_vectors": "Vectors cosines",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'headscope' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module("." + _PLACES[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "AsyncStream",
    "Attention",
    "BusyError",
    "CancelledError",
    "Candidate",
    "ClosedError",
    "Completion",
    "Conformance",
    "DeadlineError",
    "Device",
    "DeviceError",
    "Edit",
    "Engine",
    "Error",
    "FailedCase",
    "Figure",
    "Filled",
    "ForkedError",
    "Head",
    "HeadImportance",
    "Importance",
    "InternalError",
    "InvalidError",
    "LanguageModel",
    "MaskedModel",
    "Model",
    "ModelInfo",
    "NotFoundError",
    "Option",
    "OutOfMemoryError",
    "Patch",
    "Piece",
    "Report",
    "Run",
    "Saliency",
    "Score",
    "States",
    "Step",
    "Stream",
    "Trainer",
    "Translation",
    "Translator",
    "UnsupportedError",
    "Vectors",
    "WordAttention",
    "Written",
    "__version__",
    "about",
    "bleu",
    "chrf",
    "conform",
    "cosines",
    "devices",
    "keys",
    "models",
    "off",
    "open",
    "pin",
    "transformer_lens_names",
    "uniform",
    "unmasked",
]
