#!/usr/bin/env python3
"""Values at the sites of models (src/model/sites.h) for tests/explore/hooked_run_test.cpp, from PyTorch's forward hooks.

    python3 tests/golden/make_site_vectors.py      (needs torch, transformers and safetensors; writes one file for each
                                                    model into tests/explore/sites)

The models are those of tests/import/models. Of each: every site of a pass in float32 ("site/NAME", without the batch),
passes in which values are replaced ("patch/N", with the site in the metadata, and "patched/N", the logits), and the
gradients of the predicted tokens' log P with respect to the token embeddings ("gradient/source", "gradient/target").
"""
import json
import pathlib

import safetensors.torch
import torch
import transformers

TESTS = pathlib.Path(__file__).parents[1]


class Sites:
    """Calls at_site(name, value) wherever a value passes. What it returns goes on."""

    def __init__(self, heads):
        self.heads, self.seen, self.patch = heads, {}, None

    def apart(self, x):  # [batch, length, heads * depth] -> [batch, heads, length, depth]
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def joined(self, x):
        return x.transpose(1, 2).flatten(2)

    def at(self, name, value):
        if self.patch and self.patch["site"] == name:
            value, first, by = value.clone(), self.patch["first"], self.patch["values"]
            into = value[0, self.patch["head"] - 1] if self.patch["head"] else value[0]
            into[..., first:first + by.shape[-2], :] = by
        self.seen[name] = value[0].detach().clone()
        return value

    def output(self, module, name, split=False):
        def hook(_, __, result):
            whole = result[0] if isinstance(result, tuple) else result
            value = self.at(name, self.apart(whole) if split else whole)
            value = self.joined(value) if split else value
            return (value, *result[1:]) if isinstance(result, tuple) else value
        module.register_forward_hook(hook)

    def input(self, module, name, split=False):
        def hook(_, args, kwargs):
            whole = args[0] if args else kwargs["hidden_states"]
            value = self.at(name, self.apart(whole) if split else whole)
            value = self.joined(value) if split else value
            return ((value, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": value})
        module.register_forward_pre_hook(hook, with_kwargs=True)

    def weights(self, module, name):
        """Attention modules return them behind their output, T5's behind its biases, too."""
        module.register_forward_hook(lambda _, __, result: self.seen.__setitem__(name, result[-1][0].detach().clone()))

    def attention(self, part, module, q, k, v, out):
        for name, projection in (("q", q), ("k", k), ("v", v)):
            self.output(projection, f"{part}.{name}", split=True)
        self.weights(module, f"{part}.weights")
        self.input(out, f"{part}.z", split=True)
        self.output(out, f"{part}.out")


def marian(model, sites):
    for stack, layers in (("encoder", model.model.encoder.layers), ("decoder", model.model.decoder.layers)):
        for number, layer in enumerate(layers):
            name = f"{stack}.{number}"
            if number == 0:
                sites.input(layer, f"{stack}.embedding")
            sites.input(layer, f"{name}.residual_in")
            own = layer.self_attn
            sites.attention(f"{name}.self_attention", own, own.q_proj, own.k_proj, own.v_proj, own.out_proj)
            sites.output(layer.self_attn_layer_norm, f"{name}.residual_mid")
            if stack == "decoder":
                other = layer.encoder_attn
                sites.attention(f"{name}.cross_attention", other, other.q_proj, other.k_proj, other.v_proj,
                                other.out_proj)
                sites.output(layer.encoder_attn_layer_norm, f"{name}.residual_cross")
            sites.input(layer.fc2, f"{name}.feed_forward.hidden")
            sites.output(layer.fc2, f"{name}.feed_forward.out")
            sites.output(layer.final_layer_norm, f"{name}.residual_out")
        sites.output(layers[-1], f"{stack}.norm")


def t5(model, sites):
    for stack, of_stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        for number, block in enumerate(of_stack.block):
            name = f"{stack}.{number}"
            if number == 0:
                sites.input(block, f"{stack}.embedding")
            sites.input(block, f"{name}.residual_in")
            first = block.layer[0].SelfAttention
            sites.attention(f"{name}.self_attention", first, first.q, first.k, first.v, first.o)
            sites.output(block.layer[0], f"{name}.residual_mid")
            if stack == "decoder":
                other = block.layer[1].EncDecAttention
                sites.attention(f"{name}.cross_attention", other, other.q, other.k, other.v, other.o)
                sites.output(block.layer[1], f"{name}.residual_cross")
            sites.input(block.layer[-1].DenseReluDense.wo, f"{name}.feed_forward.hidden")
            sites.output(block.layer[-1].DenseReluDense.wo, f"{name}.feed_forward.out")
            sites.output(block.layer[-1], f"{name}.residual_out")
        sites.output(of_stack.final_layer_norm, f"{stack}.norm")


def gpt2(model, sites):
    for number, block in enumerate(model.transformer.h):
        name = f"decoder.{number}"
        if number == 0:
            sites.input(block, "decoder.embedding")
        sites.input(block, f"{name}.residual_in")

        def split(_, __, result, name=name):
            parts = zip("qkv", result.chunk(3, dim=-1))
            return torch.cat([sites.joined(sites.at(f"{name}.self_attention.{each}", sites.apart(part)))
                              for each, part in parts], dim=-1)
        block.attn.c_attn.register_forward_hook(split)
        sites.weights(block.attn, f"{name}.self_attention.weights")
        sites.input(block.attn.c_proj, f"{name}.self_attention.z", split=True)
        sites.output(block.attn.c_proj, f"{name}.self_attention.out")
        # The sum goes to the norm and past it, so a hook at the norm can read it, but not replace it.
        sites.input(block.ln_2, f"{name}.residual_mid")
        sites.input(block.mlp.c_proj, f"{name}.feed_forward.hidden")
        sites.output(block.mlp.c_proj, f"{name}.feed_forward.out")
        sites.output(block, f"{name}.residual_out")
    sites.output(model.transformer.ln_f, "decoder.norm")


def bert(model, sites):
    sites.output(model.bert.embeddings, "encoder.embedding")
    for number, layer in enumerate(model.bert.encoder.layer):
        name = f"encoder.{number}"
        sites.input(layer, f"{name}.residual_in")
        own = layer.attention.self
        sites.attention(f"{name}.self_attention", own, own.query, own.key, own.value, layer.attention.output.dense)
        sites.output(layer.attention.output, f"{name}.residual_mid")
        sites.input(layer.output.dense, f"{name}.feed_forward.hidden")
        sites.output(layer.output.dense, f"{name}.feed_forward.out")
        sites.output(layer, f"{name}.residual_out")
    sites.output(model.bert.encoder.layer[-1], "encoder.norm")


# The text to read, what hooks a model, the modules that embed tokens with their stacks, and the sites to patch: (site,
# head, first position, positions).
MODELS = {
    "hf-marian-tied": ("mo Kaleb rito", marian, lambda model: [("encoder", model.model.encoder.embed_tokens),
                                                               ("decoder", model.model.decoder.embed_tokens)],
                       [("encoder.0.residual_out", 0, 2, 3), ("decoder.0.cross_attention.z", 2, 0, 4),
                        ("decoder.0.residual_mid", 0, 0, 2), ("encoder.1.self_attention.k", 1, 3, 2)]),
    "hf-t5": ("mo Kaleb rito", t5, lambda model: [("encoder", model.encoder.embed_tokens),
                                                  ("decoder", model.decoder.embed_tokens)],
              [("encoder.1.residual_mid", 0, 1, 4), ("decoder.0.self_attention.z", 1, 2, 3),
               ("encoder.0.feed_forward.hidden", 0, 0, 3), ("decoder.0.cross_attention.v", 0, 1, 2)]),
    "hf-gpt2": ("mo Kaleb rito", gpt2, lambda model: [("decoder", model.transformer.wte)],
                [("decoder.0.residual_out", 0, 1, 3), ("decoder.1.self_attention.z", 2, 4, 2),
                 ("decoder.0.self_attention.v", 1, 0, 5), ("decoder.1.feed_forward.out", 0, 3, 1)]),
    "hf-bert": ("mo [MASK] rito", bert, lambda model: [("encoder", model.bert.embeddings.word_embeddings)],
                [("encoder.0.residual_mid", 0, 2, 2), ("encoder.1.self_attention.z", 1, 0, 6),
                 ("encoder.0.self_attention.q", 2, 1, 3), ("encoder.embedding", 0, 0, 2)]),
}


def inputs_of(name, text, folder):
    """The arguments of forward(), and the predicted tokens with their positions in the logits."""
    if name == "hf-bert":
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        place = ids[0].tolist().index(tokenizer.mask_token_id)
        return {"input_ids": ids}, [(place, 29)]
    item = json.loads((folder / "answers.json").read_text())["items"][0]
    assert item["text"] == text
    if name == "hf-gpt2":
        return {"input_ids": torch.tensor([item["ids"]])}, list(enumerate(item["ids"][1:]))
    start = json.loads((folder / "config.json").read_text())["decoder_start_token_id"]
    return ({"input_ids": torch.tensor([item["source"]]),
             "decoder_input_ids": torch.tensor([[start, *item["target"][:-1]]])}, list(enumerate(item["target"])))


def gradients(model, inputs, predicted, embeddings):
    """Of log P of each predicted token with respect to what each embedding module gives."""
    leaves = {}

    def leaf(stack):
        def hook(_, __, result):
            leaves[stack] = result.detach().clone().requires_grad_()
            return leaves[stack]
        return hook
    hooks = [module.register_forward_hook(leaf(stack)) for stack, module in embeddings]
    logits = model(**inputs).logits.log_softmax(-1)
    found = [torch.autograd.grad(logits[0, place, token], list(leaves.values()), retain_graph=True, allow_unused=True)
             for place, token in predicted]
    for hook in hooks:
        hook.remove()
    return {stack: torch.stack([one[i][0] for one in found]) for i, stack in enumerate(leaves)}


def write(name, text, hook, embeddings, patches):
    folder = TESTS / "import" / "models" / name
    model = getattr(transformers, json.loads((folder / "config.json").read_text())["architectures"][0])
    model = model.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    inputs, predicted = inputs_of(name, text, folder)
    tensors, notes = {}, []
    # Marian multiplies what the module gives.
    scale = model.model.encoder.embed_scale if name == "hf-marian-tied" else 1.0
    for stack, values in gradients(model, inputs, predicted, embeddings(model)).items():
        tensors["gradient/" + ("source" if stack == "encoder" and name != "hf-bert" else "target")] = values / scale
    config = model.config
    sites = Sites(getattr(config, "num_attention_heads", None) or getattr(config, "encoder_attention_heads"))
    for stack, module in embeddings(model):
        sites.output(module, f"{stack}.embedding.tokens")
    hook(model, sites)
    with torch.no_grad():
        sites.seen["logits"] = model(**inputs).logits[0]
        for stack, _ in embeddings(model):
            sites.seen[f"{stack}.embedding.tokens"] *= scale
        tensors |= {f"site/{site}": value for site, value in sites.seen.items()}
        torch.manual_seed(7)
        for number, (site, head, first, positions) in enumerate(patches):
            shape = list(tensors[f"site/{site}"].shape)
            shape[-2] = positions
            values = torch.randn(shape[1:] if head else shape)
            sites.patch = {"site": site, "head": head, "first": first, "values": values}
            tensors[f"patch/{number}"] = values
            tensors[f"patched/{number}"] = model(**inputs).logits[0]
            notes.append({"site": site, "head": head, "first": first})
    metadata = {"text": text, "patches": json.dumps(notes), "predicted": json.dumps([token for _, token in predicted]),
                "read": json.dumps({key: ids[0].tolist() for key, ids in inputs.items()}),
                "by": f"torch {torch.__version__}, transformers {transformers.__version__}"}
    path = TESTS / "explore" / "sites" / f"{name}.safetensors"
    safetensors.torch.save_file({key: value.contiguous() for key, value in tensors.items()}, path, metadata)
    print(name, path.stat().st_size, len(sites.seen), "sites")


for each, (words, hook_model, embedded, replaced) in MODELS.items():
    write(each, words, hook_model, embedded, replaced)
