#!/usr/bin/env python3
"""Writes tests/import/generation.json: what transformers' generate() writes with many options of generation_config.json.

usage: make_generation_answers.py

Needs torch and transformers 5.24. The models are those of tests/import/models, so that the answers are small; half of the
cases have one option, the others several at once. The pad is suppressed, which Headscope never writes.
"""
import json
import pathlib
import random
import tempfile
import shutil

import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parents[1] / "import"
MODELS = ("hf-bart", "hf-t5", "hf-gpt2")
TEXTS = 4
TOGETHER = 12  # cases with several options


def drawn(name, config, rng):
    """A value of each option."""
    causal = name == "hf-gpt2"
    end = config.get("eos_token_id")
    free = [token for token in range(4, 40) if token != end]

    def some(count):
        return rng.sample(free, count)

    options = {
        "early_stopping": lambda: rng.choice([True, False, "never"]),
        "length_penalty": lambda: rng.choice([0.0, 0.6, 1.5, 2.0, -0.5]),
        "no_repeat_ngram_size": lambda: rng.choice([2, 3]),
        "encoder_no_repeat_ngram_size": lambda: rng.choice([1, 2]),
        "repetition_penalty": lambda: rng.choice([1.3, 2.0, 0.8]),
        "encoder_repetition_penalty": lambda: rng.choice([1.3, 2.0, 0.8]),
        "bad_words_ids": lambda: [[token] for token in some(6)] + [some(2) for _ in range(4)],
        "suppress_tokens": lambda: some(8),
        "begin_suppress_tokens": lambda: some(25),
        "sequence_bias": lambda: [[[token], rng.choice([-6.0, 4.0])] for token in some(8)] + [[some(2), 5.0]],
        "min_length": lambda: rng.choice([4, 9]) + (9 if causal else 0),
        "min_new_tokens": lambda: rng.choice([3, 8]),
        "eos_token_id": lambda: [end] + some(rng.choice([1, 6])),
        "exponential_decay_length_penalty": lambda: [rng.choice([1, 3]), rng.choice([1.3, 1.7])],
        "renormalize_logits": lambda: True,
        "forced_eos_token_id": lambda: end,
    }
    if not causal:
        options["forced_bos_token_id"] = lambda: rng.choice(free)
        options["decoder_start_token_id"] = lambda: rng.choice(free)
    return options


def cases(name, config, rng):
    options = drawn(name, config, rng)
    for key, value in options.items():
        yield {"num_beams": rng.choice([1, 4]), "max_new_tokens": 12, key: value()}
    for _ in range(TOGETHER):
        chosen = {key: options[key]() for key in rng.sample(sorted(options), rng.randint(2, 6))}
        yield {"num_beams": rng.choice([1, 2, 4]), "max_length": rng.choice([10, 16]) + (9 if name == "hf-gpt2" else 0),
               **chosen}


def without_end(ids, ends):
    for at, token in enumerate(ids):
        if token in ends:
            return ids[:at]
    return ids


def written(folder, sources, causal):
    family = transformers.AutoModelForCausalLM if causal else transformers.AutoModelForSeq2SeqLM
    model = family.from_pretrained(folder).eval()
    ends = model.generation_config.eos_token_id
    pad = model.generation_config.pad_token_id
    if pad is not None:
        model.generation_config.suppress_tokens = (model.generation_config.suppress_tokens or []) + [pad]
    outputs = []
    for ids in sources:
        with torch.no_grad():
            found = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))
        outputs.append(without_end(found[0, len(ids) if causal else 1:].tolist(), ends if isinstance(ends, list) else [ends]))
    return outputs


def main():
    lines = []
    for name in MODELS:
        rng = random.Random(name)
        answers = json.loads((HERE / "models" / name / "answers.json").read_text())["items"]
        config = json.loads((HERE / "models" / name / "config.json").read_text())
        causal = name == "hf-gpt2"
        items = [item for item in answers if "text" in item][:TEXTS]
        sources = [item["ids" if causal else "source"] for item in items]
        kept = {key: config.get(key) for key in ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")}
        kept = {key: value for key, value in kept.items() if value is not None}
        for options in cases(name, kept, rng):
            with tempfile.TemporaryDirectory() as place:
                folder = shutil.copytree(HERE / "models" / name, pathlib.Path(place) / "model")
                generation = {**kept, **options}
                (folder / "generation_config.json").write_text(json.dumps(generation))
                outputs = written(folder, sources, causal)
            lines.append(json.dumps({"model": name, "generation": generation,
                                     "texts": [item["text"] for item in items], "outputs": outputs}))
    (HERE / "generation.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
