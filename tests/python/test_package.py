"""The package as such: types, examples in docstrings and in the guide, and how long it takes to import."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pathlib
import pkgutil
import re
import shutil
import statistics
import subprocess
import sys

import pytest

import headscope as hs
from conftest import TREE

MODULES = [each.name for each in pkgutil.iter_modules(hs.__path__) if each.name != "_lib"]


def test_everything_public_has_a_docstring() -> None:
    for name in hs.__all__:
        found = getattr(hs, name)
        if name == "__version__":
            assert re.fullmatch(r"\d+\.\d+\.\d+", found)
            continue
        assert inspect.getdoc(found), name
        if inspect.isclass(found):
            ours = [each for each in found.__mro__ if each.__module__.startswith("headscope.")]
            for member, value in [item for each in ours for item in vars(each).items()]:
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"
    assert dir(hs) == sorted(hs.__all__)
    with pytest.raises(AttributeError):
        hs.nix  # noqa: B018


@pytest.mark.parametrize("name", ["", *MODULES])
def test_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DEVICE", "cpu")
    module = importlib.import_module("headscope." + name if name else "headscope")
    names = {each: getattr(hs, each) for each in hs.__all__} | {"hs": hs}
    found = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


def test_the_guide(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """The blocks of docs/python.md run one after the other; a comment behind print() is what it prints."""
    import contextlib
    import io

    monkeypatch.setenv("HEADSCOPE_DEVICE", "cpu")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.en").write_text("A house.\nGood morning!\n")
    names: dict[str, object] = {"__name__": "guide"}
    blocks = re.findall(r"```python\n(.*?)```", (TREE / "docs" / "python.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) > 10
    for block in blocks:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block, "docs/python.md", "exec"), names)
        for expected in re.findall(r"^ *print\(.*?\)  # (.*)$", block, re.MULTILINE):
            assert expected in said.getvalue(), (expected, said.getvalue())


def test_importing_takes_little_time() -> None:
    # Of the processor, so that other programs do not count.
    code = "import sys, time; a = time.process_time(); import headscope; b = time.process_time(); "
    code += "assert 'numpy' not in sys.modules and 'dataclasses' not in sys.modules; print(b - a)"
    taken = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(7)]
    print("import:", statistics.median(taken))
    assert min(taken) < 0.03


def test_text_needs_no_numpy() -> None:
    code = "import sys; sys.modules['numpy'] = None; import headscope as hs\n"
    code += "model = hs.open('en-de', devices='cpu'); print(model.translate('A house.'))\n"
    code += "a = model.attention('A house.'); a.figure().svg; a.heads()\n"
    code += "try: a['cross']\nexcept ImportError as error: print(error)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == (
        "Ein Haus.\narrays need NumPy: pip install numpy\n"
    )


@pytest.mark.parametrize("checker", ["mypy", "pyright", "ruff"])
def test_types(checker: str) -> None:
    if shutil.which(checker, path=os.path.dirname(sys.executable)) is None:
        pytest.skip(f"{checker} is not installed")
    arguments = {"pyright": ["--pythonpath", sys.executable], "ruff": ["check", "--quiet"]}.get(checker, [])
    program = os.path.join(os.path.dirname(sys.executable), checker)
    done = subprocess.run([program, *arguments], cwd=TREE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_type_checkers_know_what_is_asked(tmp_path: pathlib.Path) -> None:
    if shutil.which("mypy", path=os.path.dirname(sys.executable)) is None:
        pytest.skip("mypy is not installed")
    (tmp_path / "use.py").write_text(
        "import headscope as hs\n"
        "model = hs.Translator.open('en-de')\n"
        "reveal_type(model.translate('A'))\n"
        "reveal_type(model.translate(['A'], beam=3))\n"
        "model.translate('A', beem=3)\n"
        "model.translate('A', beam='three')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(pathlib.Path(hs.__file__).parents[1])},
    )
    assert 'Revealed type is "headscope._results.Translation"' in done.stdout, done.stdout
    assert 'Revealed type is "list[headscope._results.Translation]"' in done.stdout
    assert "use.py:5: error" in done.stdout and "use.py:6: error" in done.stdout
