"""Changed heads in all that a device works for, and masks as targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headscope as hs

TEXT, TARGET = "She gave him the book.", "Sie gab ihm das Buch."


def every(model: Any, kind: str, make: Any = hs.off) -> list[hs.Edit]:
    return [make(kind, layer + 1, head + 1) for layer in range(model.layers[kind]) for head in range(model.heads)]


def test_completing(lm: hs.LanguageModel) -> None:
    plain = lm.complete("Could you please", max_tokens=8)
    with lm.edit(*every(lm, "decoder")[::2]) as blind:
        found = blind.complete(["Could you please", "The weather is"], max_tokens=8, n_best=2, beam=2, top=3)
        assert found[0].text != plain.text and len(found[0].n_best) == 2 and len(found[1].top[0]) == 3
        alone = blind.complete("Could you please", max_tokens=8)
        streamed = "".join(each.text for each in blind.stream("Could you please", max_tokens=8))
        assert streamed == alone.text
        run = blind.run("Could you please", alone.text)
        written = len(alone.ids) - (alone.end == "end")
        assert tuple(run.ids[-written:]) == alone.ids[:written]
        assert np.allclose(run.token_log_probabilities[-written:], alone.token_log_probabilities[:written], atol=1e-4)
        sampled = [blind.complete("Could you please", max_tokens=8, temperature=1.0, seed=3).text for _ in range(2)]
        assert sampled[0] == sampled[1]
        assert blind.next("Could you please", top=1)[0].text == alone.tokens[0]
    with lm.edit() as same:
        assert same.complete("Could you please", max_tokens=8) == plain


def test_filling(masked: hs.MaskedModel) -> None:
    text = "She opened the [MASK]."
    with masked.edit(*every(masked, "encoder")) as blind:
        found = blind.fill(text)
        assert found.masks != masked.fill(text).masks
        run = blind.run(text)
        assert found.masks[0][0].log_probability == pytest.approx(run.token_log_probabilities[0], abs=1e-5)
        two = blind.fill("The [MASK] opened the [MASK].", one_by_one=True)
        assert len(two.masks) == 2


def test_scoring(model: hs.Translator, lm: hs.LanguageModel, masked: hs.MaskedModel) -> None:
    with model.edit(*every(model, "cross")) as blind:
        scores = blind.score([TEXT, "", "A house."], [TARGET, "a", "Ein Haus."], errors="keep")
        assert scores[0].log_probability == pytest.approx(blind.run(TEXT, TARGET).log_probability, abs=1e-4)
        assert scores[0].log_probability < model.score(TEXT, TARGET).log_probability
        assert scores[1].problem and not scores[2].problem
    with lm.edit(*every(lm, "decoder", hs.uniform)) as blurred:
        assert blurred.score(TEXT).nll == pytest.approx(-np.mean(blurred.run(TEXT).token_log_probabilities), abs=0.5)
        assert blurred.score(TEXT).nll > lm.score(TEXT).nll
    with masked.edit(*every(masked, "encoder")) as hollow:
        assert hollow.score(TEXT).nll != masked.score(TEXT).nll


def test_without_the_causal_mask(model: hs.Translator, lm: hs.LanguageModel) -> None:
    with lm.edit(hs.unmasked("decoder", layer=1, head=2)) as open_head:
        weights = open_head.attention(TEXT)["decoder"]
        later = np.triu(np.ones(weights.shape[-2:]), k=1).astype(bool)
        assert (weights[0, 1][later] > 0).any() and not weights[0, 0][later].any()
        assert open_head.score(TEXT).nll != lm.score(TEXT).nll
    with pytest.raises(hs.InvalidError, match="causal mask"), model.edit(hs.unmasked("cross", 1, 1)) as wrong:
        wrong.translate("A house.")


def test_saliency(model: hs.Translator) -> None:
    heads = every(model, "encoder", hs.uniform)[:20]
    with model.edit(*heads) as blurred:
        saliency = blurred.saliency("A house.", "Ein Haus.", steps=128)
        total = float(saliency.target.sum()) + float(saliency.source.sum() if saliency.source is not None else 0.0)
        clear = {f"{stack}.embedding.tokens": lambda values: values * 0 for stack in ("encoder", "decoder")}
        gained = (
            blurred.run("A house.", "Ein Haus.").log_probability
            - blurred.run("A house.", "Ein Haus.", hooks=clear).log_probability
        )
        assert total == pytest.approx(gained, rel=0.04)
        assert blurred.importance("A house.", "Ein Haus.")["encoder"].shape == (6, 8)


def test_masks(masked: hs.MaskedModel) -> None:
    text = "She opened the [MASK]."
    worth = masked.importance(text)
    best = masked.fill(text).masks[0][0]
    assert best.text == "door" and worth.log_probability == pytest.approx(best.log_probability, abs=1e-4)
    assert masked.importance(text, "door").log_probability == worth.log_probability
    other = masked.importance(text, "window")
    assert other.log_probability < worth.log_probability
    head = other.ranked()[0]
    with masked.edit(hs.off(head.kind, head.layer, head.head)) as without:
        lost = other.log_probability - without.importance(text, "window").log_probability
    assert lost == pytest.approx(head.loss, abs=1e-4)
    assert worth.figure().svg
    saliency = masked.saliency(text, "window", steps=64)
    assert saliency.source is None and saliency.predicted == ("▁window",)
    assert saliency.target.shape == (1, len(saliency.target_tokens))
    site = masked.matching_sites("*.embedding.tokens")[0]
    run = {
        "zero": masked.run(text, "window", hooks={site: lambda values: values * 0}),
        "all": masked.run(text, "window"),
    }
    gained = run["all"].log_probability - run["zero"].log_probability
    assert float(saliency.target.sum()) == pytest.approx(gained, rel=0.04)
    for use in (masked.importance, masked.saliency):
        with pytest.raises(hs.InvalidError, match="no token whose probability could change"):
            use("She opened the door.")
        with pytest.raises(hs.InvalidError, match="1 masks, but 2 tokens"):
            use(text, "door door")
        with pytest.raises(hs.InvalidError, match="a mask stands for one"):
            use(text, "floccinaucinihilipilification")


def test_heads_that_there_are_not(model: hs.Translator, lm: hs.LanguageModel, masked: hs.MaskedModel) -> None:
    uses = (
        lambda: lm.edit(hs.off("decoder", 99, 1)).complete("A"),
        lambda: lm.edit(hs.off("cross", 1, 1)).score("A"),
        lambda: masked.edit(hs.off("encoder", 1, 99)).fill("[MASK]"),
        lambda: model.edit(hs.off("encoder", 1, 99)).saliency(TEXT, TARGET),
    )
    for use in uses:
        with pytest.raises(hs.InvalidError, match="edits"):
            use()
