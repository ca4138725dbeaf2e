"""fairseq's checkpoints, computed in float64."""
import argparse
import collections

import torch

from . import toy
from .toy_sides import id_pairs, sides
from .transformer import Shape, Transformer


def options_of(shape):
    stacks = {}
    for stack, layers in (("encoder", shape.encoder_layers), ("decoder", shape.decoder_layers)):
        stacks.update({f"{stack}_layers": layers, f"{stack}_embed_dim": shape.d_model,
                       f"{stack}_ffn_embed_dim": shape.d_ff, f"{stack}_attention_heads": shape.heads,
                       f"{stack}_normalize_before": shape.pre_norm, f"{stack}_learned_pos": shape.learned,
                       f"{stack}_embed_path": None, f"{stack}_layers_to_keep": None})
    return {"arch": "transformer", "task": "translation", "source_lang": "en", "target_lang": "de", **stacks,
            "share_all_embeddings": shape.tying == "all",
            "share_decoder_input_output_embed": shape.tying in ("all", "target_output"), "dropout": 0.1,
            "activation_fn": shape.activation, "max_source_positions": shape.longest,
            "max_target_positions": shape.longest, "adaptive_softmax_cutoff": None,
            "no_token_positional_embeddings": False, "no_scale_embedding": not shape.scale,
            "layernorm_embedding": shape.embedding_norm, "decoder_output_dim": shape.d_model,
            "decoder_input_dim": shape.d_model, "lr": [0.0005], "adam_betas": "(0.9, 0.98)"}


def tensors(model, old):
    """Of old files, one matrix holds those of queries, keys and values, and a layer's norms have numbers."""
    shape, own, found = model.shape, model.values, {}
    blocks = {"self_attention": "self_attn", "cross_attention": "encoder_attn"}
    for name, value in own.items():
        parts = name.split(".")
        ends = {"gain": "weight"}
        if len(parts) == 2:
            names = {"embedding": ["encoder.embed_tokens", "decoder.embed_tokens"],
                     "source_embedding": ["encoder.embed_tokens"], "target_embedding": ["decoder.embed_tokens"],
                     "output": ["decoder.output_projection"]}[parts[0]]
            if parts[0] == {"all": "embedding", "target_output": "target_embedding"}.get(shape.tying) and not old:
                names.append("decoder.output_projection")  # repeated in newer files
            found.update({f"{theirs}.weight": value for theirs in names})
        elif parts[1] == "positions":
            found[f"{parts[0]}.embed_positions.weight"] = torch.cat([torch.zeros(2, shape.d_model), value])
        elif parts[1] in ("norm", "embedding_norm"):
            theirs = {"norm": "layer_norm", "embedding_norm": "layernorm_embedding"}[parts[1]]
            found[f"{parts[0]}.{theirs}.{ends.get(parts[2], parts[2])}"] = value
        else:
            norms = {name: f"{theirs}_layer_norm" for name, theirs in blocks.items()} | {
                "feed_forward": "final_layer_norm"}
            if old:
                present = [name for name in norms if parts[0] == "decoder" or name != "cross_attention"]
                norms = {name: f"layer_norms.{i}" for i, name in enumerate(present)}
            layer, block, part, end = ".".join(parts[:3]), parts[3], parts[4], ends.get(parts[5], parts[5])
            if block == "feed_forward":
                theirs = {"inner": "fc1", "outer": "fc2", "norm": norms["feed_forward"]}[part]
                found[f"{layer}.{theirs}.{end}"] = value
            elif part == "norm":
                found[f"{layer}.{norms[block]}.{end}"] = value
            elif part == "output":
                found[f"{layer}.{blocks[block]}.out_proj.{end}"] = value
            elif not old:
                found[f"{layer}.{blocks[block]}.{part}_proj.{end}"] = value
            elif part == "q":
                three = [own[f"{layer}.{block}.{letter}.{end}"] for letter in "qkv"]
                found[f"{layer}.{blocks[block]}.in_proj_{end}"] = torch.cat(three)
    found["encoder.version"] = found["decoder.version"] = torch.tensor([3.0])
    if not shape.learned:
        for stack in ("encoder", "decoder"):
            table = {"weights": torch.zeros(4, shape.d_model)} if old else {"_float_tensor": torch.zeros(1)}
            found.update({f"{stack}.embed_positions.{name}": value for name, value in table.items()})
    return found


def make_fairseq(folder, cfg=False, old=False, dtype=torch.float32, **more):
    tying = more.get("tying", "all")
    source, target = sides(["<s>", "<pad>", "</s>", "<unk>"], shared=tying == "all")
    shape = Shape(**{"source_vocabulary": len(source.pieces), "target_vocabulary": len(target.pieces),
                     "output_bias": False, "first_position": 2, "start": 2, "end": 2, **more})
    model = Transformer(shape).train(id_pairs(source, target))
    model.map_values(lambda value: value.to(dtype).float())
    options = argparse.Namespace(**options_of(shape))
    checkpoint = {"args": None if cfg else options,
                  "cfg": {"_name": None, "common": {"seed": 1}, "model": options} if cfg else None,
                  "model": collections.OrderedDict((name, value.to(dtype)) for name, value in
                                                   tensors(model, old).items()),
                  "extra_state": {"epoch": 1}, "last_optimizer_state": None,
                  "optimizer_history": [{"optimizer_name": "FairseqAdam", "num_updates": 1}]}
    torch.save(checkpoint, folder / "checkpoint_best.pt", _use_new_zipfile_serialization=cfg)
    for name, side in (("en", source), ("de", target)):
        (folder / f"{name}.spm").write_bytes(side.model)
        lines = (f"{piece} 1\n" for piece in side.pieces[4:])
        (folder / f"dict.{name}.txt").write_text("".join(lines), encoding="utf-8")
    toy.write_answers(folder, model.items(toy.TEXTS, source.ids, target.ids, target.text))
