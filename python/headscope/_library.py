"""Finds and loads libheadscope, and declares its functions (include/headscope/headscope.h)."""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_float,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)

from ._errors import error_of

TYPE_CHECKING = False  # type checkers know better; importing typing takes as long as all the rest
if TYPE_CHECKING:
    from typing import Any

ABI = 2
NAME = "libheadscope.so.0"


class Text(Structure):
    """hs_text"""

    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class Array(Structure):
    """hs_array"""

    _fields_ = [
        ("size", c_uint32),
        ("type", c_int32),
        ("rank", c_int32),
        ("shape", c_int64 * 6),
        ("data", c_void_p),
    ]


class Event(Structure):
    """hs_event"""

    _fields_ = [
        ("size", c_uint32),
        ("kind", c_int32),
        ("input", c_uint64),
        ("kept_bytes", c_uint64),
        ("text", Text),
        ("kept_tokens", c_uint64),
        ("token_count", c_uint64),
        ("tokens", POINTER(c_int32)),
        ("log_probabilities", POINTER(c_double)),
    ]


LOG_FUNCTION = CFUNCTYPE(None, c_void_p, Text)
DONE_FUNCTION = CFUNCTYPE(None, c_void_p)
PROGRESS_FUNCTION = CFUNCTYPE(c_int32, c_void_p, c_uint64, c_uint64, Text)
HOOK_FUNCTION = CFUNCTYPE(c_int32, c_void_p, c_char_p, POINTER(c_float), POINTER(Array))

_OUT = POINTER(c_void_p)  # where a function puts what it gives
_FUNCTIONS: list[tuple[str, Any, list[Any]]] = [
    ("hs_version", c_uint32, []),
    ("hs_about", c_int32, [_OUT, _OUT]),
    ("hs_devices", c_int32, [c_void_p, _OUT, _OUT]),
    ("hs_models", c_int32, [c_void_p, _OUT, _OUT]),
    ("hs_options_new", c_void_p, []),
    ("hs_options_free", None, [c_void_p]),
    ("hs_options_set_json", c_int32, [c_void_p, c_char_p, Text, _OUT]),
    ("hs_options_keys", c_int32, [_OUT, _OUT]),
    ("hs_options_patch", c_int32, [c_void_p, c_char_p, POINTER(Array), c_int64, c_int64, _OUT]),
    ("hs_options_hook", c_int32, [c_void_p, c_char_p, HOOK_FUNCTION, c_void_p, _OUT]),
    ("hs_engine_open", c_int32, [c_uint32, c_void_p, LOG_FUNCTION, c_void_p, _OUT, _OUT]),
    ("hs_engine_drain", c_int32, [c_void_p, c_int64, _OUT]),
    ("hs_engine_close", None, [c_void_p]),
    ("hs_engine_statistics", c_int32, [c_void_p, _OUT, _OUT]),
    ("hs_model_open", c_int32, [c_void_p, c_void_p, c_size_t, c_void_p, _OUT, _OUT]),
    ("hs_model_info", c_int32, [c_void_p, _OUT, _OUT]),
    ("hs_model_unload", c_int32, [c_void_p, _OUT]),
    ("hs_model_load", c_int32, [c_void_p, _OUT]),
    ("hs_model_close", None, [c_void_p]),
    ("hs_submit", c_int32, [c_void_p, c_int32, c_void_p, c_void_p, c_size_t, c_void_p, _OUT, _OUT]),
    ("hs_request_wait", c_int32, [c_void_p, c_int64, _OUT, _OUT]),
    ("hs_request_next", c_int32, [c_void_p, c_int64, POINTER(Event), _OUT]),
    ("hs_request_cancel", None, [c_void_p]),
    ("hs_request_on_done", c_int32, [c_void_p, DONE_FUNCTION, c_void_p, _OUT]),
    ("hs_request_free", None, [c_void_p]),
    ("hs_result_count", c_size_t, [c_void_p]),
    ("hs_result_choices", c_size_t, [c_void_p, c_size_t]),
    ("hs_result_text", Text, [c_void_p, c_size_t, c_size_t]),
    ("hs_result_number", c_double, [c_void_p, c_size_t, c_size_t, c_int32]),
    ("hs_result_array", c_int32, [c_void_p, c_size_t, c_size_t, c_char_p, POINTER(Array), _OUT]),
    ("hs_result_arrays", Text, [c_void_p, c_size_t, c_size_t]),
    ("hs_result_problem", Text, [c_void_p, c_size_t]),
    ("hs_result_status", c_int32, [c_void_p, c_size_t]),
    ("hs_result_record", c_int32, [c_void_p, c_size_t, _OUT, _OUT]),
    ("hs_result_json", c_int32, [c_void_p, _OUT, _OUT]),
    ("hs_result_free", None, [c_void_p]),
    ("hs_record_tokens", c_size_t, [c_void_p, c_int32]),
    ("hs_record_token", Text, [c_void_p, c_int32, c_size_t]),
    ("hs_record_weights", c_int32, [c_void_p, c_int32, c_int32, POINTER(Array), _OUT]),
    ("hs_record_derive", c_int32, [c_void_p, c_char_p, c_void_p, _OUT, _OUT]),
    ("hs_record_statistics", c_int32, [c_void_p, _OUT, _OUT]),
    ("hs_record_figure", c_int32, [c_void_p, c_void_p, c_char_p, _OUT, _OUT]),
    ("hs_record_json", c_int32, [c_void_p, _OUT, _OUT]),
    ("hs_record_free", None, [c_void_p]),
    ("hs_training_start", c_int32, [Text, c_void_p, _OUT, _OUT]),
    ("hs_training_next", c_int32, [c_void_p, c_int64, _OUT, _OUT]),
    ("hs_training_stop", None, [c_void_p]),
    ("hs_training_free", None, [c_void_p]),
    ("hs_conform", c_int32, [c_void_p, PROGRESS_FUNCTION, c_void_p, _OUT, _OUT]),
    ("hs_buffer_bytes", Text, [c_void_p]),
    ("hs_buffer_free", None, [c_void_p]),
    ("hs_error_status", c_int32, [c_void_p]),
    ("hs_error_message", Text, [c_void_p]),
    ("hs_error_retry_after", c_double, [c_void_p]),
    ("hs_error_free", None, [c_void_p]),
]


