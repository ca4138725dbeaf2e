#!/usr/bin/env python3
"""Whole-model vectors for tests/model/golden_test.cpp, from an implementation of its own in PyTorch and float64.

    python3 tests/golden/make_vectors.py [CASE...]  (needs torch; writes the *.safetensors files beside itself)

For each small configuration: parameters, a batch, logits, sums of smoothed loss and of nll, every gradient of the
smoothed sum, and the parameters after ten steps of Adam under equation 3. Headscope keeps the scalars of its ops as
float32 (1/sqrt(d_k), sqrt(d_model), epsilons, betas), so they are rounded to float32 here as well; all else is float64.
"""

import json
import math
import pathlib
import struct
import sys

import numpy
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
STEPS, WARMUP = 10, 4
BETA1, BETA2, ADAM_EPSILON = 0.9, 0.98, 1e-9

BASE = {
    "format_version": 1, "architecture": "encoder-decoder", "encoder_layers": 2, "decoder_layers": 1, "d_model": 8,
    "d_ff": 12, "heads": 2, "d_k": 4, "d_v": 4, "activation": "relu", "norm": "post", "layer_norm_epsilon": 1e-6,
    "positions": "sinusoid", "sinusoid_layout": "interleaved", "max_length": 16, "attention_bias": False,
    "output_bias": False, "tying": "all", "scale_embedding": True, "source_vocabulary": 11, "target_vocabulary": 11,
    "pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3,
}
# Of keys that the files of the first cases lack.
DEFAULTS = {"feed_forward_bias": True, "output_transform": False, "embedding_norm": False, "token_types": 0,
            "encoder_mixer": "self_attention", "decoder_mixer": "self_attention", "bidirectional": False,
            "cross_attention": True}
RECURRENT = {"format_version": 2, "positions": "none"}
LANGUAGE = {"format_version": 2, "positions": "learned", "activation": "gelu", "attention_bias": True,
            "scale_embedding": False, "layer_norm_epsilon": 1e-5}

