#!/usr/bin/env python3
"""The same work as `headscope bench`, done by PyTorch: training steps and greedy generation with a cache.

One JSON object on standard output, with the keys of `headscope bench --json` that compare.sh and tests/device read. The
model is the encoder-decoder of "Attention Is All You Need" with tied embeddings and packed q/k/v products, or one of
its stacks as a language model (without encoder layers a causal one, without decoder layers a masked one), written the
way a careful PyTorch user would: scaled_dot_product_attention, fused Adam, torch.inference_mode; 16 bits by autocast
with float32 masters, and a GradScaler for float16; eager, or with --compile by torch.compile.
"""
import argparse
import contextlib
import json
import math
import resource
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

PAD, BOS, MASK, FIRST_WORD = 0, 1, 4, 5
PREDICTED = 0.15
SIXTEEN_BITS = {"bf16": torch.bfloat16, "f16": torch.float16}
# As `headscope bench --config`: encoder layers, decoder layers, d_model, d_ff, heads, vocabulary, dropout; sentences,
# source and target tokens of each for training and for generating.
CONFIGS = {
    "small": (6, 3, 256, 1024, 8, 8000, 0.1, (64, 32, 32), (32, 32, 32)),
    "base": (6, 6, 512, 2048, 8, 37000, 0.1, (625, 40, 40), (64, 40, 40)),
    "big": (6, 6, 1024, 4096, 16, 37000, 0.3, (625, 40, 40), (64, 40, 40)),
    "causal": (0, 6, 256, 1024, 8, 8000, 0.1, (16, 0, 256), (32, 32, 64)),
    "masked": (6, 0, 256, 1024, 8, 8000, 0.1, (16, 0, 256), None),
}


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

    def step(self, x, cache, position):  # x [rows, new, d_model]; cache holds room for every position
        q, k, v = [self.split(part) for part in self.qkv(x).chunk(3, -1)]
        end = position + x.shape[1]
        cache[0][:, :, position:end] = k
        cache[1][:, :, position:end] = v
        return self.attend(q, cache[0][:, :, :end], cache[1][:, :, :end], causal=x.shape[1] > 1)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.first, self.second = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.second(self.dropout(F.relu(self.first(x))))


class Layer(nn.Module):
    def __init__(self, d_model, d_ff, heads, dropout, cross):
        super().__init__()
        self.self_attention = Attention(d_model, heads, dropout, False)
        self.cross_attention = Attention(d_model, heads, dropout, True) if cross else None
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model, eps=1e-6) for _ in range(3 if cross else 2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory=None, mask=None, causal=False):
        x = self.norms[0](x + self.dropout(self.self_attention(x, None if causal else mask, causal)))
        if self.cross_attention is not None:
            x = self.norms[1](x + self.dropout(self.cross_attention.forward_cross(x, memory, mask)))
        return self.norms[-1](x + self.dropout(self.feed_forward(x)))

    def step(self, x, cache, cross, mask, position):
        x = self.norms[0](x + self.self_attention.step(x, cache, position))
        if self.cross_attention is not None:
            q = self.cross_attention.split(self.cross_attention.q(x))
            x = self.norms[1](x + self.cross_attention.attend(q, cross[0], cross[1], mask))
        return self.norms[-1](x + self.feed_forward(x))


class Transformer(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.d_model, self.heads, depth = a.d_model, a.heads, a.d_model // a.heads
        self.depth = depth
        self.embedding = nn.Embedding(a.vocabulary, a.d_model)
        nn.init.normal_(self.embedding.weight, std=a.d_model ** -0.5)
        dropout = a.dropout if a.bench == "train" else 0.0
        self.encoder = nn.ModuleList(Layer(a.d_model, a.d_ff, a.heads, dropout, False) for _ in range(a.encoder_layers))
        cross = a.encoder_layers > 0
        self.decoder = nn.ModuleList(Layer(a.d_model, a.d_ff, a.heads, dropout, cross) for _ in range(a.decoder_layers))
        self.dropout = nn.Dropout(dropout)
        length = a.source_length + a.target_length + 1
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
        memory = self.encode(source, mask) if len(self.encoder) else None
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, memory, mask, causal=True)
        return x @ self.embedding.weight.t()

    def fill(self, text, predicted):  # logits at these positions of the flattened text
        x = self.encode(text, None).flatten(0, 1)[predicted]
        return x @ self.embedding.weight.t()


def random_ids(a, length):
    return torch.randint(FIRST_WORD, a.vocabulary, (a.sentences, length)).to(a.device)


def padding_mask(source):  # [batch, 1, 1, keys]
    return (source != PAD)[:, None, None, :]


