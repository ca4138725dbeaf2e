#!/usr/bin/env python3
"""Whole-model vectors for tests/model/golden_test.cpp from Hugging Face's T5, in float64.

    python3 tests/golden/make_t5_vectors.py      (needs torch and transformers; writes t5.safetensors, of version 1.0, and
                                                  t5_gated.safetensors, of version 1.1, beside itself)

The same content as make_vectors.py writes, for random weights of small shapes, under Headscope's names.
"""

import torch
import transformers
from make_transformers_vectors import random_model
from make_vectors import BASE, make_batch, write_case

# Some distances of sequences of 8 share a bucket, some are farther than the table reaches.
T5 = {**BASE, "format_version": 2, "encoder_layers": 2, "decoder_layers": 2, "d_model": 4, "norm": "pre",
      "norm_type": "rms", "positions": "none", "relative_positions": "buckets", "relative_buckets": 8,
      "relative_distance": 6, "feed_forward_bias": False, "scale_attention": False, "scale_embedding": False,
      "scale_output": True}
GATED = {**T5, "activation": "gelu_tanh", "feed_forward_gate": True, "scale_output": False, "tying": "embeddings",
         "relative_buckets": 6, "relative_distance": 5}


class Norm(torch.nn.Module):
    """T5's own computes the variance in float32."""

    def __init__(self, size, eps):
        super().__init__()
        self.weight, self.eps = torch.nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)


def t5(c):
    transformers.models.t5.modeling_t5.T5LayerNorm = Norm
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=c["target_vocabulary"], d_model=c["d_model"], d_kv=c["d_k"], d_ff=c["d_ff"], num_heads=c["heads"],
        num_layers=c["encoder_layers"], num_decoder_layers=c["decoder_layers"],
        relative_attention_num_buckets=c["relative_buckets"],
        relative_attention_max_distance=c["relative_distance"], layer_norm_epsilon=c["layer_norm_epsilon"],
        feed_forward_proj="gated-gelu" if c.get("feed_forward_gate") else "relu",
        tie_word_embeddings=c["scale_output"], pad_token_id=c["pad_id"], eos_token_id=c["eos_id"],
        decoder_start_token_id=c["bos_id"], attn_implementation="eager"))
    if c["tying"] != "all":  # whatever the configuration says, a new model is tied
        model.lm_head = torch.nn.Linear(c["d_model"], c["target_vocabulary"], bias=False)
    return model


def logits(model, ids):
    places = torch.arange(ids["source"].shape[1])[None, :]
    return model(input_ids=ids["source"], attention_mask=(places < ids["source_lengths"][:, None]).long(),
                 decoder_input_ids=ids["target_in"]).logits


def names(model, of):
    found = {"embedding.weight": of(model.shared.weight)}
    if model.lm_head.weight is not model.shared.weight:
        found["output.weight"] = of(model.lm_head.weight)
    for stack, of_stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        first = of_stack.block[0].layer[0].SelfAttention
        found[f"{stack}.relative_positions.weight"] = of(first.relative_attention_bias.weight)
        found[f"{stack}.norm.gain"] = of(of_stack.final_layer_norm.weight)
        for number, block in enumerate(of_stack.block):
            parts = [("self_attention", block.layer[0].SelfAttention)]
            if stack == "decoder":
                parts.append(("cross_attention", block.layer[1].EncDecAttention))
            for (part, module), layer in zip(parts, block.layer):
                name = f"{stack}.layers.{number}.{part}"
                found |= {f"{name}.{ours}.weight": of(getattr(module, theirs).weight)
                          for ours, theirs in (("q", "q"), ("k", "k"), ("v", "v"), ("output", "o"))}
                found[f"{name}.norm.gain"] = of(layer.layer_norm.weight)
            name, forward = f"{stack}.layers.{number}.feed_forward", block.layer[-1].DenseReluDense
            inner = {"gate": "wi_0", "inner": "wi_1"} if hasattr(forward, "wi_0") else {"inner": "wi"}
            found |= {f"{name}.{ours}.weight": of(getattr(forward, theirs).weight)
                      for ours, theirs in {**inner, "outer": "wo"}.items()}
            found[f"{name}.norm.gain"] = of(block.layer[-1].layer_norm.weight)
    return found


if __name__ == "__main__":
    for seed, (case, config) in enumerate([("t5", T5), ("t5_gated", GATED)], 40):
        model = random_model(lambda: t5(config), seed)
        # Small steps: the softmax of unscaled scores amplifies rounding.
        write_case(case, config, make_batch(config, seed), lambda ids: logits(model, ids), model.parameters,
                   lambda of: names(model, of), 0.1, "all",
                   f"tests/golden/make_t5_vectors.py, transformers {transformers.__version__}", warmup=100)
