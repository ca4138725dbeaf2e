#!/usr/bin/env python3
"""Losses for tests/train/objective_test.cpp: of comparisons by PyTorch in float64, and of trainings by TRL.

    python3 tests/golden/make_preference_losses.py    (needs torch, transformers, tokenizers and trl; writes
                                                       preference_losses.json beside itself)

The trainings are TRL's own trainers for 20 steps over one batch: SFT with the loss on responses only, a reward model and
DPO, from the same tiny GPT-2, whose parameters both programs make by the same formula.
"""
import json
import math
import pathlib
import tempfile

import numpy
import torch

from make_training_losses import hashed

STEPS, RATE = 20, 1e-3
LAYERS, WIDTH, HEADS, WORDS, LENGTH = 2, 32, 2, 64, 32
BETA = 0.3
PAD, BOS, EOS = 0, 1, 2


def comparison(scores, ranks, noise):
    """The loss of prompts with ranked texts, and its gradient by each score."""
    prompts = [torch.tensor(of_prompt, dtype=torch.float64, requires_grad=True) for of_prompt in scores]
    loss = nll = 0.0
    for values, order in zip(prompts, ranks):
        pairs = [(b, w) for b in range(len(order)) for w in range(len(order)) if order[b] < order[w]]
        margins = torch.stack([values[b] - values[w] for b, w in pairs])
        right = -torch.nn.functional.logsigmoid(margins)
        wrong = -torch.nn.functional.logsigmoid(-margins)
        loss = loss + ((1.0 - noise) * right + noise * wrong).mean()
        nll = nll + right.mean()
    loss.backward()
    return {"scores": scores, "ranks": ranks, "noise": noise, "loss": loss.item(), "nll": nll.item(),
            "gradient": [value for values in prompts for value in values.grad.tolist()]}


def comparisons():
    four = [[0.3, -0.2, 1.1, 0.4], [2.0, -3.0]]
    return [comparison(four, [[1, 2, 3, 4], [1, 2]], 0.0),
            comparison(four, [[2, 1, 2, 3], [2, 1]], 0.0),
            comparison(four, [[1, 2, 3, 4], [2, 1]], 0.2),
            comparison([[60.0, -60.0, 0.0]], [[2, 1, 3]], 0.0)]


def text(row, count, factor):
    return [4 + (factor * i + 5 * row + i * i) % (WORDS - 4) for i in range(count)]


def examples():
    """Ids of prompts with a better and a worse response; those of sft are the better ones."""
    return [{"prompt": text(row, 3 + row % 4, 7), "chosen": text(row, 2 + row % 5, 11), "rejected": text(row + 3, 4 + row % 3, 13)}
            for row in range(8)]


def ours(name):
    """Our name of one of GPT-2's parameters, and whether it is stored transposed."""
    name = name.removeprefix("model.").removeprefix("transformer.")
    fixed = {"wte.weight": "embedding.weight", "wpe.weight": "decoder.positions.weight", "ln_f.weight": "decoder.norm.gain",
             "ln_f.bias": "decoder.norm.bias"}
    if name in fixed:
        return fixed[name], False
    layer, rest = name.removeprefix("h.").split(".", 1)
    rows = {"ln_1.weight": "self_attention.norm.gain", "ln_1.bias": "self_attention.norm.bias",
            "ln_2.weight": "feed_forward.norm.gain", "ln_2.bias": "feed_forward.norm.bias",
            "attn.c_attn.weight": "self_attention.qkv.weight", "attn.c_attn.bias": "self_attention.qkv.bias",
            "attn.c_proj.weight": "self_attention.output.weight", "attn.c_proj.bias": "self_attention.output.bias",
            "mlp.c_fc.weight": "feed_forward.inner.weight", "mlp.c_fc.bias": "feed_forward.inner.bias",
            "mlp.c_proj.weight": "feed_forward.outer.weight", "mlp.c_proj.bias": "feed_forward.outer.bias"}
    return f"decoder.layers.{layer}.{rows[rest]}", rest.endswith(".weight") and not rest.startswith("ln_")


def value(name, shape):
    """By the same formula as in the test."""
    size = math.sqrt(3.0 / shape[-1]) if len(shape) == 2 else 0.1
    return torch.tensor(size * hashed(name, math.prod(shape)).reshape(shape) + (1.0 if name.endswith(".gain") else 0.0)).float()


