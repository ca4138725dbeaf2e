"""Waiting: threads, coroutines, Ctrl-C, fork, closing, and the end of the interpreter."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Callable

import pytest

import headscope as hs

MANY = [f"This is sentence number {i} about many things that have happened." for i in range(400)]


def python(code: str, *, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    quiet = "ignore::DeprecationWarning"  # Python 3.12 warns of every fork with threads
    return subprocess.run([sys.executable, "-W", quiet, "-c", code], capture_output=True, text=True, timeout=timeout)


def in_threads(function: Callable[[int], Any], count: int) -> list[Any]:
    found: list[Any] = [None] * count

    def work(i: int) -> None:
        try:
            found[i] = function(i)
        except Exception as error:
            found[i] = error

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return found


def test_many_threads(model: hs.Translator) -> None:
    expected = [each.text for each in model.translate(MANY[:16])]
    assert [each.text for each in in_threads(lambda i: model.translate(MANY[i]), 16)] == expected


def test_python_runs_meanwhile(model: hs.Translator) -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    model.translate(MANY[:100])
    done.set()
    thread.join()
    assert counted > 10


def test_coroutines(model: hs.Translator, lm: hs.LanguageModel, masked: hs.MaskedModel) -> None:
    async def main() -> None:
        found = await asyncio.gather(*(model.translate_async(text, beam=1) for text in MANY[:64]))
        assert [each.text for each in found] == [each.text for each in model.translate(MANY[:64], beam=1)]
        assert str(await lm.complete_async("Could you please", max_tokens=2)) == " tell me"
        assert str(await masked.fill_async("She opened the [MASK].")) == "She opened the door."
        assert [each.text for each in await model.translate_async(["A house.", ""])] == ["Ein Haus.", ""]
        with pytest.raises(hs.InvalidError, match="beem"):
            await model.translate_async("A house.", beem=3)  # type: ignore[call-arg]

    asyncio.run(main())


def test_the_loop_goes_on(model: hs.Translator) -> None:
    async def main() -> float:
        task = asyncio.ensure_future(model.translate_async(MANY[:150]))
        longest, last = 0.0, time.monotonic()
        while not task.done():
            await asyncio.sleep(0.001)
            now = time.monotonic()
            longest, last = max(longest, now - last), now
        return longest

    assert asyncio.run(main()) < 0.25


def test_a_cancelled_task_cancels_its_request(model: hs.Translator) -> None:
    async def main() -> None:
        before = model.engine.statistics()["requests"]["cancelled"]
        task = asyncio.ensure_future(model.translate_async(MANY))
        await asyncio.sleep(0.1)
        start = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - start < 0.1
        while model.engine.statistics()["requests"]["cancelled"] == before:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(main(), 30))


def test_async_stream(model: hs.Translator, lm: hs.LanguageModel) -> None:
    async def main() -> None:
        stream = lm.stream_async("Could you please")
        parts = [written.text async for written in stream]
        assert "".join(parts) == stream.result().text == lm.complete("Could you please").text
        async with lm.stream_async("Once", max_tokens=400, min_length=400) as left:
            async for _ in left:
                break
        last = ""
        async for written in model.stream_async("A house."):
            last = written.so_far
        assert last == "Ein Haus."
        with pytest.raises(hs.InvalidError):
            async for _ in model.stream_async("x " * 2000):
                pass

    asyncio.run(main())


def test_streams_of_what_is_no_text(model: hs.Translator, lm: hs.LanguageModel) -> None:
    async def first(stream: Any) -> Any:
        return await stream.__anext__()

    for each in (model, lm):
        with pytest.raises(hs.InvalidError, match="half a surrogate"):
            each.stream("a\ud800")
        with pytest.raises(hs.InvalidError, match="half a surrogate"):
            asyncio.run(first(each.stream_async("a\ud800")))
        with pytest.raises(TypeError, match="must be a str"):
            each.stream(["A house.", "A cat."])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not a str"):
        model.translate_iter("A house.")


def test_a_failed_async_stream_ends(lm: hs.LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(stream: Any) -> None:
        with pytest.raises((hs.DeadlineError, KeyError)):
            async for _ in stream:
                pass
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(stream.__anext__(), 5)

    def fail(*_: Any) -> Any:
        raise KeyError("oops")

    asyncio.run(read(lm.stream_async("Once", max_tokens=400, min_length=400, timeout=0.1)))
    monkeypatch.setattr(lm, "_read", fail)
    asyncio.run(read(lm.stream_async("Once", max_tokens=2)))


def test_ctrl_c(model: hs.Translator) -> None:
    sent = 0.0

    def interrupt() -> None:
        nonlocal sent
        time.sleep(0.2)
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    for work in (lambda: model.translate(MANY), lambda: list(model.translate_iter(MANY, ahead=100))):
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.monotonic() - sent < 0.1
        thread.join()
    assert str(model.translate("A house.")) == "Ein Haus."


def test_closing_while_others_wait() -> None:
    model = hs.open("en-de", devices="cpu")
    threading.Timer(0.3, model.close).start()
    found = in_threads(lambda i: model.translate(MANY), 4)
    assert {type(each) for each in found} <= {hs.CancelledError, hs.ClosedError}
    for use in (lambda: model.translate("A"), lambda: model.attention("A"), model.unload, model.load):
        with pytest.raises(hs.ClosedError, match="closed"):
            use()
    model.close()
    assert model.closed and "closed" in repr(model)
    assert model.layers["encoder"] == 6  # what it was


def test_many_close_one_of_several_models() -> None:
    with hs.open("en-de", devices="cpu", threads=3) as kept:
        for _ in range(20):
            other = hs.open("en-de", devices="cpu", threads=3)
            assert other.engine is kept.engine
            start = threading.Barrier(8)
            in_threads(lambda _, other=other, start=start: (start.wait(), other.close()), 8)  # type: ignore[misc]
            assert not kept.engine.closed
        assert kept.translate("A house.").text == "Ein Haus."


def test_a_model_that_is_collected_anywhere() -> None:
    code = """
