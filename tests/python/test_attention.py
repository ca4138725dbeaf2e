"""Attention: arrays over the library's memory, records computed from others, pictures, and what others read."""

from __future__ import annotations

import gc
import json
import pathlib
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import headscope as hs

TEXT = "The cat sleeps because it is tired."


@pytest.fixture(scope="module")
def attention(model: hs.Translator) -> hs.Attention:
    return model.attention(TEXT)


def test_shapes(attention: hs.Attention) -> None:
    assert attention.kinds == ("encoder", "decoder", "cross")
    for kind in attention.kinds:
        weights = attention[kind]
        layers = {"encoder": 6, "decoder": 3, "cross": 3}[kind]
        assert weights.shape == (layers, 8, len(attention.queries(kind)), len(attention.keys(kind)))
        assert weights.dtype == np.float32
        assert np.allclose(weights.sum(-1), 1, atol=1e-5)
    assert attention.source[-1] == "<EOS>" and attention.target_in[0] == "<BOS>"
    assert "".join(attention.target_out).replace("▁", " ").startswith(" Die Katze")
    assert attention.output.startswith("Die Katze")


def test_arrays_are_read_only_and_lent(model: hs.Translator) -> None:
    attention = model.attention(TEXT)
    one, again = attention.layer("cross", 2), attention.layer("cross", 2)
    assert one.ctypes.data == again.ctypes.data and not one.flags.owndata
    assert attention["cross"] is attention["cross"]
    assert np.array_equal(attention["cross"][1], one)
    for weights in (one, attention["cross"]):
        with pytest.raises(ValueError, match="read-only"):
            weights[0] = 1
    expected = one.copy()
    del attention, again
    gc.collect()
    assert np.array_equal(one, expected)  # the array keeps its memory


def test_json_has_the_same_numbers(attention: hs.Attention) -> None:
    for site in json.loads(attention.to_json())["sites"]:
        weights = attention.layer(site["kind"], site["layer"])
        assert np.array_equal(np.float32(site["weights"]), weights.ravel())


def test_a_given_target(model: hs.Translator) -> None:
    found = model.attention("A house.", "Ein Haus.")
    assert found.output == "Ein Haus."
    assert found.log_probability == pytest.approx(model.score("A house.", "Ein Haus.").log_probability, abs=1e-4)


def test_one_layer_alone(model: hs.Translator) -> None:
    found = model.attention(TEXT, kind="cross", layer=2)
    assert found.kinds == ("cross",) and found.recorded("cross") == (2,)
    assert np.allclose(found["cross"][0], model.attention(TEXT).layer("cross", 2), atol=1e-6)
    with pytest.raises(KeyError, match="cross"):
        found["encoder"]


def test_language_models(lm: hs.LanguageModel, masked: hs.MaskedModel) -> None:
    read = lm.attention("The cat sleeps.")
    assert read.kinds == ("decoder",) and read.queries("decoder")[1:] == ("▁The", "▁cat", "▁sleep", "s", ".")
    assert np.triu(read["decoder"], 1).max() == 0  # nothing attends to what follows
    assert len(lm.attention("The cat", max_extra=3).target_in) > len(lm.attention("The cat").target_in)
    assert masked.attention("The [MASK] sleeps.").kinds == ("encoder",)


def test_computed_records(attention: hs.Attention, model: hs.Translator) -> None:
    mean = attention.mean("heads")
    assert np.allclose(mean["cross"][:, 0], attention["cross"].mean(1), atol=1e-6)
    assert np.allclose(attention.mean("layers")["encoder"][0], attention["encoder"].mean(0), atol=1e-6)
    expected = np.eye(len(attention.source))
    for layer in attention["encoder"]:
        mixed = 0.5 * layer.mean(0) + 0.5 * np.eye(len(attention.source))
        expected = mixed @ expected
    assert np.allclose(attention.rollout()["encoder"][-1, 0], expected, atol=1e-5)
    with model.edit(hs.uniform("cross", 1, 1)) as even:
        target = attention.output
        difference = even.attention(TEXT, target) - model.attention(TEXT, target)
    row = difference["cross"][0, 0]
    assert np.allclose(row, 1 / len(attention.source) - model.attention(TEXT, target)["cross"][0, 0], atol=1e-5)
    with pytest.raises(hs.Error):
        attention - model.attention("A house.")
    with pytest.raises(hs.InvalidError, match="heads"):
        attention.mean("words")


