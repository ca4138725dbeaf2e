"""Sockeye 3's params.best, computed in float64."""
import torch

from . import toy
from .toy_sides import id_pairs, sides
from .transformer import Shape, Transformer, sinusoids

CONFIG = """!ModelConfig
config_data: !DataConfig
  data_statistics: !DataStatistics
    buckets:
    - !!python/tuple
      - 8
      - 8
    length_ratio_mean: 1.0
  max_seq_len_source: {shape.longest}
  max_seq_len_target: {shape.longest}
  num_source_factors: 1
  num_target_factors: 1
{decoder}
config_embed_source: !EmbeddingConfig
  dropout: 0.0
  factor_configs: null
  num_embed: {shape.d_model}
  num_factors: 1
  vocab_size: {shape.source_vocabulary}
config_embed_target: !EmbeddingConfig
  dropout: 0.0
  factor_configs: null
  num_embed: {shape.d_model}
  num_factors: 1
  vocab_size: {shape.target_vocabulary}
{encoder}
config_length_task: null
dtype: float32
lhuc: false
vocab_source_size: {shape.source_vocabulary}
vocab_target_size: {shape.target_vocabulary}
weight_tying_type: {tying}
"""
STACK = """config_{name}: !TransformerConfig
  act_type: {shape.activation}
  attention_heads: {shape.heads}
  decoder_type: transformer
  depth_key_value: {shape.d_model}
  dropout_act: 0.1
  feed_forward_num_hidden: {shape.d_ff}
  max_seq_len_source: {shape.longest}
  max_seq_len_target: {shape.longest}
  model_size: {shape.d_model}
  num_layers: {layers}
  positional_embedding_type: {positions}
  postprocess_sequence: dr
  preprocess_sequence: n
  use_glu: false
  use_lhuc: false"""


def interleaved(heads, *matrices):
    """The rows of the first head of each, then those of the second."""
    return torch.cat([part for parts in zip(*(matrix.chunk(heads) for matrix in matrices)) for part in parts])


def tensors(model):
    shape, own, found = model.shape, model.values, {}

    def weight(name):
        return own[name + ".weight"]

    def norm(theirs, ours):
        found[theirs + ".layer_norm.weight"] = own[ours + ".gain"]
        found[theirs + ".layer_norm.bias"] = own[ours + ".bias"]

    embedding = own.get("embedding.weight")
    source, target = (own.get(f"{side}_embedding.weight", embedding) for side in ("source", "target"))
    found["embedding_source.embedding.weight"], found["embedding_target.embedding.weight"] = source, target
    found["output_layer.weight"], found["output_layer.bias"] = own.get("output.weight", target), own["output.bias"]
    for stack, layers in (("encoder", shape.encoder_layers), ("decoder", shape.decoder_layers)):
        positions = f"{stack}.positions.weight"
        found[f"{stack}.pos_embedding.weight"] = own.get(positions, sinusoids(shape).float())
        for i in range(layers):
            theirs = ours = f"{stack}.layers.{i}."
            self_attention = "self_attention" if stack == "encoder" else "autoregr_layer"
            q, k, v, output = (weight(f"{ours}self_attention.{part}") for part in ("q", "k", "v", "output"))
            found[f"{theirs}{self_attention}.ff_in.weight"] = torch.cat([q, interleaved(shape.heads, k, v)])
            found[f"{theirs}{self_attention}.ff_out.weight"] = output
            norm(f"{theirs}pre_{self_attention}", ours + "self_attention.norm")
            if stack == "decoder":
                q, k, v, output = (weight(f"{ours}cross_attention.{part}") for part in ("q", "k", "v", "output"))
                found[theirs + "enc_attention.ff_q.weight"] = q
                found[theirs + "enc_attention.ff_kv.weight"] = interleaved(shape.heads, k, v)
                found[theirs + "enc_attention.ff_out.weight"] = output
                norm(theirs + "pre_enc_attention", ours + "cross_attention.norm")
            for end in ("weight", "bias"):
                found[f"{theirs}ff.ff1.{end}"] = own[f"{ours}feed_forward.inner.{end}"]
                found[f"{theirs}ff.ff2.{end}"] = own[f"{ours}feed_forward.outer.{end}"]
            norm(theirs + "pre_ff", ours + "feed_forward.norm")
        norm(f"{stack}.final_process", f"{stack}.norm")
    return found


def make_sockeye(folder, tying, **more):
    ours = {"src_trg_softmax": "all", "trg_softmax": "target_output", "src_trg": "none", "none": "separate"}[tying]
    source, target = sides(["<pad>", "<unk>", "<s>", "</s>"], shared=ours in ("all", "none"))
    shape = Shape(**{"source_vocabulary": len(source.pieces), "target_vocabulary": len(target.pieces),
                     "pre_norm": True, "epsilon": 1e-6, "tying": ours, "attention_bias": False,
                     "halves_minus_one": False, "start": 2, "end": 3, **more})
    model = Transformer(shape).train(id_pairs(source, target))
    torch.save(tensors(model), folder / "params.best", _use_new_zipfile_serialization=False)
    positions = "learned" if shape.learned else "fixed"
    stacks = {name: STACK.format(name=name, shape=shape, layers=layers, positions=positions) for name, layers in
              (("encoder", shape.encoder_layers), ("decoder", shape.decoder_layers))}
    (folder / "config").write_text(CONFIG.format(shape=shape, tying=tying, **stacks))
    (folder / "version").write_text("3.1.39")
    for name, side in (("src", source), ("trg", target)):
        toy.write_json(folder / f"vocab.{name}.0.json", side.id_of)
    texts = [" ".join(source.split(text)) for text in toy.TEXTS]  # Sockeye reads pieces and blanks
    toy.write_answers(folder, model.items(
        texts, lambda text: [source.id_of.get(piece, 1) for piece in text.split()] + [3],
        lambda text: target.ids(toy.reverse(toy.join(text.split()))), target.pieces_of))
