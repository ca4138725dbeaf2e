"""Values in the middle of a pass: recorded, patched and hooked; importance, saliency and edits."""

from __future__ import annotations

import gc
import time
from typing import Any, Callable

import numpy as np
import pytest

import headscope as hs

TEXT, OTHER, TARGET = "The man saw her.", "The woman saw her.", "Der Mann sah sie."
SITE = "encoder.0.residual_out"


def test_states(model: hs.Translator) -> None:
    run = model.run(TEXT, TARGET, record=["encoder.*.residual_out", "decoder.*.cross_attention.weights", "logits"])
    assert len(run.states) == 6 + 3 + 1
    assert run.states[SITE].shape == (6, 256) and run.states[SITE].dtype == np.float32
    attention = model.attention(TEXT, TARGET)
    assert np.allclose(run.states["decoder.1.cross_attention.weights"], attention["cross"][1], atol=1e-6)
    logits = run.states["logits"].astype(float)
    each = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    assert np.allclose(each[np.arange(len(run.ids)), run.ids], run.token_log_probabilities, atol=1e-4)
    assert run.log_probability == pytest.approx(model.score(TEXT, TARGET).log_probability, abs=1e-4)
    assert [step.rank for step in run.steps] == [
        1 + int((row > row[token]).sum()) for row, token in zip(logits, run.ids)
    ]
    state = run.states[SITE]
    del run
    gc.collect()
    assert np.isfinite(state).all() and not state.flags.writeable
    with pytest.raises(KeyError, match="not recorded"):
        model.run(TEXT, TARGET).states["logits"]


def test_every_site(model: hs.Translator, lm: hs.LanguageModel, masked: hs.MaskedModel) -> None:
    for each, text, target in ((model, TEXT, TARGET), (lm, TEXT, None), (masked, "The [MASK] sleeps.", None)):
        run = each.run(text, target, record=list(each.sites))
        assert set(run.states) == set(each.sites)
    assert model.matching_sites("encoder.*.self_attention.z")[0] == "encoder.0.self_attention.z"
    with pytest.raises(hs.NotFoundError):
        model.matching_sites("encoder.*.nix")