def test_heads(attention: hs.Attention) -> None:
    heads = attention.heads()
    assert len(heads) == 6 * 8 + 3 * 8 + 3 * 8
    one = next(each for each in heads if (each.kind, each.layer, each.head) == ("cross", 2, 3))
    weights = attention["cross"][1, 2].astype(float)
    entropy = -(weights * np.log2(np.maximum(weights, 1e-30))).sum(-1).mean()
    assert one.entropy == pytest.approx(entropy, abs=1e-4)
    assert one.sharpness == pytest.approx(weights.max(-1).mean(), abs=1e-5)


def test_words(attention: hs.Attention) -> None:
    words = attention.words("encoder", 5)
    assert words.queries == ("The", "cat", "sleeps", "because", "it", "is", "tired", ".", "<EOS>")
    assert words.weights.shape == (8, 9, 9)
    assert np.allclose(words.weights.sum(-1), 1, atol=1e-4)


def test_figures(attention: hs.Attention, tmp_path: pathlib.Path) -> None:
    figure = attention.figure(layer=2, kind="cross", heads=[1, 2], word="müde")
    assert ElementTree.fromstring(figure._repr_svg_()).tag.endswith("svg")
    assert figure.png()[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(figure.png(scale=4)) > len(figure.png(scale=1))
    for ending in ("svg", "png", "pdf", "html", "json"):
        figure.save(tmp_path / ("figure." + ending))
        assert (tmp_path / ("figure." + ending)).stat().st_size > 100
    with pytest.raises(hs.InvalidError, match="must end with"):
        figure.save(tmp_path / "figure.bmp")
    with pytest.raises(hs.InvalidError, match='"scale" is for png'):
        figure.save(tmp_path / "figure.svg", scale=3)
    with pytest.raises(hs.InvalidError, match='"title" is for a picture'):
        attention.figure(title="Heads").json()
    assert attention.figure(dark=True).svg != attention.figure().svg
    with pytest.raises(hs.InvalidError, match="paletto"):
        attention.figure(paletto="paper").svg
    with pytest.raises(hs.Error):
        attention.figure(layer=99).svg


def test_the_page_of_a_notebook_asks_for_nothing(attention: hs.Attention) -> None:
    page = attention._repr_html_()
    assert page.startswith("<iframe") and 'sandbox="allow-scripts"' in page
    for inside in (attention.figure().html(), attention.page(title="Heads")):
        assert "<script" in inside
        for reference in ("src=", "href=", "url(", "import ", "fetch("):
            assert reference not in inside, reference


def test_pages(model: hs.Translator, attention: hs.Attention) -> None:
    assert len(model.attention(TEXT, neurons=True).page()) > len(attention.page())
    assert "<script" in attention.rollout().page() and "<script" in (attention - attention).page()
    with pytest.raises(hs.InvalidError, match="layer"):
        attention.page(layer=3)


def test_as_transformers(attention: hs.Attention, lm: hs.LanguageModel) -> None:
    outputs = attention.as_transformers()
    assert {key: (len(value), value[0].shape[:2]) for key, value in outputs.items()} == {
        "encoder_attentions": (6, (1, 8)),
        "decoder_attentions": (3, (1, 8)),
        "cross_attentions": (3, (1, 8)),
    }
    assert list(lm.attention("The cat.").as_transformers()) == ["attentions"]
    with pytest.raises(hs.InvalidError):
        attention.as_transformers("tf")


def test_wrong_kinds(attention: hs.Attention) -> None:
    for use in (lambda: attention.layer("both", 1), lambda: attention["both"], lambda: attention.figure(kind="both")):
        with pytest.raises((hs.InvalidError, KeyError), match="encoder, decoder, cross"):
            use()
    assert "both" not in attention and "cross" in attention
