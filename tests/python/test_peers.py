"""The same weights in transformers: attention, hidden states and probabilities. BertViz draws ours.
inseq finds the same saliency.

HEADSCOPE_IMPORT_KITS names folders of models in Hugging Face format, as for `./do check import`; without it, a bundled
model that the program exports is compared.
"""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import pytest

import headscope as hs
from conftest import Command, kit_folder

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEXT = "The weather is nice today and we go home."


@pytest.fixture(scope="module")
def gpt2(command: Command, tmp_path_factory: Any) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("peers") / "gpt2"
    command.run("export", "en-causal", "--format", "huggingface", "--output", str(folder))
    return pathlib.Path(folder)


def test_gpt2(gpt2: pathlib.Path) -> None:
    theirs = transformers.AutoModelForCausalLM.from_pretrained(gpt2, attn_implementation="eager").eval()
    with hs.LanguageModel.open(gpt2, devices="cpu") as model, torch.no_grad():
        pieces = [piece.id for piece in model.tokenize(TEXT)]
        ours = model.attention(TEXT)
        ids = [model.config["frame.bos_id"], *pieces]
        assert ours["decoder"].shape[-1] == len(ids)
        out = theirs(torch.tensor([ids]), output_attentions=True, output_hidden_states=True)
        for a, b in zip(ours.as_transformers()["attentions"], out.attentions):
            assert np.abs(a - b.numpy()).max() < 1e-4
        run = model.run(TEXT, record=["decoder.*.residual_out", "logits"])
        for layer, hidden in enumerate(out.hidden_states[1:-1]):
            assert np.abs(run.states[f"decoder.{layer}.residual_out"] - hidden[0].numpy()).max() < 1e-3
        rows = torch.log_softmax(out.logits[0].double(), -1)
        expected = rows[torch.arange(len(pieces)), torch.tensor(pieces)].numpy()
        assert np.abs(np.array(run.token_log_probabilities)[: len(pieces)] - expected).max() < 1e-3


def test_marian() -> None:
    folder = kit_folder("opus-tied")
    theirs = transformers.MarianMTModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    text, target = "In the beginning God created the heavens.", "Im Anfang schuf Gott die Himmel."
    with hs.Translator.open(folder, devices="cpu") as model, torch.no_grad():
        ours = model.attention(text, target).as_transformers()
        source = tokenizer([text], return_tensors="pt").input_ids
        labels = tokenizer(text_target=[target], return_tensors="pt").input_ids
        out = theirs(source, labels=labels, output_attentions=True, output_hidden_states=True)
        for kind in ("encoder_attentions", "decoder_attentions", "cross_attentions"):
            assert len(ours[kind]) == len(out[kind])
            for a, b in zip(ours[kind], out[kind]):
                assert a.shape == tuple(b.shape)
                assert np.abs(a - b.numpy()).max() < 1e-4
        run = model.run(text, target, record=["*.*.residual_out", "decoder.*.cross_attention.z"])
        for stack, states in (("encoder", out.encoder_hidden_states), ("decoder", out.decoder_hidden_states)):
            for layer, hidden in enumerate(states[1:]):
                assert np.abs(run.states[f"{stack}.{layer}.residual_out"] - hidden[0].numpy()).max() < 1e-4


@pytest.mark.parametrize(
    ("method", "steps", "options"),
    [
        ("input_x_gradient", 1, {}),
        # Headscope begins at embeddings of zero and takes the middles of equal steps; inseq's defaults are others.
        ("integrated_gradients", 8, {"n_steps": 8, "internal_batch_size": 8}),
    ],
)
def test_saliency_as_by_inseq(method: str, steps: int, options: dict[str, Any]) -> None:
    inseq = pytest.importorskip("inseq")
    folder = kit_folder("opus-tied")
    text, target = "God created the heavens.", "Gott schuf die Himmel."
    with hs.Translator.open(folder, devices="cpu") as model:
        ours = model.saliency(text, target, steps=steps)
    theirs = inseq.load_model(folder, method, model_kwargs={"attn_implementation": "eager"})
    # Headscope leaves the pad out of the softmax, as Marian does.
    theirs.model.final_logits_bias[0, theirs.model.config.pad_token_id] = -1e9
    # inseq gives the decoder embeddings that are scaled already, and transformers 5 scales them again.
    theirs.model.get_decoder().embed_scale = 1.0
    theirs.attribution_method.use_baselines = False
    if steps > 1:
        captum = theirs.attribution_method.method
        captum.attribute = functools.partial(captum.attribute, method="riemann_middle")
    found = theirs.attribute(
        text, target, attribute_target=True, attributed_fn="probability", logprob=True, show_progress=False, **options
    )
    (one,) = found.sequence_attributions
    assert [each.token for each in one.source][:-1] == list(ours.source_tokens)[:-1]  # without the end
    assert [each.token for each in one.target][1:-1] == list(ours.predicted)[:-1]
    for products, mine in ((one.source_attributions, ours.source), (one.target_attributions, ours.target)):
        assert mine is not None
        expected = np.nan_to_num(products.sum(-1).numpy()).T[:, : mine.shape[1]]
        largest = np.abs(expected).max(1, keepdims=True)  # of each prediction
        assert (np.abs(mine - expected) <= 1e-4 * largest + 1e-6).all()


def test_patched_as_with_pytorch_hooks(gpt2: pathlib.Path) -> None:
    theirs = transformers.AutoModelForCausalLM.from_pretrained(gpt2, attn_implementation="eager").eval()
    with hs.LanguageModel.open(gpt2, devices="cpu") as model, torch.no_grad():
        ids = [model.config["frame.bos_id"], *(piece.id for piece in model.tokenize(TEXT))]
        site = "decoder.1.residual_out"
        state = model.run("The house is old and I like it much more.", record=site).states[site]
        count = min(len(state), len(ids))
        ours = model.run(TEXT, record="logits", patch={site: state[:count]})
        hidden = torch.tensor(state[:count])

        def replace(_: Any, __: Any, output: Any) -> Any:
            values = (output[0] if isinstance(output, tuple) else output).clone()
            values[0, :count] = hidden
            return (values, *output[1:]) if isinstance(output, tuple) else values

        handle = theirs.transformer.h[1].register_forward_hook(replace)
        logits = theirs(torch.tensor([ids])).logits[0].numpy()
        handle.remove()
        found = ours.states["logits"]
        assert np.abs(found - logits[: len(found)]).max() < 1e-3


def test_bertviz(model: hs.Translator) -> None:
    bertviz = pytest.importorskip("bertviz")
    attention = model.attention("The cat sleeps.")
    outputs = attention.as_transformers("pt")
    page = bertviz.head_view(
        encoder_attention=outputs["encoder_attentions"],
        encoder_tokens=list(attention.source),
        decoder_attention=outputs["decoder_attentions"],
        decoder_tokens=list(attention.target_in),
        cross_attention=outputs["cross_attentions"],
        include_layers=[0, 1, 2],  # it wants as many of each stack
        html_action="return",
    )
    assert "sleep" in page.data


def test_torch_in_one_process() -> None:
    """Two OpenMP runtimes: both orders of importing, and an end without a crash."""
    import subprocess
    import sys

    ours = "import headscope as hs; m = hs.open('en-de', devices='cpu'); print(m.translate('A house.'))"
    torchs = "import torch; print(float((torch.ones(256, 256) @ torch.ones(256, 256)).sum()))"
    for code in (f"{ours}\n{torchs}", f"{torchs}\n{ours}"):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and "Ein Haus." in done.stdout and "16777216.0" in done.stdout, done.stderr
