"""Small trainings."""

from __future__ import annotations

import atexit
import json
import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, Union

from ._closing import Closing
from ._engine import environment
from ._errors import AGAIN, END, InvalidError
from ._handles import Handle
from ._library import failure, given, lent, lib, take
from ._options import NativeOptions
from ._requests import SLICE_MS

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Report:
    """A line of a training's log.

    kind: "train", "validation", "model", .. step: from 1. nll: in nats per token. loss: with label smoothing.
    values: all of the line (docs/training.md), such as values["learning_rate"].
    """

    kind: str
    step: int
    values: Mapping[str, Any]

    @property
    def nll(self) -> float | None:
        """In nats per token."""
        return self.values.get("nll")

    @property
    def loss(self) -> float | None:
        """What is minimised, per token."""
        return self.values.get("loss")


class Trainer(Closing):
    """A training in a thread of its own, with a device of its own: an iterable of its reports.

    output: the folder of the run. source and target: files of sentences and their translations; text: instead, a file
    for a language model. config: the dict or the file of a configuration (docs/training.md); with files of sentences or
    text, values that replace some of the configuration that their amount chooses. device: "cpu", "cuda", ..
    resume: go on from the newest checkpoint in `output`. options: from (as from_), data, task, source_language,
    target_language.

        with hs.Trainer("out/my", source="my.en", target="my.de", config={"training": {"steps": 2000}}) as trainer:
            for report in trainer:
                print(report.step, report.nll)
        model = trainer.model()
    """

    def __init__(
        self,
        output: Path,
        *,
        source: Path | None = None,
        target: Path | None = None,
        text: Path | None = None,
        config: Mapping[str, Any] | Path | None = None,
        device: str | None = None,
        threads: int = 0,
        resume: bool = False,
        from_: Path | None = None,
        **options: Any,
    ) -> None:
        self.output = os.path.abspath(os.fspath(output))
        self.notes: list[str] = []
        self.ended: Mapping[str, Any] = {}
        chosen = {
            **options,
            "output": self.output,
            "source": source,
            "target": target,
            "text": text,
            "device": device or os.environ.get("HEADSCOPE_DEVICE") or None,
            "threads": threads or None,
            "resume": resume or None,
            "from": from_,
            "settings": environment(),
        }
        with NativeOptions(chosen) as native:
            pointer = given(lib.hs_training_start, lent(_text_of(config)), native)
        self._handle = Handle(pointer, lib.hs_training_free, "training")
        with _lock:
            _trainers.add(self)

    def __iter__(self) -> Iterator[Report]:
        while True:
            report = self._next()
            if report is None:
                return
            yield report

    def _next(self) -> Report | None:
        place, error = c_void_p(), c_void_p()
        while True:
            with self._handle as pointer:
                status: int = lib.hs_training_next(pointer, SLICE_MS, byref(place), byref(error))
            if status == AGAIN:
                continue
            if status == END:
                return None
            if status != 0:
                raise failure(status, error)
            event = json.loads(take(place))
            kind = event.pop("event")
            if kind == "note":
                self.notes.append(event["text"])
            elif kind == "end":
                self.ended = event
            else:
                return Report(event.get("kind", kind), event.get("step", 0), event)

    def stop(self) -> None:
        """Ends after the current step, with a checkpoint from which `resume=True` goes on. Never waits."""
        with self._handle as pointer:
            lib.hs_training_stop(pointer)

    def wait(self, callback: Callable[[Report], object] | None = None) -> Mapping[str, Any]:
        """Reads all reports that are left, and says how it ended: "step", "seconds", "ended_by", "finished".

        callback: called with each of them, on this thread. It may stop() the training.
        """
        for report in self:
            if callback is not None:
                callback(report)
        return self.ended

    def model(self, **arguments: Any) -> Any:
        """The trained model, as headscope.open() opens it."""
        from ._open import open

        return open(os.path.join(self.output, "model"), **arguments)

    def close(self) -> None:
        """Stops, and waits until the current step is done."""
        self._handle.close()

    def __repr__(self) -> str:
        return f"<headscope.Trainer in {self.output}>"


def _text_of(config: Mapping[str, Any] | Path | None) -> bytes:
    if config is None:
        return b""
    if isinstance(config, Mapping):
        try:
            return json.dumps(config).encode()
        except (TypeError, ValueError) as problem:
            raise InvalidError(f"the configuration is not JSON: {problem}") from None
    with open(config, "rb") as file:
        return file.read()


# ---- Those that are left at the end of the interpreter

_trainers: weakref.WeakSet[Trainer] = weakref.WeakSet()
_lock = threading.Lock()


def _close_all() -> None:
    with _lock:
        trainers = list(_trainers)
    for each in trainers:
        each.close()


def _after_fork_in_child() -> None:
    global _lock
    _lock = threading.Lock()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork_in_child)
