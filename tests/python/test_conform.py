"""Whether devices compute what they should."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from typing import Any

import pytest

import headscope as hs

FEW: dict[str, Any] = {"quick": True, "speed": False}


def test_conform(command: Any) -> None:
    told: list[tuple[int, int, str]] = []
    found = hs.conform("cpu", ops="masked_softmax", progress=lambda *each: told.append(each), **FEW)
    assert found.passed and found.devices == ("cpu",) and not found.failures and not found.failed
    assert found.counts["failed_runs"] == 0 < found.counts["cases"] <= found.counts["runs"]
    assert "masked_softmax" in str(found) and repr(found) == "<headscope.Conformance of cpu: passed>"
    assert told and all(0 <= done < all for done, all, _ in told) and "masked_softmax" in told[0][2]
    printed = json.loads(
        command.run("conform", "--device", "cpu", "--op", "masked_softmax", "--quick", "--no-speed", "--json")
    )
    assert [each["cases"] for each in printed["devices"][0]["results"]] == [
        each["cases"] for each in found.json["devices"][0]["results"]
    ]


def test_parts() -> None:
    counts = [
        hs.conform("cpu", ops=["layer_norm"], dtypes=["f32"], part=part, **FEW).counts["cases"]
        for part in ("1/2", "2/2", "1/1")
    ]
    assert counts[0] + counts[1] == counts[2] > counts[0] > 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"ops": ["softmax"]}, 'did you mean "masked_softmax"'),
        ({"ops": ["fill"], "part": "3/2"}, "such as 1/8"),
        ({"ops": ["fill"], "dtypes": ["f99"]}, "f99"),
        ({"ops": ["fill"], "case": "no such case"}, "no case is called"),
        ({"ops": ["fill"], "settings": {"HEADSCOPE_CUDA_CHEK": "1"}}, "HEADSCOPE_CUDA_CHECK"),
    ],
)
def test_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(hs.InvalidError, match=problem):
        hs.conform("cpu", **FEW, **options)


def test_an_unknown_device() -> None:
    with pytest.raises(hs.DeviceError, match="abacus"):
        hs.conform("abacus", ops=["fill"], **FEW)


def test_progress_that_raises() -> None:
    def fail(done: int, all: int, text: str) -> None:
        raise KeyError("oops")

    with pytest.raises(KeyError, match="oops"):
        hs.conform("cpu", progress=fail, **FEW)
    with pytest.raises(TypeError, match="progress must be a function"):
        hs.conform("cpu", progress=3, **FEW)


def test_ctrl_c() -> None:
    sent = 0.0

    def interrupt() -> None:
        nonlocal sent
        time.sleep(0.5)
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        hs.conform("cpu", **FEW)
    assert time.monotonic() - sent < 0.1