import gc, headscope as hs
from headscope import _engine
class Cycle: pass
cycle = Cycle()
cycle.itself, cycle.model = cycle, hs.open("en-de", devices="cpu", threads=1)
gc.disable()
del cycle
with _engine._lock:
    gc.collect()
print(len(_engine._shared))
"""
    done = python(code)
    assert done.returncode == 0 and done.stdout == "0\n", done.stderr


def test_models_share_an_engine() -> None:
    one, two = hs.open("en-de", devices="cpu", threads=1), hs.open("en-causal", devices="cpu", threads=1)
    assert one.engine is two.engine
    one.close()
    assert not two.engine.closed and str(two.complete("Could you please", max_tokens=1)) == " tell"
    two.close()
    assert two.engine.closed


def test_an_engine_of_ones_own() -> None:
    said: list[str] = []
    with hs.Engine("cpu", threads=1, max_requests=2, log=said.append) as engine:
        with hs.open("en-de", engine=engine) as model:
            assert str(model.translate("A house.")) == "Ein Haus."
        assert not engine.closed
        with hs.open("en-de", engine=engine) as model:
            streams = [model.stream(MANY[0]), model.stream(MANY[1])]
            with pytest.raises(hs.BusyError) as caught:
                model.translate("A house.")
            assert caught.value.seconds > 0
            del streams
            assert engine.drain(10)
            with pytest.raises(hs.ClosedError):
                model.translate("A house.")
        with pytest.raises(hs.InvalidError, match="engine's"):
            hs.open("en-de", engine=engine, threads=2)
    assert engine.closed
    with pytest.raises(hs.ClosedError):
        engine.statistics()


def test_unload_and_load() -> None:
    with hs.open("en-de", devices="cpu") as model:
        expected = model.translate("A house.")
        model.unload()
        with pytest.raises(hs.Error, match="unloaded"):
            model.translate("A house.")
        model.load()
        assert model.translate("A house.") == expected


GROWTH = """
import os, time
import headscope as hs
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
model = hs.open("en-de", devices="cpu", threads=2)
def work():
    model.unload()
    time.sleep(0.01)  # until the device has freed it
    model.load()
    model.translate("The cat sleeps.")
