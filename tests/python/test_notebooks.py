"""The notebooks of docs/notebooks run, and are kept without outputs."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib

import pytest

from conftest import TREE, Command

NOTEBOOKS = sorted((TREE / "docs" / "notebooks").glob("*.ipynb"))


def test_no_outputs() -> None:
    assert len(NOTEBOOKS) == 5
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs") and cell.get("execution_count") is None, path


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: pathlib.Path, command: Command, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    if path.stem == "transformers":
        if importlib.util.find_spec("transformers") is None or importlib.util.find_spec("torch") is None:
            pytest.skip("transformers and PyTorch are not installed")
        command.run("export", "en-causal", "--format", "huggingface", "--output", str(tmp_path / "gpt2"))
    monkeypatch.setenv("HEADSCOPE_DEVICE", "cpu")
    for name in ("HEADSCOPE_LIBRARY", "PYTHONPATH"):  # the kernel works in another folder
        if os.environ.get(name):
            monkeypatch.setenv(name, os.path.abspath(os.environ[name]))
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/svg+xml" in output.get("data", {}) for output in shown) or path.stem == "translate"
