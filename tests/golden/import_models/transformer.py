"""An encoder-decoder Transformer of its own, with Headscope's names, for formats whose programs are not installed.

It is trained in float32 and answers in float64. Marian and CTranslate2 answer themselves.
"""
import dataclasses
import math

import torch

from . import toy

ACTIVATIONS = {"relu": torch.relu, "swish": torch.nn.functional.silu, "gelu": torch.nn.functional.gelu,
               "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
               "gelu_sigmoid": lambda x: x * torch.sigmoid(1.702 * x)}


@dataclasses.dataclass
class Shape:
    source_vocabulary: int = 0
    target_vocabulary: int = 0
    encoder_layers: int = 1
    decoder_layers: int = 1
    d_model: int = 12
    d_ff: int = 16
    heads: int = 3
    pre_norm: bool = False
    epsilon: float = 1e-5
    activation: str = "relu"
    tying: str = "all"  # all, target_output, none, or separate: none without sharing of source and target
    attention_bias: bool = True
    output_bias: bool = True
    embedding_norm: bool = False
    scale: bool = True
    learned: bool = False  # positions
    shared_positions: bool = False
    halves_minus_one: bool = True  # else halves
    first_position: int = 0
    longest: int = 24
    start: int = -1  # the id before the first one; -1: a zero vector
    end: int = 0


def sinusoids(shape):
    half = shape.d_model // 2
    rates = torch.exp(torch.arange(half, dtype=torch.float64) * -math.log(10000)
                      / (half - 1 if shape.halves_minus_one else half))
    angles = torch.arange(shape.first_position, shape.first_position + shape.longest)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)


def table(shape):
    """The sizes of the parameters by name."""
    d, found = shape.d_model, {}

    def linear(name, inside, outside, bias=True):
        found[name + ".weight"] = (outside, inside)
        if bias:
            found[name + ".bias"] = (outside,)

    def norm(name):
        found[name + ".gain"] = found[name + ".bias"] = (d,)

    names = {"all": ["embedding"], "none": ["embedding", "output"], "separate": ["source_embedding",
             "target_embedding", "output"], "target_output": ["source_embedding", "target_embedding"]}[shape.tying]
    for name in names:
        linear(name, d, shape.source_vocabulary if name == "source_embedding" else shape.target_vocabulary, False)
    if shape.output_bias:
        found["output.bias"] = (shape.target_vocabulary,)
    for stack, layers in (("encoder", shape.encoder_layers), ("decoder", shape.decoder_layers)):
        if shape.learned and not (shape.shared_positions and stack == "decoder"):
            found[f"{stack}.positions.weight"] = (shape.longest, d)
        for i in range(layers):
            for part in ("self_attention", "cross_attention")[:1 if stack == "encoder" else 2]:
                for name in ("q", "k", "v", "output"):
                    linear(f"{stack}.layers.{i}.{part}.{name}", d, d, shape.attention_bias)
                norm(f"{stack}.layers.{i}.{part}.norm")
            linear(f"{stack}.layers.{i}.feed_forward.inner", d, shape.d_ff)
            linear(f"{stack}.layers.{i}.feed_forward.outer", shape.d_ff, d)
            norm(f"{stack}.layers.{i}.feed_forward.norm")
        if shape.embedding_norm:
            norm(f"{stack}.embedding_norm")
        if shape.pre_norm:
            norm(f"{stack}.norm")
    return found