def train(a):
    model = Transformer(a).to(a.device).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    source, target = random_ids(a, a.source_length), random_ids(a, a.target_length)
    target_in = torch.cat([torch.full((a.sentences, 1), BOS, device=a.device), target[:, :-1]], 1)
    mask = padding_mask(source)
    dtype = SIXTEEN_BITS.get(a.precision)
    casting = torch.autocast(a.device, dtype) if dtype else contextlib.nullcontext()
    scaler = torch.amp.GradScaler(a.device, enabled=a.precision == "f16")

    predicted = (torch.rand(target.numel(), device=a.device) < PREDICTED).nonzero().flatten()
    corrupted = target.flatten().index_fill(0, predicted, MASK).view_as(target)

    def loss_of(source, target_in, target, mask):
        if a.decoder_layers == 0:
            logits, target = model.fill(corrupted, predicted), target.flatten()[predicted]
        else:
            logits = model(source, target_in, mask)
        return F.cross_entropy(logits.view(-1, a.vocabulary), target.flatten(), label_smoothing=0.1)

    if a.compile:
        loss_of = torch.compile(loss_of)

    def run(steps):
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=True)
            with casting:
                loss = loss_of(source, target_in, target, mask)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

    return timed(a, lambda: run(a.steps), lambda: run(min(a.steps, 2)))


@torch.inference_mode()
def generate(a):
    dtype = SIXTEEN_BITS.get(a.precision, torch.float32)
    model = Transformer(a).to(a.device, dtype).eval()
    source = random_ids(a, a.source_length)

    def run():
        mask, cross, first = padding_mask(source), [None] * len(model.decoder), 0
        token = torch.full((a.sentences, 1), BOS, device=a.device)
        if len(model.encoder):
            memory = model.encode(source, mask)
            cross = [layer.cross_attention.keys_and_values(memory) for layer in model.decoder]
        else:  # the prompt at once
            token, first = source, a.source_length - 1
        shape = (a.sentences, a.heads, first + a.target_length, model.depth)
        empty = [torch.empty(shape, device=a.device, dtype=dtype) for _ in range(2 * len(model.decoder))]
        caches = list(zip(empty[::2], empty[1::2]))
        written = []
        for position in [0, *range(first + 1, first + a.target_length)]:
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
    def wait():
        if a.device == "cuda":
            torch.cuda.synchronize()

    warm_up()
    wait()
    if a.profile:
        a.kernels = kernels_of(a, run, wait)
    seconds = []
    for _ in range(a.repeat):
        start = time.perf_counter()
        run()
        wait()
        seconds.append(time.perf_counter() - start)
    return seconds


def kernels_of(a, run, wait):
    """The time of each kernel (on a CPU: operator) in one run, the longest first."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA if a.device == "cuda" else ProfilerActivity.CPU]) as seen:
        run()
        wait()
    own = "self_device_time_total" if a.device == "cuda" else "self_cpu_time_total"
    rows = [(getattr(each, own) / 1e3, each.count, each.key) for each in seen.key_averages()]
    steps = a.steps if a.bench == "train" else a.target_length
    return [{"kernel": name, "calls": count / steps, "milliseconds": milliseconds / steps}
            for milliseconds, count, name in sorted(rows, reverse=True) if milliseconds > 0][:40]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", choices=["train", "translate", "complete"])
    parser.add_argument("--config", choices=CONFIGS)
    shapes = ["encoder-layers", "decoder-layers", "d-model", "d-ff", "heads", "vocabulary", "sentences",
              "source-length", "target-length"]
    for name in shapes:
        parser.add_argument("--" + name, type=int)
    parser.add_argument("--dropout", type=float)
    for name, default in [("steps", 3), ("repeat", 5), ("threads", 2)]:
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--precision", choices=["f32", "tf32", "bf16", "f16"], default="f32")
    parser.add_argument("--compile", action="store_true", help="training by torch.compile")
    parser.add_argument("--profile", action="store_true", help="also the time of each kernel, a step, of another run")
    a = parser.parse_args()
    a.kernels = []
    if a.compile and a.bench != "train":
        parser.error("--compile is for training")
    *model, dropout, training, generating = CONFIGS[a.config or ("causal" if a.bench == "complete" else "small")]
    for name, value in zip(shapes + ["dropout"], [*model, *(training if a.bench == "train" else generating), dropout]):
        key = name.replace("-", "_")
        if getattr(a, key) is None:
            setattr(a, key, value)
    torch.manual_seed(1)
    torch.set_num_threads(a.threads)
    torch.set_float32_matmul_precision("high" if a.precision == "tf32" else "highest")
    seconds = train(a) if a.bench == "train" else generate(a)
    steps = a.steps if a.bench == "train" else 1
    middle = statistics.median(seconds)
    device = {"device": a.device}
    if a.device == "cuda":
        device |= {"device_name": torch.cuda.get_device_name(), "cuda": torch.version.cuda,
                   "peak_device_bytes": torch.cuda.max_memory_allocated()}
    print(json.dumps({
        "bench": a.bench,
        "pytorch": torch.__version__,
        "threads": a.threads,
        **device,
        "precision": a.precision,
        "compiled": a.compile,
        "milliseconds_per_step": 1e3 * middle / (a.steps if a.bench == "train" else a.target_length),
        "target_tokens_per_second": a.sentences * a.target_length * steps / middle,
        "source_tokens_per_second": a.sentences * a.source_length * steps / middle,
        "run_seconds": seconds,
        **({"kernels": a.kernels} if a.profile else {}),
        "peak_resident_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }, indent=2))


if __name__ == "__main__":
    main()
