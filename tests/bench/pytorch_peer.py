#!/usr/bin/env python3
"""The same work as `headscope bench`, done by PyTorch: training steps and greedy decoding with a cache.

One JSON object on standard output, with the keys of `headscope bench --json` that compare.sh reads. The model is the
encoder-decoder of "Attention Is All You Need" with tied embeddings and packed q/k/v products, written the way a
careful PyTorch user would: scaled_dot_product_attention, fused Adam, torch.inference_mode, eager.
"""
import argparse
import json
import math
import resource
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

PAD, BOS, FIRST_WORD = 0, 1, 4


class Attention(nn.Module):
    def __init__(self, d_model, heads, dropout, cross):
        super().__init__()
        self.heads, self.dropout, self.cross = heads, dropout, cross
        if cross:
            self.q = nn.Linear(d_model, d_model, bias=False)
            self.kv = nn.Linear(d_model, 2 * d_model, bias=False)
        else:
            self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):  # [batch, length, heads * depth] to [batch, heads, length, depth]
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def keys_and_values(self, memory):
        return [self.split(part) for part in self.kv(memory).chunk(2, -1)]

    def attend(self, q, k, v, mask=None, causal=False):
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=causal)
        return self.out(y.transpose(1, 2).flatten(2))

    def forward(self, x, mask=None, causal=False):
        q, k, v = [self.split(part) for part in self.qkv(x).chunk(3, -1)]
        return self.attend(q, k, v, mask, causal)

    def forward_cross(self, x, memory, mask):
        k, v = self.keys_and_values(memory)
        return self.attend(self.split(self.q(x)), k, v, mask)

    def step(self, x, cache, position):  # x [rows, 1, d_model]; cache holds room for every position
        q, k, v = [self.split(part) for part in self.qkv(x).chunk(3, -1)]
        cache[0][:, :, position:position + 1] = k
        cache[1][:, :, position:position + 1] = v
        return self.attend(q, cache[0][:, :, :position + 1], cache[1][:, :, :position + 1])


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.first, self.second = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.second(self.dropout(F.relu(self.first(x))))


class Layer(nn.Module):
    def __init__(self, d_model, d_ff, heads, dropout, decoder):
        super().__init__()
        self.self_attention = Attention(d_model, heads, dropout, False)
        self.cross_attention = Attention(d_model, heads, dropout, True) if decoder else None
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model, eps=1e-6) for _ in range(3 if decoder else 2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory=None, mask=None, causal=False):
        x = self.norms[0](x + self.dropout(self.self_attention(x, None if causal else mask, causal)))
        if self.cross_attention is not None:
            x = self.norms[1](x + self.dropout(self.cross_attention.forward_cross(x, memory, mask)))
        return self.norms[-1](x + self.dropout(self.feed_forward(x)))

    def step(self, x, cache, cross, mask, position):
        x = self.norms[0](x + self.self_attention.step(x, cache, position))
        q = self.cross_attention.split(self.cross_attention.q(x))
        x = self.norms[1](x + self.cross_attention.attend(q, cross[0], cross[1], mask))
        return self.norms[2](x + self.feed_forward(x))


class Transformer(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.d_model, self.heads, depth = a.d_model, a.heads, a.d_model // a.heads
        self.depth = depth
        self.embedding = nn.Embedding(a.vocabulary, a.d_model)
        nn.init.normal_(self.embedding.weight, std=a.d_model ** -0.5)
        dropout = a.dropout if a.bench == "train" else 0.0
        self.encoder = nn.ModuleList(Layer(a.d_model, a.d_ff, a.heads, dropout, False) for _ in range(a.encoder_layers))
        self.decoder = nn.ModuleList(Layer(a.d_model, a.d_ff, a.heads, dropout, True) for _ in range(a.decoder_layers))
        self.dropout = nn.Dropout(dropout)
        length = max(a.source_length, a.target_length) + 1
        angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, a.d_model, 2) / a.d_model)
        positions = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
        self.register_buffer("positions", positions)

    def embed(self, ids, first=0):
        x = self.embedding(ids) * math.sqrt(self.d_model) + self.positions[first:first + ids.shape[1]]
        return self.dropout(x)

    def encode(self, source, mask):
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, mask=mask)
        return x

    def forward(self, source, target, mask):
        memory = self.encode(source, mask)
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, memory, mask, causal=True)
        return x @ self.embedding.weight.t()


def random_ids(a, length):
    return torch.randint(FIRST_WORD, a.vocabulary, (a.sentences, length))


def padding_mask(source):  # [batch, 1, 1, keys]
    return (source != PAD)[:, None, None, :]


def train(a):
    model = Transformer(a).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    source, target = random_ids(a, a.source_length), random_ids(a, a.target_length)
    target_in = torch.cat([torch.full((a.sentences, 1), BOS), target[:, :-1]], 1)
    mask = padding_mask(source)

    def run(steps):
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=True)
            logits = model(source, target_in, mask)
            loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), label_smoothing=0.1)
            loss.backward()
            optimizer.step()

    return timed(a, lambda: run(a.steps), lambda: run(min(a.steps, 2)))


@torch.inference_mode()
def translate(a):
    model = Transformer(a).eval()
    source = random_ids(a, a.source_length)

    def run():
        mask = padding_mask(source)
        memory = model.encode(source, mask)
        cross = [layer.cross_attention.keys_and_values(memory) for layer in model.decoder]
        shape = (a.sentences, a.heads, a.target_length, model.depth)
        caches = [(torch.empty(shape), torch.empty(shape)) for _ in model.decoder]
        token = torch.full((a.sentences, 1), BOS)
        written = []
        for position in range(a.target_length):
            x = model.embed(token, position)
            for layer, cache, keys_values in zip(model.decoder, caches, cross):
                x = layer.step(x, cache, keys_values, mask, position)
            logits = x[:, -1] @ model.embedding.weight.t()
            logits[:, :FIRST_WORD] = -math.inf  # nothing ends early
            token = logits.argmax(-1, keepdim=True)
            written.append(token.tolist())  # a decoder looks at every token: has it ended?
        return written

    return timed(a, run, run)


def timed(a, run, warm_up):
    warm_up()
    seconds = []
    for _ in range(a.repeat):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", choices=["train", "translate"])
    for name, default in [("encoder-layers", 6), ("decoder-layers", 3), ("d-model", 256), ("d-ff", 1024), ("heads", 8),
                          ("vocabulary", 8000), ("sentences", 32), ("source-length", 32), ("target-length", 32),
                          ("steps", 3), ("repeat", 5), ("threads", 2)]:
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--dropout", type=float, default=0.1)
    a = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(a.threads)
    seconds = train(a) if a.bench == "train" else translate(a)
    steps = a.steps if a.bench == "train" else 1
    middle = statistics.median(seconds)
    print(json.dumps({
        "bench": a.bench,
        "pytorch": torch.__version__,
        "threads": a.threads,
        "target_tokens_per_second": a.sentences * a.target_length * steps / middle,
        "source_tokens_per_second": a.sentences * a.source_length * steps / middle,
        "run_seconds": seconds,
        "peak_resident_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }, indent=2))


if __name__ == "__main__":
    main()
