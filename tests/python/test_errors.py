"""What is refused, and how."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any, Callable

import pytest

import headscope as hs


def test_kinds_of_errors() -> None:
    for error, builtin in (
        (hs.InvalidError, ValueError),
        (hs.NotFoundError, FileNotFoundError),
        (hs.DeadlineError, TimeoutError),
        (hs.OutOfMemoryError, MemoryError),
        (hs.ForkedError, RuntimeError),
    ):
        assert issubclass(error, hs.Error) and issubclass(error, builtin) and issubclass(error, RuntimeError)
        assert str(error("what happened")) == "what happened"


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda model: model.translate(5), TypeError, "int"),
        (lambda model: model.translate(b"A house."), TypeError, "line 1 must be a str, not int"),
        (lambda model: model.translate(["A", None]), TypeError, "line 2 must be a str"),
        (lambda model: model.translate("half \ud800"), hs.InvalidError, "half a surrogate pair"),
        (lambda model: model.attention("half \udfff"), hs.InvalidError, "half a surrogate pair"),
        (lambda model: model.translate("A", beem=3), hs.InvalidError, 'did you mean "beam"'),
        (lambda model: model.translate("A", beam=0), hs.InvalidError, "from 1 to 30, got 0"),
        (lambda model: model.translate("A", beam="many"), hs.InvalidError, "beam"),
        (lambda model: model.translate("A", beam=float("nan")), hs.InvalidError, "nan"),
        (lambda model: model.translate("A", stop=object()), hs.InvalidError, "stop"),
        (lambda model: model.translate("A", stop=""), hs.InvalidError, "not empty"),
        (
            lambda model: model.edit(hs.off("cross", 1, 1)).translate("A", n_best=2),
            hs.InvalidError,
            r"nothing to attention\(\): it is for translate\(\), complete\(\)$",
        ),
        (lambda model: model.score("A"), hs.InvalidError, r"^score\(\) of a translation model needs targets"),
        (lambda model: model.translate("A", one_by_one=True), hs.InvalidError, "one_by_one"),
        (lambda model: model.translate("A", source_language="en"), hs.InvalidError, "source language"),
        (lambda model: model.translate("A", errors="ignore"), hs.InvalidError, "errors must be"),
        (lambda model: model.translate_iter([], ahead=0), hs.InvalidError, "ahead"),
        (lambda model: model.score("A house."), hs.InvalidError, "targets"),
        (lambda model: model.score(["A", "B"], ["C"]), hs.InvalidError, "2 texts have 1 targets"),
        (lambda model: model.tokenize("A", side="left"), hs.InvalidError, "source, target"),
        (lambda model: model.detokenize([10**6]), hs.Error, "1000000"),
        (lambda model: model.attention("x " * 2000), hs.Error, "512"),
        (lambda model: model.run("A", patch=[1]), TypeError, "patch must be a dict"),
        (lambda model: model.run("A", hooks=print), TypeError, "hooks must be a dict"),
        (lambda model: hs.open("en-de", engine=3), TypeError, "engine must be an Engine"),
        (lambda model: hs.Engine("cpu", log=3), TypeError, "log must be a function"),
        (lambda model: hs.LanguageModel.open("en-causal", devices="cpu").complete([5, 17]), TypeError, "a list of ids"),
        (lambda model: hs.LanguageModel.open("en-de", devices="cpu"), hs.UnsupportedError, "Translator"),
    ],
)
def test_refused(model: hs.Translator, use: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        use(model)


def test_a_problem_has_the_exception_of_its_status(model: hs.Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    from headscope._library import lib

    long, half = "x " * 2000, "half \ud800"
    for status, error in ((9, MemoryError), (4, FileNotFoundError), (5, hs.UnsupportedError), (13, hs.Error)):
        monkeypatch.setattr(lib, "hs_result_status", lambda result, input: status if input == 1 else 3)
        with pytest.raises(error, match="line 2 of 3: .*512") as caught:
            model.translate(["A house.", long, half])
        assert type(caught.value) is not hs.InvalidError and len(caught.value.results) == 3  # type: ignore[attr-defined]
        with pytest.raises(hs.InvalidError, match="surrogate"):
            model.translate(["A house.", half])  # which was not asked
        assert "512" in model.translate(["A house.", long], errors="keep")[1].problem
    monkeypatch.setattr(lib, "hs_result_status", lambda result, input: 9)
    for use in (lambda: model.attention(long), lambda: model.score(long, "A"), lambda: model.importance(long, "A")):
        with pytest.raises(hs.OutOfMemoryError, match="512"):
            use()


def test_statuses_of_the_library(model: hs.Translator) -> None:
    with pytest.raises(hs.InvalidError, match="512"):
        model.translate("x " * 2000)

    def fail(values: Any) -> None:
        raise KeyError("oops")

    with pytest.raises(hs.Error, match="oops") as caught:
        model.run("A house.", "Ein Haus.", hooks={"logits": fail})
    assert type(caught.value) is hs.Error


def test_no_such_model(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        hs.open("nix", path=tmp_path)
    assert str(tmp_path / "models") in str(caught.value) and "docs/importing.md" in str(caught.value)
    with pytest.raises(hs.NotFoundError, match="no '/nix/da'\n.*docs/importing.md"):
        hs.open("/nix/da")
    with pytest.raises(hs.NotFoundError, match="hf download Helsinki-NLP/opus-mt-en-de --local-dir opus-mt-en-de"):
        hs.open("Helsinki-NLP/opus-mt-en-de")
    with pytest.raises(hs.Error):
        hs.open(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(hs.Error, match="config.json"):
        hs.open(tmp_path)
    with pytest.raises(hs.InvalidError):
        hs.open([])
    with pytest.raises(hs.Error, match="translation model"):
        hs.open(["en-de", "en-causal"], devices="cpu")


def test_no_such_device() -> None:
    with pytest.raises(hs.Error, match="abacus"):
        hs.open("en-de", devices="abacus")
    with pytest.raises(hs.InvalidError, match="precision"):
        hs.open("en-de", devices="cpu", precision="f99")


def test_models_are_found(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "headscope" / "models" / "mine"
    place.mkdir(parents=True)
    original = pathlib.Path(next(each.path for each in hs.models() if each.name == "en-causal"))
    for each in original.iterdir():
        (place / each.name).symlink_to(each)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert ("mine", str(place)) in [(each.name, each.path) for each in hs.models()]
    with hs.open("mine", devices="cpu") as model:
        assert str(model.complete("Could you please", max_tokens=2)) == " tell me"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert "mine" not in [each.name for each in hs.models()]
    assert "mine" in [each.name for each in hs.models(tmp_path / "headscope")]


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DEVICE", "cpu")
    with hs.open("en-causal") as model:
        assert model.devices == ("cpu",)
    monkeypatch.setenv("HEADSCOPE_DEVICE", "abacus")
    with pytest.raises(hs.Error, match="abacus"):
        hs.open("en-causal")


def test_a_missing_library(tmp_path: pathlib.Path) -> None:
    def run(library: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", "import headscope"],
            env={**os.environ, "HEADSCOPE_LIBRARY": library},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1
        return done.stderr

    said = run("/nix/libheadscope.so.0")
    assert "ImportError: headscope cannot load its library" in said and "HEADSCOPE_LIBRARY=/nix" in said
    import ctypes.util

    assert "is too old for this package: it has no hs_" in run(ctypes.util.find_library("m") or "libm.so.6")


def test_text_with_a_nul(model: hs.Translator) -> None:
    assert "\0" in model.translate("A\0house.").source


@pytest.mark.parametrize("count", [1000])
def test_opening_and_closing_leaves_no_memory(count: int) -> None:
    import resource

    def grown(times: int) -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(times):
            with hs.open("en-causal", engine=engine):
                pass
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    with hs.Engine("cpu", threads=1) as engine, hs.open("en-causal", engine=engine):
        grown(20)
        assert grown(count) <= 2 << 10