CASES = {
    "paper": ({}, 0.1, "all"),
    "pre_norm": ({"norm": "pre", "activation": "gelu", "encoder_layers": 1, "decoder_layers": 2}, 0.1, "others"),
    "untied": ({"tying": "none", "target_vocabulary": 9, "sinusoid_layout": "halves", "output_bias": True}, 0.0, "all"),
    "learned": ({"positions": "learned", "activation": "swish", "tying": "target_output", "target_vocabulary": 13},
                0.2, "others"),
    "biases": ({"attention_bias": True, "d_k": 5, "d_v": 3, "sinusoid_layout": "halves_minus_one",
                "scale_embedding": False, "layer_norm_epsilon": 1e-5}, 0.1, "all"),
    "rms": ({"norm": "pre", "norm_type": "rms", "layer_norm_epsilon": 0.1}, 0.1, "all"),
    "causal": ({**LANGUAGE, "architecture": "causal-lm", "encoder_layers": 0, "decoder_layers": 2, "norm": "pre"},
               0.0, "all"),
    "masked": ({**LANGUAGE, "architecture": "masked-lm", "decoder_layers": 0, "embedding_norm": True,
                "output_transform": True, "output_bias": True}, 0.0, "all"),
    "bare": ({"format_version": 2, "architecture": "causal-lm", "encoder_layers": 0, "decoder_layers": 1,
              "tying": "none", "feed_forward_bias": False}, 0.1, "all"),
    "gelu_tanh": ({"activation": "gelu_tanh", "encoder_layers": 1}, 0.0, "all"),
    "token_types": ({"format_version": 2, "architecture": "masked-lm", "encoder_layers": 1, "decoder_layers": 0,
                     "norm": "pre", "token_types": 3}, 0.1, "all"),
    "index": ({"positions": "index", "encoder_layers": 1, "norm": "pre"}, 0.1, "all"),
    "normalised": ({"positions": "normalised", "encoder_layers": 1, "norm": "pre"}, 0.1, "all"),
    "concatenated": ({"position_combination": "concatenate", "position_columns": 4, "tying": "embeddings",
                      "encoder_layers": 1, "norm": "pre"}, 0.1, "all"),
    "convolution": ({"encoder_mixer": "convolution", "decoder_mixer": "convolution", "convolution_dilation": 2,
                     "norm": "pre", "decoder_layers": 2}, 0.1, "all"),
    "separable": ({"encoder_mixer": "convolution", "decoder_mixer": "convolution", "convolution_kernel": 5,
                   "convolution_form": "separable", "norm": "pre", "encoder_layers": 1}, 0.1, "all"),
    "convolution_gelu": ({"decoder_mixer": "convolution", "convolution_kernel": 4, "convolution_glu": False,
                          "activation": "gelu", "norm": "pre"}, 0.1, "all"),
    "lstm": ({**RECURRENT, "encoder_mixer": "lstm", "decoder_mixer": "lstm", "decoder_layers": 2,
              "cross_attention": False}, 0.1, "all"),
    "gru": ({**RECURRENT, "encoder_mixer": "gru", "decoder_mixer": "gru", "decoder_layers": 2, "norm": "pre",
             "bidirectional": True, "cross_attention": False}, 0.0, "all"),
    "bidirectional": ({**RECURRENT, "encoder_mixer": "lstm", "decoder_mixer": "gru", "bidirectional": True, "heads": 1,
                       "d_k": 8, "d_v": 8, "scale_attention": False}, 0.1, "all"),
    "restricted": ({"encoder_mixer": "restricted", "decoder_mixer": "restricted", "attention_window": 2,
                    "decoder_layers": 2}, 0.1, "all"),
    "adaptive": ({"format_version": 2, "tying": "none", "target_vocabulary": 13, "output_layer": "adaptive",
                  "adaptive_cutoffs": [5, 9], "adaptive_factor": 2}, 0.0, "all"),
    # With these sizes every expert is chosen: the error of a gradient that is 0 has no scale.
    "experts": ({"format_version": 2, "experts": 3, "encoder_layers": 1, "d_ff": 10}, 0.1, "all"),
    "experts_switch": ({"format_version": 2, "experts": 3, "experts_per_token": 1, "norm": "pre",
                        "activation": "gelu", "d_ff": 10}, 0.1, "all"),
    "additive": ({"attention_score": "additive", "decoder_layers": 2}, 0.1, "all"),
    "bahdanau": ({**RECURRENT, "encoder_mixer": "gru", "decoder_mixer": "gru", "bidirectional": True, "heads": 1,
                  "d_k": 8, "d_v": 8, "attention_score": "additive", "attention_bias": True}, 0.0, "all"),
    "mask_predict": ({"format_version": 2, "generation": "mask_predict", "mask_id": 3, "positions": "normalised",
                      "norm": "pre", "encoder_layers": 1, "decoder_layers": 2}, 0.1, "all"),
    "grouped": ({"heads": 4, "attention.kv_heads": 2, "attention_bias": True, "encoder_layers": 1,
                 "d_v": 3}, 0.1, "all"),
    "rotary": ({"positions": "none", "positions.rotary.kind": "plain", "positions.rotary.base": 100.0, "norm": "pre",
                "encoder_layers": 1, "decoder_layers": 2}, 0.1, "all"),
    "rotary_partial": ({**LANGUAGE, "architecture": "causal-lm", "encoder_layers": 0, "decoder_layers": 2,
                           "norm": "pre", "positions": "none", "d_k": 6, "d_v": 5, "attention.output_bias": False,
                           "positions.rotary.kind": "linear", "positions.rotary.factor": 3.0,
                           "positions.rotary.columns": 4, "positions.rotary.pairs": "neighbours"}, 0.0, "all"),
    "sandwich": ({"norm": "sandwich", "norm_type": "rms", "layer_norm_epsilon": 0.1, "attention.scale": 0.4,
                  "attention.query_key_norm": "head", "positions.rotary.kind": "plain", "encoder_layers": 1}, 0.1,
                 "all"),
    "inside": ({"norm": "inside", "attention.query_key_norm": "all", "layer_norm_epsilon": 0.1, "heads": 4,
                "attention.kv_heads": 2, "attention_bias": True, "encoder_layers": 1}, 0.1, "all"),
    "parallel": ({**LANGUAGE, "architecture": "causal-lm", "encoder_layers": 0, "decoder_layers": 2, "norm": "pre",
                  "norm.parallel": "two_norms"}, 0.0, "all"),
    "parallel_one": ({**LANGUAGE, "architecture": "masked-lm", "encoder_layers": 2, "decoder_layers": 0, "norm": "pre",
                      "norm.parallel": "one_norm"}, 0.0, "all"),
}


