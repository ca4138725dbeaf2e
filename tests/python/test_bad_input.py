"""Closed models, full disks, empty and huge lists, closing while others wait, Ctrl-C, pickling."""

from __future__ import annotations

import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np
import pytest

import headscope as hs
from test_requests import MANY, in_threads, python
from test_training import trainer, write_toy


def test_no_lines(model: hs.Translator, lm: hs.LanguageModel, masked: hs.MaskedModel) -> None:
    assert model.translate([]) == [] and model.score([], []) == [] and list(model.translate_iter([])) == []
    assert lm.complete([]) == [] and lm.score([]) == [] and masked.fill([]) == []
    assert model.translate("").text == "" and model.tokenize("") == [] and model.detokenize([]) == ""
    with lm.edit(hs.off("decoder", 1, 1)) as view:
        assert view.complete([]) == [] and view.score([]) == []


def test_a_million_lines(model: hs.Translator) -> None:
    def lines() -> Iterator[str]:
        for i in range(1_000_000):
            yield "A house." if i % 10_000 == 0 else ""

    asked = 0
    for i, found in enumerate(model.translate_iter(lines(), beam=1)):
        assert found.text == ("Ein Haus." if i % 10_000 == 0 else "")
        asked += 1
    assert asked == 1_000_000


def test_a_million_lines_at_once(model: hs.Translator) -> None:
    found = model.translate([""] * 999_999 + ["A house."], beam=1)
    assert len(found) == 1_000_000 and found[-1].text == "Ein Haus." and found[0].text == ""


