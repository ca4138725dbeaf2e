#!/usr/bin/env python3
"""How soon PyTorch learns what `headscope train` learns: validation nll on the same pairs, pieces and settings.

    pytorch_curve.py CONFIG.json DATA RUN [--separate-qkv]

CONFIG and DATA are those of `headscope train CONFIG.json --data DATA --output RUN`; RUN gives the tokenizer. The model is
pytorch_peer.py's, post-norm with tied embeddings, with the initial values of torch.nn.Transformer (Xavier uniform over
the packed [q; k; v]) and N(0, 1/d_model) for the embedding. --separate-qkv draws q, k and v as three matrices. One line
for each validation: step, nll a piece.
"""
import argparse
import json
import random

import sentencepiece
import torch
from pytorch_peer import Transformer, padding_mask
from torch import nn
from torch.nn import functional as F

PAD, BOS, EOS = 0, 1, 2


def read_pairs(path, tokenizer, max_length):
    pairs = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            source, target = (tokenizer.encode(side) + [EOS] for side in line.rstrip("\n").split("\t")[:2])
            if len(source) <= max_length and len(target) <= max_length:
                pairs.append((source, target))
    return pairs


def batches(pairs, source_tokens, target_tokens, shuffle):
    """Pairs of like length, at most so many tokens of each side."""
    order = list(pairs)
    if shuffle:
        random.shuffle(order)
    order.sort(key=lambda pair: (len(pair[0]), len(pair[1])))
    result, batch, of_source, of_target = [], [], 0, 0
    for pair in order:
        if batch and (of_source + len(pair[0]) > source_tokens or of_target + len(pair[1]) > target_tokens):
            result.append(batch)
            batch, of_source, of_target = [], 0, 0
        batch.append(pair)
        of_source, of_target = of_source + len(pair[0]), of_target + len(pair[1])
    result.append(batch)
    if shuffle:
        random.shuffle(result)
    return result


def padded(sides):
    longest = max(map(len, sides))
    return torch.tensor([side + [PAD] * (longest - len(side)) for side in sides])


def losses(model, batch, smoothing, dtype):
    source = padded([pair[0] for pair in batch])
    target = padded([pair[1] for pair in batch])
    shifted = F.pad(target[:, :-1], (1, 0), value=BOS)
    with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
        logits = model(source, shifted, padding_mask(source))
    return F.cross_entropy(logits.float().flatten(0, 1), target.flatten(), ignore_index=PAD, reduction="sum",
                           label_smoothing=smoothing), int((target != PAD).sum())


def initialise(model, separate):
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2 and name != "embedding.weight":
            packed = 3 if name.endswith("qkv.weight") else 2 if name.endswith(".kv.weight") else 1
            for part in parameter.chunk(packed if separate else 1):
                nn.init.xavier_uniform_(part)
        elif name.endswith("bias") and "norm" not in name:
            nn.init.zeros_(parameter)


@torch.no_grad()
def validate(model, valid, dtype):
    model.eval()
    sums = [losses(model, batch, 0.0, dtype) for batch in valid]
    model.train()
    return sum(float(loss) for loss, _ in sums) / sum(count for _, count in sums)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("data")
    parser.add_argument("run")
    parser.add_argument("--separate-qkv", action="store_true")
    a = parser.parse_args()
    with open(a.config, encoding="utf-8") as file:
        config = json.load(file)
    shape, t = config["model"], config["training"]
    random.seed(t["seed"])
    torch.manual_seed(t["seed"])
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=f"{a.run}/tokenizer/sentencepiece.model")
    train = read_pairs(f"{a.data}/{config['data']['train']['tsv']}", tokenizer, t["max_length"])
    valid = batches(read_pairs(f"{a.data}/{config['data']['valid']['tsv']}", tokenizer, t["max_length"]),
                    t["source_tokens"], t["target_tokens"], False)
    model = Transformer(argparse.Namespace(
        bench="train", vocabulary=tokenizer.vocab_size(), d_model=shape["d_model"], d_ff=shape["d_ff"],
        heads=shape["heads"], encoder_layers=shape["encoder_layers"], decoder_layers=shape["decoder_layers"],
        dropout=t["residual_dropout"], source_length=t["max_length"], target_length=t["max_length"]))
    initialise(model, a.separate_qkv)
    dtype = torch.bfloat16 if t["compute"] == "bf16" else torch.float32
    adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True)
    step = 0
    while step < t["steps"]:
        for batch in batches(train, t["source_tokens"], t["target_tokens"], True):
            step += 1
            rate = t["learning_rate_scale"] * shape["d_model"] ** -0.5
            for group in adam.param_groups:
                group["lr"] = rate * min(step ** -0.5, step * t["warmup_steps"] ** -1.5)
            loss, count = losses(model, batch, t["label_smoothing"], dtype)
            adam.zero_grad(set_to_none=True)
            (loss / count).backward()
            adam.step()
            if step % t["validate_every"] == 0 or step == t["steps"]:
                print(f"step {step}  nll {validate(model, valid, dtype):.4f}", flush=True)
            if step == t["steps"]:
                break


if __name__ == "__main__":
    main()
