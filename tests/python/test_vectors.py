"""Texts as vectors, beside the command and values in the middle of a pass."""

from __future__ import annotations

import pytest

import headscope as hs
from conftest import Command

np = pytest.importorskip("numpy")

TEXTS = ["The cat sleeps.", "Good morning!", "She gave him the book because he had asked for it."]


def test_lines(model: hs.Translator, command: Command) -> None:
    found = model.embed(TEXTS)
    assert found.shape == (3, 256) and found.dtype == np.float32
    rows = command.rows("embed", "--model", "assets/models/en-de", input="\n".join(TEXTS) + "\n")
    assert np.array_equal(found, np.array([row["vector"] for row in rows], dtype=np.float32))
    alone = model.embed(TEXTS[1])
    assert alone.shape == (256,) and np.abs(alone - found[1]).max() < 1e-5
    assert model.embed([]).shape[0] == 0


def test_layers_and_words(masked: hs.MaskedModel) -> None:
    sites = ["encoder.embedding", "encoder.*.residual_out", "encoder.norm"]
    states = masked.run("The [MASK] sleeps.", record=sites).states
    last = len(states) - 2
    for layer, site in ((0, "encoder.embedding"), (1, "encoder.0.residual_out"), (None, "encoder.norm")):
        wanted = states[site]
        assert np.abs(masked.embed("The [MASK] sleeps.", layer=layer) - wanted.mean(0)).max() < 1e-5
        assert np.abs(masked.embed("The [MASK] sleeps.", layer=layer, pooling="first") - wanted[0]).max() < 1e-5
    words = masked.embed("The [MASK] sleeps.", unit="word")
    assert words.labels == ("The", "[MASK]", "sleeps", ".") and words.array.shape == (4, wanted.shape[1])
    assert np.abs(words[1][1] - wanted[2]).max() < 1e-5 and len(words[1:3]) == 2
    assert [len(each) for each in masked.embed(TEXTS[:2], unit="word")] == [4, 3]
    with pytest.raises(hs.Error, match=f"to {last}"):
        masked.embed("The cat.", layer=last + 1)


def test_edits(model: hs.Translator) -> None:
    with model.edit(hs.off("encoder", layer=1, head=1)) as without:
        changed = without.embed(TEXTS[:2])
        assert np.abs(changed - model.embed(TEXTS[:2])).max() > 1e-3
        assert np.abs(changed[1] - without.embed(TEXTS[1])).max() < 1e-5


def test_problems(model: hs.Translator) -> None:
    with pytest.raises(hs.InvalidError, match="text 2 of 2: the text is empty"):
        model.embed(["A house.", ""])
    with pytest.raises(hs.Error, match="no class token"):
        model.embed("A house.", pooling="first")
    with pytest.raises(hs.InvalidError, match="pooling"):
        model.embed("A house.", pooling="sum")


def test_cosines() -> None:
    found = hs.cosines([[1.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [-1.0, 1.0]])
    assert found == pytest.approx(np.array([[1.0, -(0.5**0.5)], [0.0, 0.0]]))
    with pytest.raises(hs.InvalidError, match="have no angle"):
        hs.cosines([1.0], [1.0, 2.0])