class Transformer:
    def __init__(self, shape, seed=7):
        self.shape = shape
        draw = torch.Generator().manual_seed(seed)
        self.values = {}
        for name, sizes in table(shape).items():
            if len(sizes) == 1:
                value = torch.ones(sizes) if name.endswith("gain") else torch.zeros(sizes)
            else:
                value = torch.randn(sizes, generator=draw) * sizes[1] ** -0.5
            self.values[name] = value.requires_grad_()

    def map_values(self, change):
        self.values = {name: change(value.detach()) for name, value in self.values.items()}

    def linear(self, x, name):
        return torch.nn.functional.linear(x, self.values[name + ".weight"], self.values.get(name + ".bias"))

    def norm(self, x, name):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], self.values[name + ".gain"],
                                              self.values[name + ".bias"], self.shape.epsilon)

    def attention(self, x, memory, name, causal):
        split = [self.linear(of, f"{name}.{part}").unflatten(-1, (self.shape.heads, -1)).transpose(1, 2)
                 for part, of in (("q", x), ("k", memory), ("v", memory))]
        mixed = torch.nn.functional.scaled_dot_product_attention(*split, is_causal=causal)
        return self.linear(mixed.transpose(1, 2).flatten(-2), name + ".output")

    def feed_forward(self, x, name):
        return self.linear(ACTIVATIONS[self.shape.activation](self.linear(x, name + ".inner")), name + ".outer")

    def residual(self, x, name, sublayer):
        if self.shape.pre_norm:
            return x + sublayer(self.norm(x, name + ".norm"))
        return self.norm(x + sublayer(x), name + ".norm")

    def embed(self, ids, stack):
        side = "source" if stack == "encoder" else "target"
        weight = self.values.get("embedding.weight", self.values.get(f"{side}_embedding.weight"))
        x = weight[ids.clamp(min=0)] * (ids >= 0)[..., None]
        if self.shape.scale:
            x = x * self.shape.d_model ** 0.5
        if self.shape.learned:
            positions = self.values["encoder.positions.weight" if self.shape.shared_positions else
                                    f"{stack}.positions.weight"]
        else:
            positions = sinusoids(self.shape).to(x.dtype)
        x = x + positions[:ids.shape[1]]
        return self.norm(x, f"{stack}.embedding_norm") if self.shape.embedding_norm else x

    def stack(self, x, name, layers, memory=None):
        for i in range(layers):
            own = f"{name}.layers.{i}."
            x = self.residual(x, own + "self_attention",
                              lambda y: self.attention(y, y, own + "self_attention", memory is not None))
            if memory is not None:
                x = self.residual(x, own + "cross_attention",
                                  lambda y: self.attention(y, memory, own + "cross_attention", False))
            x = self.residual(x, own + "feed_forward", lambda y: self.feed_forward(y, own + "feed_forward"))
        return self.norm(x, f"{name}.norm") if self.shape.pre_norm else x

    def encode(self, sources):
        return self.stack(self.embed(sources, "encoder"), "encoder", self.shape.encoder_layers)

    def logits(self, memory, inputs):
        hidden = self.stack(self.embed(inputs, "decoder"), "decoder", self.shape.decoder_layers, memory)
        tied = {"all": "embedding", "target_output": "target_embedding"}.get(self.shape.tying, "output")
        return torch.nn.functional.linear(hidden, self.values[tied + ".weight"], self.values.get("output.bias"))

    def shifted(self, targets):
        start = torch.full_like(targets[:, :1], self.shape.start)
        return torch.cat([start, targets[:, :-1].clamp(min=0)], 1)

    def loss(self, sources, targets):
        logits = self.logits(self.encode(sources), self.shifted(targets))
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)

    def train(self, pairs):
        toy.train(list(self.values.values()), self.loss, pairs)
        self.map_values(lambda value: value)
        return self

    @torch.no_grad()
    def items(self, texts, source_of, target_of, text_of):
        self.map_values(torch.Tensor.double)
        found = []
        for text in texts:
            source, target = source_of(text), target_of(text)
            memory = self.encode(torch.tensor([source]))
            logits = self.logits(memory, self.shifted(torch.tensor([target])))
            log_probabilities = torch.log_softmax(logits[0], -1)[range(len(target)), target]

            def following(prefixes):
                inputs = torch.tensor([[self.shape.start] + prefix for prefix in prefixes])
                return torch.log_softmax(self.logits(memory.expand(len(prefixes), -1, -1), inputs)[:, -1], -1)

            score, best = toy.beam_search(following, self.shape.end)
            found.append({"text": text, "source": source, "target": target,
                          "log_probabilities": toy.numbers(log_probabilities),
                          "translation": {"ids": best, "text": text_of(best), "score": score}})
            if len(found) == 1:
                found[0]["states"] = toy.states(memory[0])
        self.map_values(torch.Tensor.float)
        return found