def test_a_folder_without_a_model(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        hs.open(tmp_path)
    said = str(caught.value)
    assert str(tmp_path) in said and "config.json" in said and ".gguf" in said and "docs/importing.md" in said
    (tmp_path / "a.txt").write_text("no model")
    with pytest.raises(hs.NotFoundError, match=r"a\.txt"):
        hs.open(tmp_path / "a.txt")
    for name in ("", "\0", "half \ud800"):
        with pytest.raises((hs.Error, ValueError)):
            hs.open(name)


def test_settings_have_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for use in (
        lambda settings: hs.Engine("cpu", settings=settings),
        lambda settings: hs.conform("cpu", ops=["fill"], settings=settings),
    ):
        with pytest.raises(hs.InvalidError, match='has no "HEADSCOPE_THRAEDS": did you mean "HEADSCOPE_THREADS"'):
            use({"HEADSCOPE_THRAEDS": "2"})
        with pytest.raises(hs.InvalidError, match="has texts"):
            use({"HEADSCOPE_THREADS": 2})  # type: ignore[dict-item]
    # What the environment has beside is no setting.
    monkeypatch.setenv("HEADSCOPE_NONSENSE", "1")
    monkeypatch.setenv("VK_NONSENSE", "1")
    hs.Engine("cpu", threads=1).close()


def test_closed_models(lm: hs.LanguageModel) -> None:
    closed = hs.open("en-causal", devices="cpu")
    stream = closed.stream("Could you please", max_tokens=50, min_length=50)
    next(stream)
    view = closed.edit(hs.off("decoder", 1, 1))
    closed.close()
    with pytest.raises((hs.CancelledError, hs.ClosedError)):
        list(stream)
    uses: tuple[Callable[[], Any], ...] = (
        lambda: view.complete("A"),
        lambda: closed.complete("A"),
        lambda: closed.score("A"),
        lambda: closed.stream("A"),
        lambda: closed.next("A"),
        lambda: closed.attention("A"),
        lambda: closed.run("A"),
        lambda: closed.importance("A"),
        lambda: closed.saliency("A"),
        lambda: closed.tokenize("A"),
        lambda: closed.detokenize([5]),
        lambda: closed.edit(),
    )
    for use in uses[:-1]:
        with pytest.raises(hs.ClosedError, match="closed"):
            use()
    with pytest.raises(hs.ClosedError), closed.edit() as again:
        again.complete("A")
    assert lm.complete("Could you please", max_tokens=1).text == " tell"


def test_a_busy_engine() -> None:
    with hs.Engine("cpu", threads=1, max_requests=2) as engine, hs.open("en-causal", engine=engine) as model:
        found = in_threads(lambda i: model.complete(f"Number {i}", max_tokens=20), 16)
        busy = [each for each in found if isinstance(each, hs.BusyError)]
        assert len(busy) + sum(isinstance(each, hs.Completion) for each in found) == 16
        assert all(each.seconds >= 0 and str(each) for each in busy)
        with pytest.raises(hs.InvalidError, match="max_requests"), model.edit(hs.off("decoder", 1, 1)) as view:
            view.complete(["One", "Two", "Three"])
        assert model.complete("Could you please", max_tokens=1).text == " tell"


def test_many_close_while_many_wait() -> None:
    for _ in range(5):
        model = hs.open("en-de", devices="cpu")

        def use(i: int, model: Any = model) -> Any:
            if i % 4 == 0:
                time.sleep(0.05 + 0.01 * i)
                return model.close()
            if i % 4 == 1:
                return model.translate(MANY)
            if i % 4 == 2:
                return [each.text for each in model.stream(MANY[i])] and model.translate(MANY)
            return model.attention(MANY[i]), model.importance(MANY[i], "Ein Haus.")

        start = time.monotonic()
        found = in_threads(use, 16)
        assert time.monotonic() - start < 20
        for i, each in enumerate(found):
            if i % 4 == 0:
                assert each is None
            elif isinstance(each, Exception):
                assert isinstance(each, (hs.CancelledError, hs.ClosedError)), repr(each)


def test_closing_just_after_asking(model: hs.Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    from headscope import _opened

    class Asked(_opened.Request):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            closing.close()

    monkeypatch.setattr(_opened, "Request", Asked)
    closing = hs.open("en-de", devices="cpu")  # whose engine stays open
    assert closing.engine is model.engine
    with pytest.raises(hs.CancelledError):
        closing.stream(" ".join(["It is a long story."] * 20), beam=30).result()


def test_closing_while_one_waits(model: hs.Translator) -> None:
    closing = hs.open("en-de", devices="cpu")  # whose engine stays open
    assert closing.engine is model.engine
    threading.Timer(0.5, closing.close).start()
    with pytest.raises(hs.CancelledError):
        closing.translate(MANY * 10)


def test_closing_an_engine_while_others_wait() -> None:
    engine = hs.Engine("cpu")
    model = hs.open("en-de", engine=engine)
    threading.Timer(0.2, engine.close).start()
    found = in_threads(lambda i: model.translate(MANY), 4)
    assert {type(each) for each in found} <= {hs.CancelledError, hs.ClosedError}
    model.close()


def interrupted(work: Callable[[], Any], after: float = 0.3) -> float:
    """Seconds from Ctrl-C to the exception."""
    sent = 0.0

    def interrupt() -> None:
        nonlocal sent
        time.sleep(after)
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    took = time.monotonic() - sent
    thread.join()
    return took


def test_ctrl_c_in_streams(model: hs.Translator, lm: hs.LanguageModel) -> None:
    def forever() -> None:
        while True:
            list(lm.stream("Once upon a time", max_tokens=200, min_length=200))

    def waiting() -> None:
        while True:
            model.stream(" ".join(["It is a long story."] * 20), beam=30).result()

    assert interrupted(forever) < 0.1
    assert interrupted(waiting) < 0.1
    assert interrupted(lambda: [model.importance(each) for each in MANY]) < 0.1
    assert str(model.translate("A house.")) == "Ein Haus."


def test_ctrl_c_in_training(tmp_path: pathlib.Path) -> None:
    write_toy(tmp_path)
    run = trainer(tmp_path, "run", 1_000_000)
    next(iter(run))
    assert interrupted(run.wait) < 0.1
    start = time.monotonic()
    run.close()
    assert time.monotonic() - start < 5
    with pytest.raises(hs.ClosedError):
        run.wait()


def test_ctrl_c_in_a_program(tmp_path: pathlib.Path) -> None:
    code = """
import headscope as hs
model = hs.open("en-de", devices="cpu")
print("begun", flush=True)
model.translate(["This is sentence number one about many things that have happened."] * 5000)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    said = process.communicate(timeout=30)[1]
    assert process.returncode == -signal.SIGINT and said.strip().endswith("KeyboardInterrupt")
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "end",
    [
        "stream = hs.open('en-causal', devices='cpu').stream('Once', max_tokens=400, min_length=400); next(stream)",
        "threading.Thread(target=lambda: hs.conform('cpu', ops=['fill'], quick=True, speed=False)).start()",
        "threading.Thread(target=lambda: list(model.translate_iter(['A house.'] * 10**6)), daemon=True).start(); "
        "time.sleep(.3)",
        "asyncio.run(asyncio.wait_for(model.translate_async(['A house.'] * 5000), .2))",
    ],
)
def test_the_end_with_open_requests(end: str) -> None:
    start = time.monotonic()
    done = python(
        "import asyncio, threading, time, headscope as hs; model = hs.open('en-de', devices='cpu', threads=1)\n" + end
    )
    assert done.returncode == (1 if "asyncio.run" in end else 0), done.stderr
    if "asyncio.run" in end:
        assert "TimeoutError" in done.stderr
    elif "daemon=True" not in end:  # whose exception Python prints
        assert done.stderr == ""
    assert time.monotonic() - start < 20


def test_the_end_of_a_training(tmp_path: pathlib.Path) -> None:
    write_toy(tmp_path)
    code = f"""
import headscope as hs
config = {{"model": {{"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "attention": {{"heads": 2}}}},
          "training": {{"steps": 1000000, "report_every": 5}}}}
run = hs.Trainer({str(tmp_path / "run")!r}, source={str(tmp_path / "toy.en")!r}, target={str(tmp_path / "toy.de")!r},
                 device="cpu", threads=1, config=config)
next(iter(run))
"""
    done = python(code)
    assert done.returncode == 0 and done.stderr == ""
    assert list((tmp_path / "run" / "checkpoints").iterdir())


FULL = """
import resource, sys
import headscope as hs
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
config = {"model": {"d_model": 64, "encoder_layers": 1, "decoder_layers": 1, "attention": {"heads": 2}},
          "training": {"steps": 20, "report_every": 5}}
try:
    hs.Trainer(sys.argv[1] + "/run", source=sys.argv[1] + "/toy.en", target=sys.argv[1] + "/toy.de", device="cpu",
               threads=1, config=config).wait()
    print("trained")
except hs.Error as error:
    print(type(error).__name__, error)
with hs.open("en-de", devices="cpu") as model:
    attention = model.attention("The cat sleeps because it is tired.")
    for name in ("heads.html", "heads.png"):
        try:
            attention.grid().save(sys.argv[1] + "/" + name)
            print("saved")
        except OSError as error:
            print(type(error).__name__, error.errno)
    print(model.translate("A house."))
"""


def test_a_full_disk(tmp_path: pathlib.Path) -> None:
    write_toy(tmp_path)
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert "File too large" in lines[0] and str(tmp_path / "run") in lines[0]
    assert lines[1:] == ["OSError 27", "OSError 27", "Ein Haus."]
    assert not list(tmp_path.glob("*.html")) and not list(tmp_path.glob("*.png")), "no half of a file is left"


def test_a_full_device(model: hs.Translator, tmp_path: pathlib.Path) -> None:
    (tmp_path / "full.svg").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        model.attention("A house.").figure().save(tmp_path / "full.svg")
    assert os.path.exists("/dev/full")


def test_figures_keep_permissions_and_name_their_files(model: hs.Translator, tmp_path: pathlib.Path) -> None:
    figure = model.attention("A house.").figure()
    path = tmp_path / "figure.svg"
    path.touch(0o600)
    (tmp_path / "link.svg").symlink_to(path)
    found = in_threads(lambda i: figure.save(tmp_path / "link.svg"), 8)
    assert found == [None] * 8 and path.read_text() == figure.svg and (path.stat().st_mode & 0o777) == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == ["figure.svg", "link.svg"]
    with pytest.raises(FileNotFoundError) as caught:
        figure.save(tmp_path / "none" / "figure.svg")
    assert caught.value.filename == str(tmp_path / "none" / "figure.svg")


def test_what_cannot_be_pickled(model: hs.Translator, lm: hs.LanguageModel) -> None:
    found = model.translate("A house.", n_best=2)
    assert pickle.loads(pickle.dumps(found)) == found
    for each in (lm.complete("Could you please", max_tokens=2), model.score("A house.", "Ein Haus.")):
        assert pickle.loads(pickle.dumps(each)) == each
    attention = model.attention("A house.")
    for thing in (attention, model.importance("A house."), model.saliency("A house."), lm.stream("A")):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(thing)
    run = model.run("A house.", "Ein Haus.", record="logits")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(run)
    arrays = pickle.loads(pickle.dumps({"cross": attention["cross"], "logits": run.states["logits"]}))
    assert np.array_equal(arrays["cross"], attention["cross"])


SPAWNED = """
import multiprocessing, sys
import headscope as hs
def work(pair):
    model, text = pair
    with model:
        return str(model.translate(text))
if __name__ == "__main__":
    model = hs.open("en-de", devices="cpu", threads=1)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(work, [(model, "A house."), (model, "Good morning!")]))
"""


def test_spawned_processes(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(SPAWNED)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "['Ein Haus.', 'Guten Morgen!']\n", done.stderr


FORKED = """
import os, threading, time
import headscope as hs
model = hs.open("en-de", devices="cpu", threads=1)
lm = hs.open("en-causal", devices="cpu", threads=1)
stream = lm.stream("Once upon a time", max_tokens=300, min_length=300)
next(stream)
threading.Thread(target=lambda: model.translate(["A house."] * 500)).start()
time.sleep(0.1)
child = os.fork()
if child == 0:
    uses = (lambda: next(stream), lambda: model.translate("A"), lambda: lm.complete("A"), lambda: model.tokenize("A"),
            lambda: lm.score("A"), lambda: model.attention("A"), lambda: model.load())
    for use in uses:
        try:
            use()
            os._exit(3)
        except hs.ForkedError:
            pass
    os._exit(7)
start = time.monotonic()
assert os.waitpid(child, 0)[1] == 7 << 8 and time.monotonic() - start < 5
"""


def test_fork_while_others_work() -> None:
    done = python(FORKED)
    assert done.returncode == 0 and done.stderr == ""