for _ in range(20):
    work()
before = resident()
for _ in range(200):
    work()
print(resident() - before)
"""


def test_loads_leave_nothing() -> None:
    done = python(GROWTH, timeout=300)
    assert done.returncode == 0, done.stderr
    print("bytes that 200 loads left:", done.stdout)
    assert int(done.stdout) < 1 << 20


def test_timeout(model: hs.Translator) -> None:
    with pytest.raises(hs.DeadlineError):
        model.translate(MANY, timeout=0.05)
    with pytest.raises(TimeoutError):
        model.translate("A house.", timeout=0.0)


def test_pickling(model: hs.Translator) -> None:
    with pickle.loads(pickle.dumps(model)) as again:
        assert type(again) is type(model) and again.path == model.path and again.engine is model.engine
    view = model.edit(hs.off("cross", 1, 1))
    again = pickle.loads(pickle.dumps(view))
    assert again.edits == view.edits
    engine = pickle.loads(pickle.dumps(hs.Engine("cpu", threads=1)))
    assert engine.devices == ("cpu",)
    engine.close()


FORK = """
import os, sys
import headscope as hs
model = hs.open("en-de", devices="cpu", threads=1)
stream = model.stream("A house.")
result = model.attention("A house.")
child = os.fork()
if child == 0:
    for use in (lambda: model.translate("A"), lambda: next(stream), lambda: model.engine.drain(1), model.unload):
        try:
            use()
            os._exit(3)
        except hs.ForkedError as error:
            assert "child" in str(error)
    assert result["encoder"].shape[1] == 8  # results stay
    with hs.open("en-de", devices="cpu", threads=1) as own:
        assert str(own.translate("A house.")) == "Ein Haus."
    model.close()
    del stream, result
    sys.exit(7)
assert os.waitpid(child, 0)[1] == 7 << 8
assert str(model.translate("A house.")) == "Ein Haus."
"""


def test_fork() -> None:
    done = python(FORK)
    assert done.returncode == 0 and done.stderr == ""


def test_multiprocessing() -> None:
    code = """
import multiprocessing
import headscope as hs
def work(text):
    try:
        return str(model.translate(text))
    except hs.ForkedError:
        return "forked"
if __name__ == "__main__":
    model = hs.open("en-de", devices="cpu", threads=1)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, ["A house.", "Two houses."]))
"""
    done = python(code)
    assert done.stdout == "['forked', 'forked']\n" and done.returncode == 0 and done.stderr == ""


@pytest.mark.parametrize(
    "end",
    [
        "",
        "threading.Thread(target=lambda: model.translate(['A house.'] * 5000), daemon=True).start(); time.sleep(.3)",
        "stream = model.stream('A house.'); next(stream)",
        "request = model._opened.submit(1, [b'A house.'] * 100); del request",
        "raise SystemExit(0)",
    ],
)
def test_the_end_of_the_interpreter(end: str) -> None:
    start = time.monotonic()
    code = "import threading, time, headscope as hs; model = hs.open('en-de', devices='cpu', threads=1); " + end
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - start < 20


def test_objects_in_any_order() -> None:
    model = hs.open("en-de", devices="cpu", threads=1)
    attention = model.attention("A house.")
    weights = attention["encoder"]
    first = attention.layer("cross", 1)
    model.close()
    del model, attention
    assert weights.sum(-1).min() == pytest.approx(1.0, abs=1e-5)
    assert first.sum(-1).max() == pytest.approx(1.0, abs=1e-5)