def test_patches(model: hs.Translator) -> None:
    base = model.run(TEXT, TARGET, record=[SITE, "encoder.0.self_attention.z"])
    state = base.states[SITE]
    worse = model.run(OTHER, TARGET)
    assert worse.log_probability < base.log_probability - 1
    # All of a value that is there changes nothing.
    assert model.run(TEXT, TARGET, patch={SITE: state}).log_probability == base.log_probability
    whole = model.run(OTHER, TARGET, patch={SITE: state}).log_probability
    assert whole == pytest.approx(base.log_probability, abs=1e-4)
    noun = model.run(OTHER, TARGET, patch={SITE: (state, slice(1, 2))}).log_probability
    same = model.run(OTHER, TARGET, patch={SITE: hs.Patch(state[1:2].astype(float), first=1)}).log_probability
    assert noun == same and noun > worse.log_probability + 1
    z = base.states["encoder.0.self_attention.z"]
    head = model.run(OTHER, TARGET, patch={"encoder.0.self_attention.z": hs.Patch(z[2], head=3)})
    assert head.log_probability != worse.log_probability


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        (np.zeros((6, 255), np.float32), "255"),
        (np.zeros((60, 256)), "60"),
        (np.zeros((1, 1, 1, 1, 256)), "dimensions"),
        (np.zeros((0, 256)), "no values"),
        (np.full((1, 256), np.nan), "NaN"),
        (np.full((1, 256), 1e300), "beyond float32"),
        (np.zeros((1, 256), int), "floats"),
        (np.zeros((1, 256), complex), "floats"),
        (np.array([["a"] * 256]), "floats"),
        ((np.zeros((6, 256)), slice(0, 6, 2)), "step 1"),
        ((np.zeros((6, 256)), 3), "slice"),
        (hs.Patch(np.zeros((1, 256)), first=-1), "first"),
        (hs.Patch(np.zeros((1, 256)), head=1), "head"),
    ],
)
def test_bad_patches(model: hs.Translator, patch: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        model.run(TEXT, TARGET, patch={SITE: patch})


def test_patches_of_any_order(model: hs.Translator) -> None:
    state = model.run(TEXT, TARGET, record=SITE).states[SITE]
    frozen = np.asfortranarray(state)
    frozen.flags.writeable = False
    reversed_twice = state[::-1, ::-1][::-1, ::-1]
    expected = model.run(OTHER, TARGET, patch={SITE: state}).log_probability
    for values in (frozen, reversed_twice, state.astype(np.float64), state.astype(">f4")):
        assert model.run(OTHER, TARGET, patch={SITE: values}).log_probability == expected


def test_hooks(model: hs.Translator) -> None:
    base = model.run(TEXT, TARGET)
    seen: list[tuple[int, ...]] = []

    def look(values: Any) -> None:
        seen.append(values.shape)

    assert model.run(TEXT, TARGET, hooks={"encoder.*.residual_out": look}).log_probability == base.log_probability
    assert seen == [(6, 256)] * 6

    def in_place(z: Any) -> None:
        z[:] = 0

    site = "decoder.2.cross_attention.z"
    zero = model.run(TEXT, TARGET, hooks={site: lambda z: z * 0}).log_probability
    assert zero == model.run(TEXT, TARGET, hooks={site: in_place}).log_probability < base.log_probability
    with model.edit(*(hs.off("cross", 3, head) for head in range(1, 9))) as without:
        assert without.run(TEXT, TARGET).log_probability == pytest.approx(zero, abs=1e-4)
    kept: list[Any] = []
    model.run(TEXT, TARGET, hooks={site: kept.append})
    gc.collect()
    assert np.isfinite(kept[0]).all()  # what a hook keeps is its own


def test_a_hook_that_raises(model: hs.Translator) -> None:
    def fail(values: Any) -> None:
        raise KeyError("oops")

    with pytest.raises(hs.Error, match="oops") as caught:
        model.run(TEXT, TARGET, hooks={"logits": fail})
    assert isinstance(caught.value.__cause__, KeyError)
    for hook, problem in ((lambda z: z[:, :1], "shape"), (lambda z: z.astype(int), "int64"), (lambda z: "a", "floats")):
        with pytest.raises(hs.Error, match=problem):
            model.run(TEXT, TARGET, hooks={"logits": hook})
    with pytest.raises(TypeError):
        model.run(TEXT, TARGET, hooks={"logits": 3})  # type: ignore[dict-item]
    assert model.run(TEXT, TARGET).log_probability < 0


def test_unknown_sites(model: hs.Translator) -> None:
    for arguments in (
        {"record": ["encoder.9.residual_out"]},
        {"patch": {"nix": np.zeros((1, 1))}},
        {"hooks": {"x": print}},
    ):
        with pytest.raises(hs.Error, match="no site"):
            model.run(TEXT, TARGET, **arguments)


def test_transformer_lens_names(model: hs.Translator, lm: hs.LanguageModel) -> None:
    names = hs.transformer_lens_names(lm.sites)
    assert names["blocks.3.attn.hook_pattern"] == "decoder.3.self_attention.weights"
    assert names["blocks.0.hook_resid_pre"] == "decoder.0.residual_in"
    assert set(names.values()) <= set(lm.sites)
    both = hs.transformer_lens_names(model.sites)
    assert both["encoder.5.mlp.hook_post"] == "encoder.5.feed_forward.hidden"
    assert both["decoder.0.cross_attn.hook_pattern"] == "decoder.0.cross_attention.weights"


def test_edits(model: hs.Translator) -> None:
    text = "She gave him the book."
    every = [hs.off("cross", layer, head) for layer in (1, 2, 3) for head in range(1, 9)]
    with model.edit(*every) as blind:
        assert blind.translate(text).text != model.translate(text).text
        assert [each.text for each in blind.translate([text, text])] == [blind.translate(text).text] * 2
    with model.edit() as same:
        assert same.translate(text).text == model.translate(text).text
    with model.edit(hs.pin("encoder", 1, 1, key=0)) as pinned:
        assert np.allclose(pinned.attention(text)["encoder"][0, 0, :, 0], 1)
    with pytest.raises(hs.ClosedError):
        pinned.attention(text)
    with model.edit(hs.off("cross", 1, 1)).edit(hs.off("cross", 1, 2)) as two:
        assert len(two.edits) == 2 and "2 edits" in repr(two)
        with pytest.raises(hs.UnsupportedError, match="translate"):
            two.stream("A house.")
    assert str(model.translate("A house.")) == "Ein Haus."  # a view's end is not the model's
    with pytest.raises(hs.InvalidError):
        hs.off("cross", 0, 1)
    with pytest.raises(hs.InvalidError):
        hs.off("crass", 1, 1)
    with pytest.raises(hs.Error):
        model.edit(hs.off("cross", 9, 1)).translate(text)


def test_importance(model: hs.Translator) -> None:
    worth = model.importance(TEXT, TARGET)
    assert [worth[kind].shape for kind in worth.kinds] == [(6, 8), (3, 8), (3, 8)]
    assert worth.array.shape == (96, 4)
    base = model.run(TEXT, TARGET).log_probability
    best = worth.ranked()[0]
    with model.edit(hs.off(best.kind, best.layer, best.head)) as without:
        assert base - without.run(TEXT, TARGET).log_probability == pytest.approx(best.loss, abs=1e-4)
    assert worth[best.kind][best.layer - 1, best.head - 1] == best.loss
    assert worth.figure().svg.count("<rect") == 97 and worth._repr_svg_()
    assert model.importance(TEXT).log_probability > worth.log_probability - 5  # of its own translation


def test_saliency(model: hs.Translator, lm: hs.LanguageModel) -> None:
    one = model.saliency(TEXT, TARGET)
    many = model.saliency(TEXT, TARGET, steps=8)
    assert one.source is not None and one.source.shape == (len(one.predicted), len(one.source_tokens)) == (6, 6)
    assert one.target.shape == (6, len(one.target_tokens))
    assert many.source is not None and not np.allclose(one.source, many.source)
    assert "gradient times embedding" in one.figure().svg and one._repr_svg_()
    assert "integrated gradients" in many.figure().svg
    assert one.target_tokens[-1] in one.figure(side="target").svg != one.figure(side="source").svg == one.figure().svg
    alone = lm.saliency("The cat sleeps.")
    assert alone.source is None and alone.figure().svg == alone.figure(side="target").svg
    for saliency, side in ((one, "both"), (alone, "source")):
        with pytest.raises(hs.InvalidError, match="side must be"):
            saliency.figure(side=side)


def test_a_hook_cannot_ask_its_engine(model: hs.Translator) -> None:
    asking: tuple[Callable[[], Any], ...] = (
        lambda: model.translate("A house."),
        lambda: next(model.stream("A house.")),
        lambda: model.attention("A house."),
        lambda: hs.open("en-causal", engine=model.engine),
        lambda: model.load(),
        lambda: model.engine.drain(),
    )
    for ask in asking:
        with pytest.raises(hs.Error, match="must not ask its own engine") as caught:
            model.run(TEXT, TARGET, hooks={"encoder.0.residual_out": lambda _, ask=ask: ask()})
        assert isinstance(caught.value.__cause__, hs.InvalidError)
    with hs.Engine("cpu", threads=1) as engine, hs.open("en-causal", engine=engine) as other:
        said = []
        hook = lambda _: said.append((other.complete("Could", max_tokens=1), model.tokenize(TEXT), model.engine))  # noqa: E731
        model.run(TEXT, TARGET, hooks={"encoder.0.residual_out": hook})
        assert len(said) == 1
    assert model.translate("A house.").text == "Ein Haus."


def test_hooks_leave_no_memory(model: hs.Translator) -> None:
    import resource

    def grown(count: int) -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(count):
            model.run(TEXT, TARGET, record=["logits"], hooks={"logits": lambda z: None})
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    grown(20)
    start = time.monotonic()
    assert grown(60) < 8 << 10
    assert time.monotonic() - start < 60
