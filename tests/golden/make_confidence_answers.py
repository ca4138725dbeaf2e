#!/usr/bin/env python3
"""Writes tests/answers/confidence.json: how sure transformers' models are of what they write.

usage: make_confidence_answers.py

Needs sentencepiece, torch and transformers 5.24. The models are those of tests/import/models. Each output is generate()'s, greedy, with
the log-softmax of the logits divided by a temperature, of each piece and of the end; T5's sources have a task prefix.
"""
import json
import math
import pathlib

import sentencepiece
import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = {"hf-bart": "", "hf-t5": "mo Kaleb: ", "hf-gpt2": ""}
TEMPERATURES = (1.0, 1.8)
PIECES = 12


def answers(name, prefix):
    folder = ROOT / "import" / "models" / name
    causal = name == "hf-gpt2"
    family = transformers.AutoModelForCausalLM if causal else transformers.AutoModelForSeq2SeqLM
    model = family.from_pretrained(folder).eval()
    model.generation_config.forced_eos_token_id = None
    items = json.loads((folder / "answers.json").read_text())["items"]
    for item in [item for item in items if "text" in item][:4]:
        ids = item["ids" if causal else "source"]
        if prefix:
            pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
            end = [model.config.eos_token_id]
            assert pieces.encode(item["text"]) + end == ids
            ids = pieces.encode(prefix + item["text"]) + end
        pad = model.config.pad_token_id
        for temperature in TEMPERATURES:
            with torch.no_grad():
                found = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                                       do_sample=False, num_beams=1, max_new_tokens=PIECES,
                                       suppress_tokens=None if pad is None else [pad], return_dict_in_generate=True)
                written = found.sequences[0, len(ids) if causal else 1:]
                logits = (model(found.sequences[:, :-1]).logits[0, len(ids) - 1:] if causal else
                          model(torch.tensor([ids]), decoder_input_ids=found.sequences[:, :-1]).logits[0])
            chances = torch.log_softmax(logits.double() / temperature, dim=-1)[range(len(written)), written].tolist()
            given = 1 if model.generation_config.forced_bos_token_id is not None else 0
            chances = [0.0] * given + chances[given:]
            yield {"model": name, "prefix": prefix, "text": item["text"], "source": ids, "temperature": temperature,
                   "ids": written.tolist(), "log_probabilities": chances,
                   "confidence": math.exp(sum(chances) / (len(chances) - given))}


def main():
    lines = [json.dumps(answer) for name, prefix in MODELS.items() for answer in answers(name, prefix)]
    path = ROOT / "answers" / "confidence.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
