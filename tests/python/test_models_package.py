"""The package headscope-models: one wheel with the bundled models, which open() finds once it is installed."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

import headscope as hs
from conftest import TREE

MODELS = ("en-causal", "en-de", "en-masked", "en-trees")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    code = f"import hatchling.build; print(hatchling.build.build_wheel({str(folder)!r}))"
    out = subprocess.check_output([sys.executable, "-c", code], cwd=TREE / "python" / "models", text=True)
    return folder / out.split()[-1]


def test_what_the_wheel_has(wheel: pathlib.Path) -> None:
    assert wheel.name == f"headscope_models-{hs.__version__}-py3-none-any.whl"
    assert wheel.stat().st_size < 40e6
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
        for model in MODELS:
            for path in (TREE / "assets" / "models" / model).iterdir():
                assert files.read(f"headscope_models/models/{model}/{path.name}") == path.read_bytes()
        info = f"headscope_models-{hs.__version__}.dist-info"
        assert f"{info}/licenses/LICENSE" in names
        assert "License-Expression: LicenseRef-CC-BY-2.0-FR AND CC-BY-3.0" in files.read(f"{info}/METADATA").decode()
        assert all(name.startswith(("headscope_models/", info)) for name in names)


def test_open_finds_them(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel], check=True)
    # The package outside of its tree, where it would find the models of the tree.
    shutil.copytree(pathlib.Path(hs.__file__).parent, tmp_path / "headscope")
    code = """
import headscope as hs
with hs.open("en-de", devices="cpu") as model:
    print(model.translate("A house."), model.path, [each.name for each in hs.models()], sep="\\n")
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said, path, names = done.stdout.splitlines()
    assert said == "Ein Haus."
    assert pathlib.Path(path).is_relative_to(tmp_path / "venv")
    assert all(repr(name) in names for name in MODELS)
