#!/usr/bin/env python3
"""Writes models of the shapes of BERT-base, BERT-large and GPT-2 with random weights, and a text of 512 tokens.

usage: random_models.py FOLDER

The weights of queries and keys are scaled so that heads attend to few tokens, as trained ones do. For
tests/bench/viewer_frames.script.
"""
import json
import pathlib
import random
import sys

import torch
import transformers

WORDS = ("the a cat dog house river because it is was tired sleeps runs old small green law will be never just perfect "
         "but its should application and of to in").split()


def sharpen(model, is_projection, columns=slice(None)):
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if is_projection(name):
                weight[:, columns].mul_(2.0 + 3.5 * torch.rand(1).item())
            if name.endswith(("position_embeddings.weight", "wpe.weight")):  # neighbours are alike
                rates = torch.exp(-6.0 * torch.arange(weight.shape[1]) / weight.shape[1])
                phases = 6.28 * torch.rand(weight.shape[1])
                weight.copy_(0.06 * torch.cos(torch.arange(weight.shape[0])[:, None] * rates + phases))


def bert(folder, layers, heads, d_model):
    folder.mkdir(parents=True, exist_ok=True)
    letters = [chr(code) for code in range(33, 127)] + ["##" + chr(code) for code in range(97, 123)]
    pieces = list(dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS + letters))
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": True}))
    model = transformers.BertForMaskedLM(transformers.BertConfig(
        vocab_size=len(pieces), hidden_size=d_model, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=4 * d_model))
    sharpen(model, lambda name: name.endswith(("query.weight", "key.weight")))
    model.save_pretrained(folder)


def gpt2(folder):
    folder.mkdir(parents=True, exist_ok=True)
    printable = [byte for byte in range(256) if 33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte]
    others = [byte for byte in range(256) if byte not in printable]
    letter = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    vocabulary = {letter[byte]: byte for byte in range(256)}
    merges = []
    for word in WORDS:
        piece = letter[ord(" ")]
        for character in word:
            if piece + character not in vocabulary:
                merges.append(f"{piece} {character}")
                vocabulary[piece + character] = len(vocabulary)
            piece += character
    end = vocabulary["<|endoftext|>"] = len(vocabulary)
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer"}))
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=len(vocabulary), bos_token_id=end, eos_token_id=end))
    sharpen(model, lambda name: name.endswith("c_attn.weight"), slice(2 * model.config.n_embd))
    model.save_pretrained(folder)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(1)
    bert(folder / "bert-base", 12, 12, 768)
    bert(folder / "bert-large", 24, 16, 1024)
    gpt2(folder / "gpt2")
    random.seed(3)
    text = [random.choice(WORDS) for _ in range(510)]
    (folder / "text.txt").write_text(" ".join(text))
    (folder / "prompt.txt").write_text(" ".join(text[:480]))


main()
