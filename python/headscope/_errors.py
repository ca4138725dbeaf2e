"""The exceptions of this package, one for each status of the C library."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know better; importing typing takes as long as all the rest
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn


class Error(RuntimeError):
    """The base of all exceptions of this package.

    `results` has what was done before, with one entry for each input, if a list was asked for and some inputs failed.
    """

    results: Sequence[Any] = ()


class InvalidError(Error, ValueError):
    """An argument, an option or a text is wrong."""


class NotFoundError(Error, FileNotFoundError):
    """There is no such model, site or file."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class UnsupportedError(Error):
    """The model or the device does not do this."""


class BusyError(Error):
    """The engine has as much work as it takes. There is room again in about `seconds`."""

    seconds: float = 0.0


class CancelledError(Error):
    """The request was cancelled, or its model or engine was closed."""


class DeadlineError(Error, TimeoutError):
    """The request took longer than its `timeout`."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class OutOfMemoryError(Error, MemoryError):
    """The device or the host has too little memory."""


class DeviceError(Error):
    """There is no such device, or it was lost or fails."""


class ClosedError(Error):
    """The model or the engine is closed."""


class ForkedError(Error):
    """The object belongs to the process before `os.fork()`: open a model in the child."""


class InternalError(Error):
    """A bug of the library: please report it."""


OK = 0
AGAIN = 1
END = 2
INVALID = 3
FAILED = 13

_CLASSES: dict[int, type[Error]] = {
    INVALID: InvalidError,
    4: NotFoundError,
    5: UnsupportedError,
    6: BusyError,
    7: CancelledError,
    8: DeadlineError,
    9: OutOfMemoryError,
    10: DeviceError,
    11: ClosedError,
    12: ForkedError,
    FAILED: Error,
    14: InternalError,
}


# What Python calls the functions and kinds that the library's messages name.
_NAMES = {
    "HS_ATTEND": "attention()",
    "HS_COMPLETE": "complete()",
    "HS_DETOKENIZE": "detokenize()",
    "HS_EMBED": "embed()",
    "HS_FILL": "fill()",
    "HS_IMPORTANCE": "importance()",
    "HS_RUN": "run()",
    "HS_SALIENCY": "saliency()",
    "HS_SCORE": "score()",
    "HS_TOKENIZE": "tokenize()",
    "HS_TRANSLATE": "translate()",
    "hs_conform": "conform()",
    "hs_devices": "devices()",
    "hs_engine_open": "Engine()",
    "hs_model_open": "open()",
    "hs_models": "models()",
    "hs_options_keys": "headscope.keys()",
    "hs_record_figure": "figure()",
    "hs_training_start": "Trainer()",
}


def _in_python(message: str) -> str:
    import re

    names = r"(?<![\w/.'\"-])(HS_[A-Z]+|hs_[a-z_]+)\b(?:\(\))?"  # not within what was quoted
    return re.sub(names, lambda found: _NAMES.get(found[1], found[0]), message)


def error_of(status: int, message: str, retry_after: float = 0.0) -> Error:
    """The exception for a status of the C library."""
    error = _CLASSES.get(status, InternalError)(_in_python(message) or f"status {status}")
    if isinstance(error, BusyError):
        error.seconds = retry_after if 0.0 <= retry_after < 1e9 else 0.0
    return error


def raise_closed(what: str) -> NoReturn:
    raise ClosedError(f"the {what} is closed")
