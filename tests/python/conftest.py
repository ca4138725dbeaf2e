"""Models that tests share, and the commands that they are compared with.

HEADSCOPE names the program; without it, tests that compare with the commands are skipped.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

import headscope as hs

TREE = pathlib.Path(__file__).resolve().parents[2]

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell in the background has it ignored


class Command:
    """The program, on the CPU."""

    def __init__(self, program: str) -> None:
        self.program = program

    def run(self, *arguments: str, input: str | None = None) -> str:
        done = subprocess.run(
            [self.program, *arguments], input=input, capture_output=True, text=True, cwd=TREE, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rows(self, *arguments: str, input: str | None = None) -> list[dict[str, Any]]:
        """The objects that --json prints, one on each line."""
        out = self.run(*arguments, "--device", "cpu", "--json", input=input)
        return [json.loads(line) for line in out.splitlines()]


@pytest.fixture(scope="session")
def command() -> Command:
    program = os.environ.get("HEADSCOPE", "")
    if not program:
        pytest.skip("HEADSCOPE is not set to the program")
    return Command(os.path.abspath(program))


def kit_folder(name: str) -> str:
    """A folder of other programs' models, as for `./do check import`."""
    for kit in os.environ.get("HEADSCOPE_IMPORT_KITS", "").split(":"):
        if kit and os.path.isdir(os.path.join(kit, name)):
            return os.path.join(kit, name)
    pytest.skip(f"HEADSCOPE_IMPORT_KITS has no {name}")


def _open(name: str) -> Iterator[Any]:
    with hs.open(name, devices="cpu") as model:
        yield model


@pytest.fixture(scope="session")
def model() -> Iterator[hs.Translator]:
    yield from _open("en-de")


@pytest.fixture(scope="session")
def lm() -> Iterator[hs.LanguageModel]:
    yield from _open("en-causal")


@pytest.fixture(scope="session")
def masked() -> Iterator[hs.MaskedModel]:
    yield from _open("en-masked")


@pytest.fixture(scope="session")
def lines() -> list[str]:
    """English sentences, of which some are long and one is empty."""
    text = (TREE / "assets" / "configs" / "en-de-test.tsv").read_text(encoding="utf-8")
    found = [line.split("\t")[0] for line in text.splitlines() if "\t" in line][:120]
    assert len(found) == 120
    return [*found, "", "Café \N{SNOWMAN} 東京 straße"]
