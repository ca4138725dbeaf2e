"""What other translators are tested for: opening, lists, streams and ends. docs/python-behaviours.md has the list."""

from __future__ import annotations

import asyncio
import logging
import pathlib
import shutil
import subprocess
import sys
import time
from typing import Any

import pytest

import headscope as hs
from conftest import kit_folder

CAT = "The cat sleeps."
TEXTS = ["A house.", "The weather is nice today.", CAT, "Good morning!"]


def texts_of(found: list[hs.Translation]) -> list[str]:
    return [each.text for each in found]


# ---- Opening


def test_a_place_without_a_model(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError, match="xxx"):
        hs.open("xxx")
    with pytest.raises(hs.Error, match="config.json"):
        hs.open(tmp_path)


def test_a_path_in_another_script(model: hs.Translator, tmp_path: pathlib.Path) -> None:
    shutil.copytree(model.path, tmp_path / "\N{CJK UNIFIED IDEOGRAPH-8BD5} é" / "model")
    with hs.open(tmp_path / "\N{CJK UNIFIED IDEOGRAPH-8BD5} é" / "model", devices="cpu") as copy:
        assert str(copy.translate("A house.")) == "Ein Haus."


def test_a_model_of_another_kind() -> None:
    with pytest.raises(hs.UnsupportedError, match="not a LanguageModel"):
        hs.LanguageModel.open("en-de", devices="cpu")


def test_bad_devices() -> None:
    for devices in ("cpu:7", "cuda:99", ["cpu", "abacus"]):
        with pytest.raises(hs.DeviceError, match="device"):
            hs.open("en-de", devices=devices)
    with pytest.raises(TypeError):
        hs.open("en-de", devices=[0])


def test_what_a_folder_contains(tmp_path: pathlib.Path) -> None:
    (tmp_path / "models" / "mine").mkdir(parents=True)
    assert "mine" not in [each.name for each in hs.models(tmp_path)]
    (tmp_path / "models" / "mine" / "config.json").touch()
    assert "mine" in [each.name for each in hs.models(tmp_path)]


def test_precisions() -> None:
    (option,) = (each for each in hs.keys() if each.key == "precision")
    assert {"f32", "i8"} <= set(option.choices)
    with pytest.raises(hs.InvalidError, match="float64"):
        hs.open("en-de", devices="cpu", precision="float64")
    for precision in (["i8"], {"cpu": "i8"}):
        with pytest.raises(TypeError, match="precision must be a str"):
            hs.open("en-de", devices="cpu", precision=precision)  # type: ignore[arg-type]
    with hs.Engine("cpu", precision="i8", threads=1) as engine:
        assert "I8" in engine.statistics()["devices"][0]["arithmetic"]


def test_what_a_model_says_of_itself(model: hs.Translator) -> None:
    assert not model.closed and model.devices == ("cpu",)
    before = model.engine.statistics()["requests"]["answered"]
    model.translate("A house.", beam=1)
    assert model.engine.statistics()["requests"]["answered"] == before + 1


def test_several_devices() -> None:
    with hs.open("en-de", devices=["cpu", "cpu"], threads=1) as model:
        assert model.devices == ("cpu", "cpu (2)")
        assert texts_of(model.translate(["A house."] * 40, beam=1)) == ["Ein Haus."] * 40
        assert sum(each["sentences"] for each in model.engine.statistics()["devices"]) == 40


def test_no_model_from_memory(model: hs.Translator) -> None:
    with pytest.raises(TypeError, match="bytes"):
        hs.open(pathlib.Path(model.path, "config.json").read_bytes())  # type: ignore[arg-type]


# ---- Lists, iterables, files and coroutines


@pytest.mark.parametrize("batch_tokens", [1, 1024])
def test_a_list_in_any_batches(model: hs.Translator, batch_tokens: int) -> None:
    found = model.translate(TEXTS, batch_tokens=batch_tokens)
    assert texts_of(found) == [str(model.translate(text)) for text in TEXTS]
    assert repr(found[0]).startswith("Translation(source='A house.', text='Ein Haus.', score=-")


def test_an_empty_list(model: hs.Translator) -> None:
    assert model.translate([]) == []
    with pytest.raises(StopIteration):
        next(model.translate_iter(iter([])))


def test_results_keep_the_order(model: hs.Translator) -> None:
    lines = ["house " * count for count in (1, 9, 3, 7, 5)]
    assert [each.source for each in model.translate(lines, batch_tokens=8, beam=1)] == lines


def test_iterables_are_read_lazily(model: hs.Translator) -> None:
    read: list[str] = []
    lines = (read.append(text) or text for text in TEXTS * 50)  # type: ignore[func-returns-value]
    found = model.translate_iter(lines, ahead=4, beam=1)
    assert not read
    assert next(found).text == "Ein Haus."
    assert len(read) < 20


def test_closing_a_generator(model: hs.Translator) -> None:
    before = model.engine.statistics()["requests"]["cancelled"]
    found = model.translate_iter([CAT] * 400, ahead=200)
    next(found)
    found.close()  # type: ignore[attr-defined]
    end = time.monotonic() + 10
    while model.engine.statistics()["requests"]["cancelled"] == before and time.monotonic() < end:
        time.sleep(0.01)
    assert model.engine.statistics()["requests"]["cancelled"] > before


