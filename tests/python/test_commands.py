"""Python gives what the commands print with --json, bit for bit on one device."""

from __future__ import annotations

import json
from typing import Any

import pytest

import headscope as hs
from conftest import Command

TEXTS = ["The weather is nice today.", "A house.", "I don't know what to say."]


def check_translations(found: list[hs.Translation], rows: list[dict[str, Any]], rounding: float = 0.0) -> None:
    assert len(found) == len(rows)
    for ours, theirs in zip(found, rows):
        assert ours.source == theirs["source"]
        assert ours.text == (theirs["translation"] or "")
        if ours.problem or theirs.get("problem"):
            assert ours.problem == theirs["problem"]
            continue
        assert ours.score == pytest.approx(theirs["score"], abs=rounding, rel=0)
        assert ours.log_probability == pytest.approx(theirs["log_probability"], abs=rounding, rel=0)
        assert list(ours.tokens) == theirs["tokens"]
        assert [list(pair) for pair in ours.alignment] == theirs.get("alignment", [])
        assert ours.cut == theirs.get("cut", False)
        assert ours.sentences == theirs.get("sentences", 0)
        assert ours.remark == theirs.get("remark", "")
        assert [each.text for each in ours.n_best] == [each["translation"] for each in theirs.get("n_best", [])]


@pytest.mark.parametrize(
    "options", [{}, {"beam": 1}, {"n_best": 3}, {"sample": True, "seed": 5}, {"length_penalty": 1.0, "max_extra": 3}]
)
def test_translate(model: hs.Translator, command: Command, lines: list[str], options: dict[str, Any]) -> None:
    flags: list[str] = []
    for key, value in options.items():
        flags += ["--" + key.replace("_", "-")] + ([] if value is True else [str(value)])
    rows = command.rows("translate", *flags, input="".join(line + "\n" for line in lines))
    # The command begins with few lines, to write early, and so forms other batches: sums are rounded otherwise.
    check_translations(model.translate(lines, **options), rows, rounding=1e-4)


def test_translate_alone(model: hs.Translator, command: Command) -> None:
    for text in TEXTS:
        check_translations([model.translate(text)], command.rows("translate", "--text", text))


def test_alignment(model: hs.Translator, command: Command) -> None:
    rows = command.rows("translate", "--alignments", input="".join(text + "\n" for text in TEXTS))
    check_translations(model.translate(TEXTS, alignment=True), rows, rounding=1e-4)


def test_translate_in_eight_bits(command: Command) -> None:
    with hs.open("en-de", devices="cpu", precision="i8") as model:
        rows = command.rows("translate", "--precision", "i8", input="".join(text + "\n" for text in TEXTS))
        check_translations(model.translate(TEXTS), rows)


@pytest.mark.parametrize("options", [{}, {"beam": 4, "n_best": 2}])
def test_complete(lm: hs.LanguageModel, command: Command, options: dict[str, Any]) -> None:
    flags = [part for key, value in options.items() for part in ("--" + key.replace("_", "-"), str(value))]
    for prompt in ["Could you please", "The weather"]:
        (row,) = command.rows("complete", "--model", "en-causal", *flags, prompt)
        found = lm.complete(prompt, **options)
        for ours, theirs in zip([found, *found.n_best], [row, *row.get("n_best", [])]):
            assert ours.text == theirs["completion"]
            assert ours.log_probability == theirs["log_probability"]
            assert list(ours.tokens) == theirs["tokens"]
            assert list(ours.token_log_probabilities) == theirs["token_log_probabilities"]
            assert ours.end == theirs["end"]
        assert len(found.n_best) == len(row.get("n_best", []))


def test_fill(masked: hs.MaskedModel, command: Command) -> None:
    text = "She [MASK] the [MASK]."
    (row,) = command.rows("fill", "--top", "3", text)
    found = masked.fill(text, top=3)
    assert found.text == row["filled"]
    for ours, theirs in zip(found.masks, row["masks"]):
        assert [each.text for each in ours] == [each["word"] for each in theirs]
        assert [each.id for each in ours] == [each["id"] for each in theirs]
        assert [each.log_probability for each in ours] == [each["log_probability"] for each in theirs]


