"""BLEU and chrF are what `headscope evaluate` prints."""

from __future__ import annotations

import json
import pathlib
import sys

import pytest

import headscope as hs
from conftest import TREE, Command

PAIRS = [
    line.split("\t")
    for line in (TREE / "assets" / "configs" / "en-de-test.tsv").read_text(encoding="utf-8").splitlines()[:100]
]


def test_as_the_command(model: hs.Translator, command: Command, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("sacrebleu")
    translations = model.translate([pair[0] for pair in PAIRS], beam=1)
    references = [pair[1] for pair in PAIRS]
    others = [each.text for each in model.translate([pair[0] for pair in PAIRS], beam=1, length_penalty=2.0)][::-1]
    for name, lines in (("de", map(str, translations)), ("ref", references), ("other", others)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    for lists, names in (((references,), ["ref"]), ((references, others), ["ref", "other"])):
        flags = [part for name in names for part in ("--reference", str(tmp_path / name))]
        row = json.loads(command.run("evaluate", "--json", "--hypotheses", str(tmp_path / "de"), *flags))
        assert hs.bleu(translations, *lists) == pytest.approx(row["bleu"], abs=1e-6)
        assert hs.chrf([str(each) for each in translations], *lists) == pytest.approx(row["chrf"], abs=1e-6)


def test_refused() -> None:
    pytest.importorskip("sacrebleu")
    for measure in (hs.bleu, hs.chrf):
        with pytest.raises(TypeError, match="lists of lines"):
            measure("A", ["A"])
        with pytest.raises(hs.InvalidError, match="at least one"):
            measure([], [])
        with pytest.raises(hs.InvalidError, match="at least one"):
            measure(["A"])
        with pytest.raises(hs.InvalidError, match="2 translations have 1 references in list 2"):
            measure(["A", "B"], ["A", "B"], ["A"])


def test_without_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(ImportError, match="pip install sacrebleu"):
        hs.bleu(["A"], ["A"])
