"""Whether devices compute what they should."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import Any, Callable

from ._engine import Devices, device_names, environment
from ._errors import OK
from ._library import PROGRESS_FUNCTION, failure, lib, take, text_at
from ._options import NativeOptions, texts_of
from ._requests import SLICE_MS

# Called with the number of groups that are done, of all groups, and what runs now.
Progress = Callable[[int, int, str], object]

_STOP = 7  # HS_CANCELLED, or any other status that is not HS_OK


@dataclass(frozen=True)
class FailedCase:
    """A case that a device got wrong. command: what runs it again. complaints: about its op, precision and path."""

    device: str
    op: str
    precision: str
    path: str
    case: str
    command: str
    complaints: tuple[str, ...]


@dataclass(frozen=True)
class Conformance:
    """What a check of devices found. str() of it is the table that `headscope conform` prints.

    passed: whether something ran and all was right. counts: of "results" (an op in a precision by a path), "cases",
    "runs", "failed_results" and "failed_runs". failures: in words; "" if there are none. failed: each case. json: the
    whole report, as of `headscope conform --json`.
    """

    passed: bool
    devices: tuple[str, ...]
    counts: Mapping[str, int]
    failures: str
    failed: tuple[FailedCase, ...]
    text: str
    json: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        said = "passed" if self.passed else self.failures
        return "<headscope.Conformance of {}: {}>".format(", ".join(self.devices), said)


def conform(
    devices: Devices = "auto",
    *,
    ops: str | Sequence[str] = (),
    dtypes: str | Sequence[str] = (),
    paths: str | Sequence[str] = (),
    case: str = "",
    part: str = "1/1",
    quick: bool = False,
    speed: bool = True,
    threads: int = 0,
    settings: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Conformance:
    """Checks every op of devices against a double-precision oracle: seconds for an op, minutes for a GPU.

    A device that fails raises nothing: see `passed`. Ctrl-C ends the check after the current case.

    devices: as of Engine; "auto" is HEADSCOPE_DEVICE, else every GPU.
    ops, dtypes, paths, case: only these ops or families, precisions, code paths, and cases with this text in the name.
    part: "2/8" is the second of eight parts, for checks that share the work.
    quick: without large cases and code paths that are not named. speed: whether ops are timed, too.
    progress: called with (done, all, text), on another thread.

    >>> found = conform("cpu", ops=["masked_softmax"], quick=True, speed=False)
    >>> found.passed, found.counts["failed_runs"]
    (True, 0)
    """
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function, not {type(progress).__name__}")
    names = device_names(devices)
    options = NativeOptions(
        {
            "devices": list(names) if names else None,
            "ops": texts_of(ops, "ops") or None,
            "dtypes": texts_of(dtypes, "dtypes") or None,
            "paths": texts_of(paths, "paths") or None,
            "case": case or None,
            "part": part,
            "quick": quick or None,
            "no_speed": None if speed else True,
            "threads": threads or None,
            "settings": environment() if settings is None else dict(settings),
        }
    )
    check = _Check(options, progress)
    check.start()
    try:
        while check.is_alive():
            check.join(SLICE_MS / 1000)
    except BaseException:
        check.stopped = True
        raise
    return _conformance(json.loads(check.report()))


class _Check(threading.Thread):
    """A thread of its own, so that Ctrl-C need not wait for a case. The interpreter's end waits for it."""

    def __init__(self, options: NativeOptions, progress: Progress | None) -> None:
        super().__init__(name="headscope-conform")
        self.stopped = False
        self._options = options
        self._progress = progress
        self._failure: BaseException | None = None
        self._report = b""

    def run(self) -> None:
        told = PROGRESS_FUNCTION(self._told)
        place, error = c_void_p(), c_void_p()
        try:
            with self._options as options:
                status: int = lib.hs_conform(options, told, None, byref(place), byref(error))
            if status != OK:
                raise failure(status, error)
            self._report = take(place)
        except BaseException as problem:
            self._failure = self._failure or problem

    def _told(self, _: Any, done: int, all: int, doing: Any) -> int:
        try:
            if self._progress is not None and not self.stopped:
                self._progress(done, all, text_at(doing))
        except BaseException as problem:
            self._failure = self._failure or problem
            self.stopped = True
        return _STOP if self.stopped else OK

    def report(self) -> bytes:
        if self._failure is not None:
            raise self._failure
        return self._report


def _conformance(found: Mapping[str, Any]) -> Conformance:
    failed = tuple(
        FailedCase(
            device["id"],
            result["op"],
            result["precision"],
            result["path"],
            each["case"],
            each["repeat"],
            tuple(result["complaints"]),
        )
        for device in found["devices"]
        for result in device["results"]
        for each in result.get("failed_cases", ())
    )
    report = {key: value for key, value in found.items() if key not in ("counts", "failures", "text")}
    devices = tuple(each["id"] for each in found["devices"])
    return Conformance(found["passed"], devices, found["counts"], found["failures"], failed, found["text"], report)