def single(x):
    return float(numpy.float32(x))


def positions(config, length):
    d, layout = config["d_model"], config["sinusoid_layout"]
    steps = d // 2 - 1 if layout == "halves_minus_one" else d // 2
    angles = torch.arange(length)[:, None] * torch.exp(-math.log(10000.0) * torch.arange(d // 2) / steps)[None, :]
    if layout == "interleaved":
        return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(length, d)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class Model:
    """Parameters are drawn when they are first asked for, so that their names come from this file alone."""

    def __init__(self, config, seed):
        self.c = {**DEFAULTS, **config}
        self.random = torch.Generator().manual_seed(seed)
        self.p = {}

    def get(self, name, *shape):
        if name not in self.p:
            size = 1.0 / math.sqrt(shape[-1]) if len(shape) == 2 else 0.3
            value = size * torch.randn(*shape, generator=self.random)
            # Nothing that single precision cannot hold: the vectors are for F32 backends too.
            value = (value + 1.0 if name.endswith(".gain") else value).float().double()
            self.p[name] = value.requires_grad_()
        return self.p[name]

    def linear(self, x, name, size, bias=True):
        weight = self.get(f"{name}.weight", size, x.shape[-1])
        return F.linear(x, weight, self.get(f"{name}.bias", size) if bias else None)

    def rms_norm(self, x, name):
        mean = x.square().mean(-1, keepdim=True)
        return self.get(f"{name}.gain", x.shape[-1]) * x / (mean + single(self.c["layer_norm_epsilon"])).sqrt()

    def norm(self, x, name):
        d = self.c["d_model"]
        if self.c.get("norm_type") == "rms":
            return self.rms_norm(x, name)
        gain = self.get(f"{name}.gain", d)
        bias = self.get(f"{name}.bias", d)
        return F.layer_norm(x, (d,), gain, bias, single(self.c["layer_norm_epsilon"]))

    def attention(self, x, memory, blocked, name):
        c, biased = self.c, self.c["attention_bias"]
        h, d_k, d_v = c["heads"], c["d_k"], c["d_v"]
        groups = c.get("attention.kv_heads") or h
        q, k = self.linear(x, f"{name}.q", h * d_k, biased), self.linear(memory, f"{name}.k", groups * d_k, biased)
        normed = c.get("attention.query_key_norm") if memory is x else None
        if normed == "all":
            q, k = self.rms_norm(q, f"{name}.q_norm"), self.rms_norm(k, f"{name}.k_norm")
        q, k = q.unflatten(-1, (h, d_k)).transpose(1, 2), k.unflatten(-1, (groups, d_k)).transpose(1, 2)
        if normed == "head":
            q, k = self.rms_norm(q, f"{name}.q_norm"), self.rms_norm(k, f"{name}.k_norm")
        v = self.linear(memory, f"{name}.v", groups * d_v, biased).unflatten(-1, (groups, d_v)).transpose(1, 2)
        if memory is x and "positions.rotary.kind" in c:
            q, k = self.turned(q), self.turned(k)
        k, v = k.repeat_interleave(h // groups, 1), v.repeat_interleave(h // groups, 1)
        if c.get("attention_score") == "additive":
            gain = self.get(f"{name}.score.gain", h, d_k)
            scores = torch.einsum("bhqkd,hd->bhqk", (q[:, :, :, None] + k[:, :, None]).tanh(), gain)
        else:
            scale = single(c.get("attention.scale") or (1.0 / math.sqrt(d_k) if c.get("scale_attention", True) else 1.0))
            scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * scale
        lost = blocked.all(-1, keepdim=True)  # a pad may be farther than the window from all that is no pad
        weights = scores.masked_fill((blocked & ~lost)[:, None], -math.inf).softmax(-1).masked_fill(lost[:, None], 0.0)
        heads = torch.einsum("bhqk,bhkd->bhqd", weights, v)
        return self.linear(heads.transpose(1, 2).flatten(2), f"{name}.output", c["d_model"],
                           biased and c.get("attention.output_bias", True))

    def turned(self, x):
        """Rotary positions: pairs of columns as complex numbers, times e^(i angle)."""
        base, factor = self.c.get("positions.rotary.base", 10000.0), self.c.get("positions.rotary.factor", 1.0)
        columns = self.c.get("positions.rotary.columns", x.shape[-1])
        part, rest = x[..., :columns], x[..., columns:]
        speeds = base ** (-torch.arange(0, columns, 2) / columns) / factor
        turns = torch.polar(torch.tensor(1.0), torch.arange(x.shape[-2])[:, None] * speeds)
        if self.c.get("positions.rotary.pairs") == "neighbours":
            part = torch.view_as_real(torch.view_as_complex(part.unflatten(-1, (-1, 2)).contiguous()) * turns).flatten(-2)
        else:
            part = torch.complex(*part.chunk(2, dim=-1)) * turns
            part = torch.cat([part.real, part.imag], dim=-1)
        return torch.cat([part, rest], dim=-1)

    def far(self, stack, length):
        """Pairs that are too far apart for restricted attention, [1, queries, keys]."""
        window = self.c["attention_window"] if self.c.get(f"{stack}_mixer") == "restricted" else length
        places = torch.arange(length)
        return ((places[:, None] - places[None, :]).abs() >= window)[None]

    def convolution(self, x, padding, name, layer):
        """By torch's convolutions. Decoders pad on the left alone."""
        c, d = self.c, self.c["d_model"]
        k, dilation = c.get("convolution_kernel", 3), c.get("convolution_dilation", 1) ** layer
        separable, gated = c.get("convolution_form") == "separable", c.get("convolution_glu", True)
        reach = (k - 1) * dilation
        x = x if padding is None else x.masked_fill(padding[:, :, None], 0.0)
        x = F.pad(x.transpose(1, 2), (reach, 0) if padding is None else (reach // 2, reach // 2))
        if separable:
            taps = self.get(f"{name}.depthwise.weight", k, d)
            x = F.conv1d(x, taps.T[:, None, :], dilation=dilation, groups=d)
            k = dilation = 1

        def mixed(part):
            weight = self.get(f"{name}.{part}.weight", d, k * d).unflatten(1, (k, d)).transpose(1, 2)
            return F.conv1d(x, weight, self.get(f"{name}.{part}.bias", d), dilation=dilation).transpose(1, 2)

        return mixed("gate").sigmoid() * mixed("value") if gated else self.activation(mixed("value"))

    def mix(self, x, stack, layer, blocked, padding):
        """The first sub-layer of a layer; `padding` of an encoder."""
        if self.c.get(f"{stack}_mixer") == "convolution":
            name = f"{stack}.layers.{layer}.convolution"
            return self.sublayer(x, name, lambda y: self.convolution(y, padding, name, layer))
        name = f"{stack}.layers.{layer}.self_attention"
        return self.sublayer(x, name, lambda y: self.attention(y, y, blocked, name))

    def recurrent(self, x, name, kind, lengths, both, start=None):
        """torch.nn's LSTM or GRU: outputs and last states, [batch, d_model] each."""
        gates, d, ways = 4 if kind == "lstm" else 3, x.shape[-1], 2 if both else 1
        module = (torch.nn.LSTM if kind == "lstm" else torch.nn.GRU)(d, d // ways, batch_first=True, bidirectional=both)
        rows = gates * d // ways
        weights = {}
        for way, suffix in [("", ""), ("reverse_", "_reverse")][:ways]:
            weights[f"weight_ih_l0{suffix}"] = self.get(f"{name}.{way}input.weight", rows, d)
            weights[f"weight_hh_l0{suffix}"] = self.get(f"{name}.{way}state.weight", rows, d // ways)
            weights[f"bias_ih_l0{suffix}"] = self.get(f"{name}.{way}input.bias", rows)
            weights[f"bias_hh_l0{suffix}"] = (torch.zeros(rows) if kind == "lstm" else
                                              self.get(f"{name}.{way}state.bias", rows))
        if start is not None:
            start = tuple(each[None].contiguous() for each in start) if kind == "lstm" else start[0][None].contiguous()
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, last = torch.func.functional_call(module, weights, (packed, start))
        y, _ = torch.nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])
        last = last if kind == "lstm" else (last,)
        return y, [each.transpose(0, 1).flatten(1) for each in last]

    def feed_forward(self, x, name):
        if self.c.get("experts", 0) > 0:
            return self.mixture(x, name)
        return self.expert(x, name)

    def mixture(self, x, name):
        """Every expert sees every token; the gate is 0 for those that a token has not chosen."""
        count, chosen = self.c["experts"], self.c.get("experts_per_token", 2)
        p = self.linear(x, f"{name}.router", count, False).softmax(-1)
        largest = p.topk(chosen, dim=-1).indices
        gate = p * torch.zeros_like(p).scatter(-1, largest, 1.0)
        gate = gate if chosen == 1 else gate / gate.sum(-1, keepdim=True)
        outputs = torch.stack([self.expert(x, f"{name}.experts.{e}") for e in range(count)], dim=-1)
        return (outputs * gate[..., None, :]).sum(-1)

    def expert(self, x, name):
        biased = self.c["feed_forward_bias"]
        inner = self.linear(x, f"{name}.inner", self.c["d_ff"], biased)
        return self.linear(self.activation(inner), f"{name}.outer", self.c["d_model"], biased)

    def activation(self, x):
        return {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda y: F.gelu(y, approximate="tanh"),
                "swish": F.silu}[self.c["activation"]](x)

    def sublayer(self, x, name, function):
        if self.c["norm"] == "inside":
            return x + self.norm(function(x), f"{name}.norm")
        if self.c["norm"] == "sandwich":
            return x + self.norm(function(self.norm(x, f"{name}.norm")), f"{name}.output_norm")
        if self.c["norm"] == "pre":
            return x + function(self.norm(x, f"{name}.norm"))
        return self.norm(x + function(x), f"{name}.norm")

    def add_feed_forward(self, x, before, layer):
        """`before`: what the layer began with, which a parallel feed-forward reads."""
        name, parallel = f"{layer}.feed_forward", self.c.get("norm.parallel")
        if parallel is None:
            return self.sublayer(x, name, lambda y: self.feed_forward(y, name))
        norm = f"{layer}.self_attention.norm" if parallel == "one_norm" else f"{name}.norm"
        return x + self.feed_forward(self.norm(before, norm), name)

    def positions(self, stack, shape, lengths):
        c, (batch, length) = self.c, shape
        columns = c.get("position_columns") or c["d_model"]
        if c["positions"] == "sinusoid":
            return positions({**c, "d_model": columns}, length).expand(batch, -1, -1)
        if c["positions"] == "learned":
            return self.get(f"{stack}.positions.weight", c["max_length"], columns)[:length].expand(batch, -1, -1)
        index = torch.arange(length, dtype=torch.float64)[None, :, None].expand(batch, -1, columns)
        if c["positions"] == "index":
            return index
        if lengths is None:
            return index / (c["max_length"] - 1)
        return index / (lengths[:, None, None] - 1).clamp(min=1)

    def embed(self, ids, side, types=None, lengths=None):
        c = self.c
        one = c["tying"] in ("all", "embeddings") or c["architecture"] != "encoder-decoder"
        name = "embedding.weight" if one else f"{side}_embedding.weight"
        x = F.embedding(ids, self.get(name, c[f"{side}_vocabulary"], c["d_model"] - c.get("position_columns", 0)))
        x = x * single(math.sqrt(c["d_model"])) if c["scale_embedding"] else x
        stack = "encoder" if side == "source" else "decoder"
        if c["positions"] != "none":
            placed = self.positions(stack, ids.shape, lengths)
            x = torch.cat([x, placed], -1) if c.get("position_columns") else x + placed
        if c["token_types"] > 0:
            x = x + F.embedding(types, self.get(f"{stack}.token_types.weight", c["token_types"], c["d_model"]))
        return self.norm(x, f"{stack}.embedding_norm") if c["embedding_norm"] else x

    def encode(self, source, padding, types=None):
        x = self.embed(source, "source", types, (~padding).sum(1))
        states, kind = [], self.c.get("encoder_mixer")
        for i in range(self.c["encoder_layers"]):
            name = f"encoder.layers.{i}"
            before = x
            blocked = padding[:, None, :] | self.far("encoder", source.shape[1])

            def recur(y):
                y, last = self.recurrent(y, f"{name}.recurrent", kind, (~padding).sum(1), self.c["bidirectional"])
                states.append(last)
                return y

            if kind in ("lstm", "gru"):
                if not self.c["cross_attention"] and i + 1 == self.c["encoder_layers"]:
                    recur(self.norm(x, f"{name}.recurrent.norm") if self.c["norm"] == "pre" else x)
                    return states
                x = self.sublayer(x, f"{name}.recurrent", recur)
            else:
                x = self.mix(x, "encoder", i, blocked, padding)
            x = self.add_feed_forward(x, before, name)
        return x if self.c["norm"] == "post" else self.norm(x, "encoder.norm")

    def decode(self, target_in, memory, padding, target_lengths=None):
        """`target_lengths`: of texts that are read in both directions."""
        length = target_in.shape[1]
        future = torch.ones(length, length, dtype=torch.bool).triu(1) if target_lengths is None else \
            (torch.arange(length)[None, :] >= target_lengths[:, None])[:, None]
        future = (future | self.far("decoder", length)).expand(len(target_in), length, -1)
        x = self.embed(target_in, "target", None, target_lengths)
        kind = self.c["decoder_mixer"]
        for i in range(self.c["decoder_layers"]):
            name = f"decoder.layers.{i}"
            before = x
            if kind in ("lstm", "gru"):
                start = None if self.c["cross_attention"] else memory[i]
                lengths = torch.full((len(target_in),), length)
                x = self.sublayer(x, f"{name}.recurrent",
                                  lambda y: self.recurrent(y, f"{name}.recurrent", kind, lengths, False, start)[0])
            else:
                x = self.mix(x, "decoder", i, future, None)
            if memory is not None and self.c["cross_attention"]:
                blocked = padding[:, None, :].expand(-1, length, -1)
                x = self.sublayer(x, f"{name}.cross_attention",
                                  lambda y: self.attention(y, memory, blocked, f"{name}.cross_attention"))
            x = self.add_feed_forward(x, before, name)
        return x if self.c["norm"] == "post" else self.norm(x, "decoder.norm")

    def logits(self, batch):
        c = self.c
        if c["architecture"] == "causal-lm":
            x = self.decode(batch["target_in"], None, None)
        elif c["architecture"] == "masked-lm":
            places = torch.arange(batch["target_in"].shape[1])[None, :]
            padding = places >= batch["target_lengths"][:, None]
            x = self.encode(batch["target_in"], padding, batch.get("target_types"))
        else:
            padding = torch.arange(batch["source"].shape[1])[None, :] >= batch["source_lengths"][:, None]
            memory = self.encode(batch["source"], padding)
            x = self.decode(batch["target_in"], memory, padding, batch.get("target_lengths"))
            if "target_lengths" in batch:
                last = memory[torch.arange(len(memory)), batch["source_lengths"] - 1]
                self.length_logits = self.linear(last, "length", c["max_length"])
        if c["output_transform"]:
            x = self.norm(self.activation(self.linear(x, "output.transform", c["d_model"])), "output.norm")
        name = {"all": "embedding", "target_output": "target_embedding", "none": "output", "embeddings": "output"}[c["tying"]]
        if c.get("output_layer") == "adaptive":
            return self.adaptive(x)
        name = {"all": "embedding", "target_output": "target_embedding", "none": "output"}[c["tying"]]
        x = x @ self.get(f"{name}.weight", c["target_vocabulary"], c["d_model"]).T
        return x + self.get("output.bias", c["target_vocabulary"]) if c["output_bias"] else x


    def adaptive(self, x):
        """PyTorch's log-probabilities, plus what a row's head normalises by."""
        d, cutoffs, factor = self.c["d_model"], self.c["adaptive_cutoffs"], self.c["adaptive_factor"]
        ends = [*cutoffs[1:], self.c["target_vocabulary"]]
        softmax = torch.nn.AdaptiveLogSoftmaxWithLoss(d, ends[-1], cutoffs, div_value=factor)

        def give(layer, weight):
            del layer.weight
            layer.weight = weight

        give(softmax.head, self.get("output.head.weight", cutoffs[0] + len(cutoffs), d))
        for i, (begin, end) in enumerate(zip(cutoffs, ends)):
            width = d // factor ** (i + 1)
            give(softmax.tail[i][0], self.get(f"output.clusters.{i}.project.weight", width, d))
            give(softmax.tail[i][1], self.get(f"output.clusters.{i}.weight", end - begin, width))
        rows = x.flatten(0, 1)
        logits = softmax.log_prob(rows) + softmax.head(rows).logsumexp(-1, keepdim=True)
        return logits.unflatten(0, x.shape[:2])


def losses(logits, target_out, epsilon, smoothing):
    kept = target_out >= 0
    log_p, gold = logits.log_softmax(-1)[kept], target_out[kept]
    nll = F.nll_loss(log_p, gold, reduction="sum")
    classes, epsilon = logits.shape[-1], single(epsilon)
    if smoothing == "all":
        q = torch.full_like(log_p, epsilon / classes)
        q.scatter_add_(1, gold[:, None], torch.full((len(gold), 1), 1.0 - epsilon))
    else:
        q = torch.full_like(log_p, epsilon / (classes - 1))
        q.scatter_(1, gold[:, None], 1.0 - epsilon)
    return -(q * log_p).sum(), nll


def make_batch(config, seed):
    draw = numpy.random.default_rng(seed)
    source_lengths, target_lengths = [8, 3, 6], [5, 8, 2]  # eos or bos counted
    source = numpy.full((3, 8), config["pad_id"], numpy.int32)
    target_in = numpy.full((3, 8), config["pad_id"], numpy.int32)
    target_out = numpy.full((3, 8), -1, numpy.int32)
    for i in range(3):
        pieces = draw.integers(4, config["source_vocabulary"], source_lengths[i] - 1)
        source[i, : source_lengths[i]] = [*pieces, config["eos_id"]]
        pieces = draw.integers(4, config["target_vocabulary"], target_lengths[i] - 1)
        target_in[i, : target_lengths[i]] = [config["bos_id"], *pieces]
        target_out[i, : target_lengths[i]] = [*pieces, config["eos_id"]]
    if config.get("generation") == "mask_predict":  # every second piece of a text without bos and eos is masked
        text = numpy.where(target_in == config["bos_id"], 4, target_in)
        drawn = (numpy.arange(8) % 2 == 0) & (target_out >= 0)
        batch = {"source": source, "source_lengths": numpy.array(source_lengths),
                 "target_lengths": numpy.array(target_lengths), "target_out": numpy.where(drawn, text, -1),
                 "target_in": numpy.where(drawn, config["mask_id"], text)}
        return {key: value.astype(numpy.int32) for key, value in batch.items()}
    if config["architecture"] == "encoder-decoder":
        return {"source": source, "source_lengths": numpy.array(source_lengths, numpy.int32), "target_in": target_in,
                "target_out": target_out}
    batch = {"target_in": target_in, "target_out": target_out, "target_lengths": numpy.array(target_lengths)}
    if config["architecture"] == "masked-lm":  # every third token is to be predicted, from the unknown one
        drawn = (numpy.arange(8) % 3 == 1) & (target_out >= 0)
        batch["target_out"] = numpy.where(drawn, target_in, -1)
        batch["target_in"] = numpy.where(drawn, config["unk_id"], target_in)
    if config.get("token_types", 0) > 0:
        batch["target_types"] = draw.integers(0, config["token_types"], (3, 8))
    return {key: value.astype(numpy.int32) for key, value in batch.items()}


def learning_rate(d_model, step, warmup):  # equation 3
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def write_safetensors(path, tensors, metadata):
    header, blobs, offset = {"__metadata__": metadata}, [], 0
    # Wider types first: then all data is aligned.
    for name, value in sorted(tensors.items(), key=lambda item: -item[1].dtype.itemsize):
        blob = numpy.ascontiguousarray(value).tobytes()
        dtype = {"float64": "F64", "int32": "I32"}[str(value.dtype)]
        header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def write_case(name, config, batch, logits_of, parameters, named, epsilon, smoothing, made_by,
               warmup=WARMUP, lengths_of=None):
    """`parameters()`: what Adam moves. `named(of)`: of(parameter), its value or gradient, by Headscope's names.
    `lengths_of()`: the logits of the targets' lengths, after logits_of()."""
    ids = {key: torch.from_numpy(value).long() for key, value in batch.items()}

    def forward():
        logits = logits_of(ids)
        loss, nll = losses(logits, ids["target_out"], epsilon, smoothing)
        if lengths_of is not None:
            loss = loss + F.cross_entropy(lengths_of(), ids["target_lengths"], reduction="sum")
        return logits, loss, nll

    logits, loss, nll = forward()
    loss.backward()
    tensors = dict(batch)
    tensors["logits"] = logits.detach().numpy()
    if lengths_of is not None:
        tensors["length_logits"] = lengths_of().detach().numpy()
    tensors["loss"] = numpy.array([loss.item()])
    tensors["nll"] = numpy.array([nll.item()])
    gradients = named(lambda parameter: parameter.grad)
    for key, value in named(lambda parameter: parameter).items():
        tensors[f"parameter/{key}"] = value.detach().numpy().copy()
        tensors[f"gradient/{key}"] = gradients[key].numpy().copy()
    tokens = int((batch["target_out"] >= 0).sum())
    adam = torch.optim.Adam(parameters(), betas=(single(BETA1), single(BETA2)), eps=single(ADAM_EPSILON))
    for step in range(1, STEPS + 1):
        for group in adam.param_groups:
            group["lr"] = learning_rate(config["d_model"], step, warmup)
        adam.zero_grad()
        (forward()[1] / tokens).backward()
        adam.step()
    for key, value in named(lambda parameter: parameter).items():
        tensors[f"after/{key}"] = value.detach().numpy().copy()
    metadata = {"config": json.dumps(config), "epsilon": str(epsilon), "smoothing": smoothing, "steps": str(STEPS),
                "warmup": str(warmup), "made_by": f"{made_by}, PyTorch {torch.__version__}"}
    write_safetensors(pathlib.Path(__file__).with_name(f"{name}.safetensors"), tensors, metadata)


def make_case(name, changes, epsilon, smoothing, seed):
    config = {**BASE, **changes}
    model = Model(config, seed)
    write_case(name, config, make_batch(config, seed), model.logits, model.p.values,
               lambda of: {key: of(value) for key, value in model.p.items()}, epsilon, smoothing,
               "tests/golden/make_vectors.py",
               lengths_of=(lambda: model.length_logits) if config.get("generation") == "mask_predict" else None)


if __name__ == "__main__":
    for number, (case, (settings, rate, form)) in enumerate(CASES.items()):
        if len(sys.argv) > 1 and case not in sys.argv[1:]:
            continue
        make_case(case, settings, rate, form, 10 + number)