def test_score(model: hs.Translator, lm: hs.LanguageModel, command: Command, tmp_path: Any) -> None:
    pairs = [("A house.", "Ein Haus."), ("The cat sleeps.", "Die Katze schläft.")]
    (tmp_path / "pairs.tsv").write_text("".join("\t".join(pair) + "\n" for pair in pairs), encoding="utf-8")
    rows = command.rows("score", "--tsv", str(tmp_path / "pairs.tsv"))
    found = model.score([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    (tmp_path / "lines.txt").write_text("".join(text + "\n" for text in TEXTS), encoding="utf-8")
    rows += command.rows("score", "--model", "en-causal", "--text", str(tmp_path / "lines.txt"))
    for ours, theirs in zip([*found, *lm.score(TEXTS)], rows):
        assert ours.log_probability == theirs["log_probability"]
        assert ours.nll == theirs["nll"]
        assert list(ours.tokens) == [each["token"] for each in theirs["tokens"]]
        assert list(ours.token_log_probabilities) == [each["log_probability"] for each in theirs["tokens"]]


@pytest.mark.parametrize(
    ("name", "text"),
    [("en-de", "The cat sleeps."), ("en-causal", "The cat sleeps."), ("en-masked", "The [MASK] sleeps.")],
)
def test_attention(command: Command, name: str, text: str) -> None:
    kind = ["--kind", "cross"] if name == "en-de" else []
    arguments = f"attention --all-heads --json --device cpu -m {name} --text".split()
    row = json.loads(command.run(*arguments, text, *kind))
    with hs.open(name, devices="cpu") as model:
        found = json.loads(model.attention(text).to_json())
    # The command records what it draws; a masked model's record also has what it filled in.
    sites = {(site["kind"], site["layer"]): site for site in found["sites"]}
    assert row["sites"]
    for site in row["sites"]:
        # Of its own translation, the command takes the weights of the search, here they are those of a second pass.
        exact = pytest.approx(site["weights"], abs=1e-6 if kind else 0.0, rel=0)
        assert sites[site["kind"], site["layer"]]["weights"] == exact
    for token in row.get("target_out", ()) if kind else ():
        assert 0 < token.pop("probability") <= 1  # which the search knows
    for key in row.keys() - {"schema", "sites", "fills"}:
        assert found[key] == row[key]


def test_figure(model: hs.Translator, command: Command) -> None:
    text = "The cat sleeps."
    attention = model.attention(text)
    words = command.run("attention", "--device", "cpu", "--text", text, "--word", "cat", "-o", "-", "--format", "svg")
    assert attention.figure(word="cat").svg == words
    matrix = command.run(*"attention --device cpu --layer 2 --heads 3 --matrix -o - --format svg --text".split(), text)
    assert attention.matrix(layer=2, head=3).svg == matrix
    grid = command.run(*"attention --device cpu --all-heads --sort distance -o - --format svg --text".split(), text)
    assert attention.grid(sort="distance").svg == grid


def test_tokenize(model: hs.Translator, command: Command) -> None:
    text = "The cat's café is straße."
    (row,) = [json.loads(command.run("tokenize", "--json", "--text", text))]
    data = text.encode()
    for ours, theirs in zip(model.tokenize(text), row["pieces"]):
        assert (ours.text, ours.id) == (theirs["piece"], theirs["id"])
        assert text[ours.begin : ours.end] == data[theirs["begin"] : theirs["end"]].decode()


def test_devices(command: Command) -> None:
    rows = json.loads(command.run("devices", "--json"))["devices"]
    assert [(each.id, each.usable, each.name) for each in hs.devices()] == [
        (each["id"], each["usable"], each["name"]) for each in rows
    ]


def test_saliency(model: hs.Translator, command: Command) -> None:
    text = "The cat sleeps."
    row = json.loads(command.run(*"attention --saliency --device cpu -o - --format json --text".split(), text))
    found = model.saliency(text)
    assert list(found.predicted) == row["predicted"]
    assert found.source is not None
    assert found.source.tolist() == row["of_source"]
    assert found.target.tolist() == row["of_target"]