def test_a_file(model: hs.Translator, tmp_path: pathlib.Path) -> None:
    (tmp_path / "in.txt").write_text("A house.\nGood morning!\n", encoding="utf-8")
    before = model.engine.statistics()["devices"][0]
    with open(tmp_path / "in.txt", encoding="utf-8") as lines, open(tmp_path / "out.txt", "w", encoding="utf-8") as out:
        out.writelines(f"{each}\n" for each in model.translate_iter(lines))
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "Ein Haus.\nGuten Morgen!\n"
    after = model.engine.statistics()["devices"][0]
    assert after["sentences"] == before["sentences"] + 2 and after["seconds"] > before["seconds"]
    assert after["target_tokens"] > before["target_tokens"]


def test_text_needs_no_functions(model: hs.Translator) -> None:
    pieces = model.tokenize(CAT)
    assert [each.text for each in pieces] == ["▁The", "▁cat", "▁sleep", "s", "."]
    assert model.detokenize(each.id for each in pieces) == CAT


def test_coroutines_and_their_errors(model: hs.Translator) -> None:
    async def main() -> None:
        first, second = (asyncio.ensure_future(model.translate_async(text)) for text in TEXTS[:2])
        assert (await second).source == TEXTS[1]
        assert str(await first) == "Ein Haus." and first.done()
        failing = asyncio.ensure_future(model.translate_async(CAT, beam=2, n_best=3))
        for _ in range(2):
            with pytest.raises(hs.InvalidError, match="beam"):
                await failing
            assert failing.done()

    asyncio.run(main())


# ---- Streams


def test_a_stream_and_its_probabilities(model: hs.Translator) -> None:
    stream = model.stream(CAT, beam=1)
    assert iter(stream) is stream
    parts = list(stream)
    whole = model.translate(CAT, beam=1)
    assert "".join(each.text for each in parts) == whole.text
    assert tuple(id for each in parts for id in each.ids) == whole.ids  # the end among them
    assert sum(sum(each.log_probabilities) for each in parts) == pytest.approx(whole.log_probability, abs=1e-4)


def test_bad_options_of_a_stream(model: hs.Translator) -> None:
    with pytest.raises(hs.InvalidError, match="beam"):
        list(model.stream(CAT, beam=2, n_best=3))


def test_a_stream_for_each_sample(model: hs.Translator) -> None:
    streams = [model.stream(CAT, sample=True, seed=seed) for seed in (1, 2, 3)]
    for seed, stream in enumerate(streams, 1):
        written = "".join(each.text for each in stream)
        assert written == str(model.translate(CAT, sample=True, seed=seed))


# ---- Life


def test_unload_and_load() -> None:
    with hs.open("en-de", devices="cpu", threads=1) as model:
        model.unload()
        with pytest.raises(hs.ClosedError, match="was unloaded: load it first"):
            model.translate(CAT)
        model.load()
        assert str(model.translate(CAT)) == "Die Katze schläft."


def test_unload_while_busy() -> None:
    with hs.open("en-de", devices="cpu", threads=1) as model:
        stream = model.stream(CAT)
        model.unload()
        assert stream.result().text == "Die Katze schläft."
        with pytest.raises(hs.ClosedError, match="unloaded"):
            model.translate(CAT)


def test_nothing_is_printed(capfd: Any) -> None:
    with hs.open("en-de", devices="cpu", threads=1) as model:
        model.translate(CAT)
    assert capfd.readouterr() == ("", "")


def test_messages_go_to_a_logger(caplog: Any) -> None:
    folder, said = kit_folder("ct2-v2-aren-int8-real"), list[str]()
    with hs.Engine("cpu", threads=1, log=said.append) as engine, hs.open(folder, engine=engine):
        assert len(said) == 1 and "SentencePiece" in said[0] and not caplog.records
    with caplog.at_level(logging.WARNING, logger="headscope"), hs.Engine("cpu", threads=1) as engine:
        hs.open(folder, engine=engine).close()
        assert [each.getMessage() for each in caplog.records] == said
        caplog.clear()
        caplog.set_level(logging.ERROR, logger="headscope")
        hs.open(folder, engine=engine).close()
        assert not caplog.records


def test_a_process_ends_after_much_work() -> None:
    code = "import headscope as hs; model = hs.open('en-de', devices='cpu', precision='i8', threads=4); "
    code += "model.translate(['A house.'] * 512, beam=1); del model"
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True, capture_output=True)


def test_opening_leaves_no_threads() -> None:
    code = """
import os, threading, time
import headscope as hs
def opened():
    with hs.open("en-de", devices="cpu", precision="i8", threads=4):
        pass
def in_a_thread():
    thread = threading.Thread(target=opened); thread.start(); thread.join()
in_a_thread()
before = len(os.listdir("/proc/self/task"))
for _ in range(5):
    in_a_thread()
for _ in range(100):  # a thread that was joined may still be listed
    if len(os.listdir("/proc/self/task")) <= before:
        break
    time.sleep(0.02)
print(len(os.listdir("/proc/self/task")) - before)
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=120, capture_output=True, text=True)
    assert int(done.stdout) <= 0, done.stderr
