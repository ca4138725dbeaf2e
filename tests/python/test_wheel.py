"""The wheels: what they hold, and that they translate with nothing else, on this processor and on older ones.

HEADSCOPE_WHEELS names the folder that python/wheels.sh wrote; without it these tests are skipped.
"""

from __future__ import annotations

import glob
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

TEXT = "The cat sleeps because it is tired."
TRANSLATE = f"""
import headscope as hs
with hs.open("en-de", devices="cpu") as model:
    print(model.translate({TEXT!r}))
"""
# What auditwheel leaves to the system, of which Python has the last two itself.
SYSTEMS = {"libc", "libgcc_s", "libm", "libstdc++", "libexpat", "libz"}


@pytest.fixture(scope="module")
def wheels() -> list[str]:
    """The files of the package and of its models."""
    folder = os.environ.get("HEADSCOPE_WHEELS", "")
    if not folder:
        pytest.skip("HEADSCOPE_WHEELS is not set to the folder of python/wheels.sh")
    found = sorted(glob.glob(os.path.join(folder, "headscope*.whl")))
    assert [os.path.basename(each).split("-")[0] for each in found] == ["headscope", "headscope_models"]
    return found


@pytest.fixture(scope="module")
def python(wheels: list[str], tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The interpreter of an environment with the wheels alone."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    found = folder / "bin" / "python"
    subprocess.run([found, "-m", "pip", "install", "-q", "--no-index", "--no-deps", *wheels], check=True)
    return found


def said(*command: str | pathlib.Path, folder: pathlib.Path) -> str:
    """What a command prints in an empty folder and environment: no library path, and no tree of sources nearby."""
    done = subprocess.run(command, cwd=folder, env={"HOME": str(folder)}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_it_is(wheels: list[str]) -> None:
    assert os.path.basename(wheels[0]).endswith(f"-py3-none-manylinux_2_34_{os.uname().machine}.whl")
    size = os.path.getsize(wheels[0])
    print("bytes:", size)
    assert size <= 25e6


@pytest.mark.parametrize("checker", ["check-wheel-contents", "twine check --strict"])
def test_checkers(checker: str, wheels: list[str]) -> None:
    name, *arguments = checker.split()
    program = shutil.which(name, path=os.path.dirname(sys.executable))
    if program is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([program, *arguments, *wheels], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_libraries_of_its_own(python: pathlib.Path, tmp_path: pathlib.Path) -> None:
    code = "def mapped(): return {line.split()[-1] for line in open('/proc/self/maps') if '.so' in line}\n"
    code += f"before = mapped()\n{TRANSLATE}\nprint(*(mapped() - before), sep='\\n')"
    _, *found = said(python, "-c", code, folder=tmp_path).splitlines()
    site = str(python.parents[1])
    assert any(site in each and "libheadscope" in each for each in found)
    others = {os.path.basename(each).split(".so")[0] for each in found if site not in each}
    assert {each for each in others if each.startswith("lib") and not each.startswith("libffi")} <= SYSTEMS


def test_it_translates_as_the_package(python: pathlib.Path, tmp_path: pathlib.Path) -> None:
    here = subprocess.check_output([sys.executable, "-c", TRANSLATE], text=True)
    assert said(python, "-c", TRANSLATE, folder=tmp_path) == here


@pytest.mark.parametrize("processor", ["qemu64", "Nehalem", "Haswell"])
def test_older_processors(processor: str, python: pathlib.Path, tmp_path: pathlib.Path) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("these are processors of x86_64")
    qemu = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
    if qemu is None:
        pytest.skip("qemu-x86_64 is missing: install qemu-user-static")
    here = said(python, "-c", TRANSLATE, folder=tmp_path)
    assert said(qemu, "-cpu", processor, python, "-c", TRANSLATE, folder=tmp_path) == here != ""
