#!/usr/bin/env python3
"""Whole-model vectors for tests/model/golden_test.cpp from Hugging Face's GPT-2 and BERT, in float64.

    python3 tests/golden/make_transformers_vectors.py      (needs torch and transformers; writes gpt2.safetensors and
                                                            bert.safetensors beside itself)

The same content as make_vectors.py writes, for random weights of small shapes, under Headscope's names.
"""

import torch
import transformers
from make_vectors import BASE, LANGUAGE, make_batch, write_case

SHAPE = {**BASE, **LANGUAGE}
GPT2 = {**SHAPE, "architecture": "causal-lm", "encoder_layers": 0, "decoder_layers": 2, "norm": "pre",
        "activation": "gelu_tanh"}
BERT = {**SHAPE, "architecture": "masked-lm", "decoder_layers": 0, "layer_norm_epsilon": 1e-12, "output_bias": True,
        "output_transform": True, "embedding_norm": True, "token_types": 2}


def gpt2():
    c = GPT2
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=c["target_vocabulary"], n_positions=c["max_length"], n_embd=c["d_model"],
        n_layer=c["decoder_layers"], n_head=c["heads"], n_inner=c["d_ff"], layer_norm_epsilon=c["layer_norm_epsilon"],
        attn_implementation="eager", bos_token_id=c["bos_id"], eos_token_id=c["eos_id"]))


def gpt2_logits(model, ids):
    return model(input_ids=ids["target_in"]).logits


def gpt2_names(model, of):
    """Conv1D is [in, out], with q, k and v side by side."""
    found = {"embedding.weight": of(model.transformer.wte.weight),
             "decoder.positions.weight": of(model.transformer.wpe.weight)}
    for number, layer in enumerate(model.transformer.h):
        attention, forward = (f"decoder.layers.{number}.{part}" for part in ("self_attention", "feed_forward"))
        weights, biases = of(layer.attn.c_attn.weight).T.chunk(3), of(layer.attn.c_attn.bias).chunk(3)
        for name, weight, bias in zip("qkv", weights, biases):
            found |= {f"{attention}.{name}.weight": weight, f"{attention}.{name}.bias": bias}
        for name, convolution in ((f"{attention}.output", layer.attn.c_proj), (f"{forward}.inner", layer.mlp.c_fc),
                                  (f"{forward}.outer", layer.mlp.c_proj)):
            found |= {f"{name}.weight": of(convolution.weight).T, f"{name}.bias": of(convolution.bias)}
        found |= norm(f"{attention}.norm", layer.ln_1, of) | norm(f"{forward}.norm", layer.ln_2, of)
    return found | norm("decoder.norm", model.transformer.ln_f, of)


def bert():
    c = BERT
    return transformers.BertForMaskedLM(transformers.BertConfig(
        vocab_size=c["target_vocabulary"], max_position_embeddings=c["max_length"], hidden_size=c["d_model"],
        num_hidden_layers=c["encoder_layers"], num_attention_heads=c["heads"], intermediate_size=c["d_ff"],
        type_vocab_size=c["token_types"], layer_norm_eps=c["layer_norm_epsilon"], pad_token_id=c["pad_id"],
        attn_implementation="eager"))


def bert_logits(model, ids):
    places = torch.arange(ids["target_in"].shape[1])[None, :]
    return model(input_ids=ids["target_in"], token_type_ids=ids["target_types"],
                 attention_mask=(places < ids["target_lengths"][:, None]).long()).logits


def bert_names(model, of):
    embeddings, head = model.bert.embeddings, model.cls.predictions
    found = {"embedding.weight": of(embeddings.word_embeddings.weight),
             "encoder.positions.weight": of(embeddings.position_embeddings.weight),
             "encoder.token_types.weight": of(embeddings.token_type_embeddings.weight),
             "output.bias": of(head.bias)}
    found |= norm("encoder.embedding_norm", embeddings.LayerNorm, of)
    found |= linear("output.transform", head.transform.dense, of) | norm("output.norm", head.transform.LayerNorm, of)
    for number, layer in enumerate(model.bert.encoder.layer):
        attention, forward = (f"encoder.layers.{number}.{part}" for part in ("self_attention", "feed_forward"))
        for name, module in ((f"{attention}.q", layer.attention.self.query),
                             (f"{attention}.k", layer.attention.self.key),
                             (f"{attention}.v", layer.attention.self.value),
                             (f"{attention}.output", layer.attention.output.dense),
                             (f"{forward}.inner", layer.intermediate.dense), (f"{forward}.outer", layer.output.dense)):
            found |= linear(name, module, of)
        found |= norm(f"{attention}.norm", layer.attention.output.LayerNorm, of)
        found |= norm(f"{forward}.norm", layer.output.LayerNorm, of)
    return found


def linear(name, module, of):
    return {f"{name}.weight": of(module.weight), f"{name}.bias": of(module.bias)}


def norm(name, module, of):
    return {f"{name}.gain": of(module.weight), f"{name}.bias": of(module.bias)}


def random_model(make, seed):
    """Biases and gains, which start at 0 and 1, are random, too. Nothing that single precision cannot hold."""
    torch.manual_seed(seed)
    model = make().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_((parameter + 0.3 * torch.randn_like(parameter)).float().double())
    return model


if __name__ == "__main__":
    for seed, (case, config, make, logits, names) in enumerate(
            [("gpt2", GPT2, gpt2, gpt2_logits, gpt2_names), ("bert", BERT, bert, bert_logits, bert_names)], 30):
        model = random_model(make, seed)
        write_case(case, config, make_batch(config, seed), lambda ids: logits(model, ids), model.parameters,
                   lambda of: names(model, of), 0.0, "all",
                   f"tests/golden/make_transformers_vectors.py, transformers {transformers.__version__}")
