#!/usr/bin/env python3
"""Compares Headscope with transformers on a GGUF file.

    python3 tests/golden/compare_gguf.py HEADSCOPE MODEL.gguf

Needs torch, transformers, accelerate and gguf (PyPI). Of 512 pieces of English: equal ids, each log-probability within
2e-3, and the likeliest next piece the same in at least 510; 24 pieces that continue a sentence are equal; so are the weights of all heads, within 1e-4.
"""
import json
import pathlib
import subprocess
import sys

import torch
import transformers

TEXT = ("The old king gave a ring to his daughter, who had asked for nothing but the key of the garden. Every evening she "
        "walked between the apple trees and counted the stars that came out over the 12 hills. ") * 14
SENTENCE = "The animal didn't cross the street because it was too tired."


def run(program, command, path, *arguments, text=None):
    done = subprocess.run([program, command, "--model", str(path), *arguments], input=text, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    return done.stdout


def check(name, holds, detail=""):
    print(name, "ok" if holds else "WRONG", detail)
    return holds


def shown(piece):
    """A piece of a byte-level or a SentencePiece vocabulary, as Headscope shows both."""
    for theirs, ours in (("\u0120", "\u2581"), ("\u010a", "\u21b5"), ("\n", "\u21b5"), ("\u2581\u21b5", "\u21b5")):
        piece = piece.replace(theirs, ours)
    return piece


@torch.no_grad()
def main():
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    program, path = sys.argv[1], pathlib.Path(sys.argv[2])
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32,
                                                              attn_implementation="eager").eval()
    text = tokenizer.decode(tokenizer(TEXT).input_ids[:512], skip_special_tokens=True)
    ids = tokenizer(text).input_ids
    found = [int(one) for one in run(program, "tokenize", path, "--ids", "--text", text).split()]
    good = check(f"ids of {len(found)} pieces", found == tokenizer(text, add_special_tokens=False).input_ids)

    scores = json.loads(run(program, "score", path, "--device", "cpu", "--json", "--text", "-", text=text + "\n"))
    scores = [token["log_probability"] for token in scores["tokens"]]
    expected = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
    likeliest = [shown(one) for one in tokenizer.convert_ids_to_tokens(expected.argmax(-1))]
    expected = [float(expected[i, ids[i + 1]]) for i in range(len(ids) - 1)]
    scores = scores[len(scores) - len(expected) - 1:-1] if len(scores) > len(expected) else scores
    worst = max(abs(one - other) for one, other in zip(scores, expected))
    good &= check("log-probabilities", worst < 2e-3, f"{worst:.1e}")
    lens = json.loads(run(program, "attention", path, "--device", "cpu", "--lens", "--text", text, "--output", "-",
                          "--format", "json"))
    found = [position["candidates"][0]["piece"] for position in lens["layers"][-1]["positions"]]
    others = [pair for pair in zip(map(shown, found), likeliest) if pair[0] != pair[1]]
    good &= check(f"likeliest of {len(likeliest)}", len(found) == len(likeliest) and len(others) <= 2,
                  f"{len(others)} others {others}")

    prompt = torch.tensor([tokenizer(SENTENCE).input_ids])
    greedy = model.generate(prompt, max_new_tokens=24, do_sample=False)[0]
    expected = tokenizer.decode(greedy, skip_special_tokens=True)
    found = run(program, "complete", path, "--device", "cpu", "--max-tokens", "24", SENTENCE)
    good &= check("24 pieces", found.rstrip("\n") == expected.rstrip("\n"), repr(found))

    worst = 0.0
    for layer, weights in enumerate(model(prompt, output_attentions=True).attentions):
        figure = json.loads(run(program, "attention", path, "--device", "cpu", "--text", SENTENCE, "--layer",
                                str(layer + 1), "--pieces", "--output", "-", "--format", "json"))
        for head in figure["heads"]:
            own = torch.tensor(head["weights"])
            worst = max(worst, float((own - weights[0, head["head"] - 1]).abs().max()))
    good &= check(f"{weights.shape[1] * (layer + 1)} heads", worst < 1e-4, f"{worst:.1e}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