def set_parameters(model):
    for name, parameter in model.named_parameters():
        if name.startswith("score"):
            torch.nn.init.zeros_(parameter)
            continue
        if name == "lm_head.weight":
            continue
        mine, transposed = ours(name)
        shape = tuple(reversed(parameter.shape)) if transposed else tuple(parameter.shape)
        if ".qkv." in mine:
            parts = [value(mine.replace("qkv", part), (shape[0] // 3, *shape[1:])) for part in "qkv"]
            found = torch.cat(parts)
        else:
            found = value(mine, shape)
        parameter.data = (found.T if transposed else found).contiguous().clone()


def config():
    from transformers import GPT2Config
    return GPT2Config(vocab_size=WORDS, n_positions=LENGTH, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, resid_pdrop=0.0,
                      embd_pdrop=0.0, attn_pdrop=0.0, layer_norm_epsilon=1e-5, bos_token_id=BOS, eos_token_id=EOS,
                      pad_token_id=PAD, num_labels=1)


def tokenizer():
    """Words w4 .. w63, whose ids are their numbers."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    special = {"pad_token": "<pad>", "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>"}
    names = {name: i for i, name in enumerate([*special.values(), *(f"w{i}" for i in range(len(special), WORDS))])}
    made = Tokenizer(models.WordLevel(names, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=made, **special)


def words(ids):
    return " ".join(f"w{i}" for i in ids)


def options(folder):
    return {"output_dir": folder, "per_device_train_batch_size": 8, "max_steps": STEPS, "learning_rate": RATE,
            "lr_scheduler_type": "constant", "warmup_steps": 0, "weight_decay": 0.0, "max_grad_norm": 0.0,
            "adam_beta1": 0.9, "adam_beta2": 0.98, "adam_epsilon": 1e-9, "logging_steps": 1, "report_to": [],
            "save_strategy": "no", "use_cpu": True, "bf16": False, "fp16": False, "gradient_checkpointing": False,
            "disable_tqdm": True, "max_length": LENGTH}


class Exact:
    """TRL rounds what it logs; the losses of its steps are kept before."""

    def __init__(self, trainer):
        self.trainer, self.losses = trainer, []
        step = trainer.compute_loss

        def compute(*arguments, **named):
            found = step(*arguments, **named)
            self.losses.append((found[0] if isinstance(found, tuple) else found).item())
            return found
        trainer.compute_loss = compute

    def run(self):
        self.trainer.train()
        return self.losses


def trainings(folder):
    torch.set_default_dtype(torch.float32)  # make_vectors has chosen float64
    from datasets import Dataset
    from transformers import GPT2ForSequenceClassification, GPT2LMHeadModel
    from trl import DPOConfig, DPOTrainer, RewardConfig, RewardTrainer, SFTConfig, SFTTrainer

    def language_model():
        model = GPT2LMHeadModel(config())
        set_parameters(model)
        return model

    reward = GPT2ForSequenceClassification(config())
    set_parameters(reward)
    texts = [{key: " " + words(ids) for key, ids in example.items()} for example in examples()]
    written = Dataset.from_list([{"prompt": each["prompt"], "completion": each["chosen"]} for each in texts])
    ranked = Dataset.from_list(texts)
    common = options(folder)
    return {
        "sft": Exact(SFTTrainer(language_model(), args=SFTConfig(**common, completion_only_loss=True),
                                train_dataset=written, processing_class=tokenizer())).run(),
        "reward": Exact(RewardTrainer(reward, args=RewardConfig(**common), train_dataset=ranked,
                                      processing_class=tokenizer())).run(),
        "dpo": Exact(DPOTrainer(language_model(), ref_model=language_model(),
                                args=DPOConfig(**common, beta=BETA), train_dataset=ranked,
                                processing_class=tokenizer())).run(),
    }


def main():
    import trl
    with tempfile.TemporaryDirectory() as folder:
        found = trainings(folder)
    pathlib.Path(__file__).with_name("preference_losses.json").write_text(json.dumps({
        "made_by": f"tests/golden/make_preference_losses.py, PyTorch {torch.__version__}, TRL {trl.__version__}",
        "comparisons": comparisons(), "rate": RATE, "beta": BETA, "layers": LAYERS, "width": WIDTH,
        "heads": HEADS, "words": WORDS, "length": LENGTH, "examples": examples(), "losses": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