def _load() -> ctypes.CDLL:
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib", NAME)
    wanted = os.environ.get("HEADSCOPE_LIBRARY", "")
    failure: OSError | None = None
    # A file that is named is used or refused; the system's loader looks for the last one.
    for place in [wanted] if wanted else [own, NAME]:
        if place is own and not os.path.exists(own):
            continue
        try:
            return ctypes.CDLL(place)
        except OSError as problem:
            failure = problem
    looked = [f"HEADSCOPE_LIBRARY={wanted}"] if wanted else [own, f"{NAME} of the system"]
    raise ImportError(
        "headscope cannot load its library ({}). Looked for:\n  {}\n"
        "Install the wheel again, or set HEADSCOPE_LIBRARY to a {}.".format(failure, "\n  ".join(looked), NAME)
    )


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, result, arguments in _FUNCTIONS:
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(
                f"{library._name} is too old for this package: it has no {name}. Install a newer one."
            ) from None
        function.restype = result
        function.argtypes = arguments
    return library


lib: Any = _declared(_load())


def version() -> str:
    """Of the library, such as "0.1.0"."""
    number: int = lib.hs_version()
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}"


# Of Python itself: one call each, in the place of several.
address_of: Any = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object)(("PyBytes_AsString", ctypes.pythonapi))
_decode: Any = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, ctypes.c_ssize_t, c_char_p)(
    ("PyUnicode_DecodeUTF8", ctypes.pythonapi)
)


def text_at(text: Text) -> str:
    """A text that is lent, as a str. Bytes that are no UTF-8 become U+FFFD."""
    found: str = _decode(text.data, text.size, b"replace")
    return found


def bytes_at(text: Text) -> bytes:
    """A copy of what is lent."""
    return ctypes.string_at(text.data, text.size) if text.size else b""


def lent(data: bytes) -> Text:
    """For a call: the caller keeps `data`."""
    return Text(ctypes.cast(c_char_p(data), c_void_p), len(data))


def failure(status: int, error: c_void_p) -> Exception:
    """The exception for a call that failed; frees `error`."""
    message = text_at(lib.hs_error_message(error))
    seconds: float = lib.hs_error_retry_after(error)
    lib.hs_error_free(error)
    return error_of(status, message, seconds)


def check(function: Any, *arguments: Any) -> int:
    """Calls a function that reports errors in its last argument, and raises them. Gives HS_OK, HS_AGAIN or HS_END."""
    error = c_void_p()
    status: int = function(*arguments, ctypes.byref(error))
    if status > 2:
        raise failure(status, error)
    return status


def given(function: Any, *arguments: Any) -> c_void_p:
    """What a function gives in the argument before the last one."""
    place = c_void_p()
    check(function, *arguments, ctypes.byref(place))
    return place


def take(buffer: c_void_p) -> bytes:
    """The bytes of an hs_buffer, which is freed."""
    try:
        return bytes_at(lib.hs_buffer_bytes(buffer))
    finally:
        lib.hs_buffer_free(buffer)


def new_array() -> Array:
    array = Array()
    array.size = ctypes.sizeof(Array)
    return array


def of_another(process: int) -> str:
    """Why a handle of `process`, another one, cannot be used here."""
    return (
        f"this object belongs to process {process}, which forked this one: open the model in the child, or start it "
        'with multiprocessing.get_context("spawn")'
    )
