"""CTranslate2's conversions, with answers of CTranslate2 itself in float32: files of integers are widened."""
import json
import shutil
import tempfile
from pathlib import Path

import ctranslate2
import numpy
from ctranslate2 import specs

from . import toy
from .hugging_face_marian import make_marian, safetensors
from .toy_sides import id_pairs, sides
from .transformer import Shape, Transformer

KINDS = {"relu": specs.Activation.RELU, "gelu_tanh": specs.Activation.GELUTanh, "swish": specs.Activation.SWISH,
         "gelu": specs.Activation.GELU, "gelu_sigmoid": specs.Activation.GELUSigmoid}


def items(folder, texts, split, target_of, ids_of, joined):
    """split(text) gives the pieces of a source as callers pass them, joined(pieces) the text of an output."""
    program = ctranslate2.Translator(str(folder), compute_type="float32", inter_threads=1, intra_threads=1)
    found = []
    for text in texts:
        source, target = split(text), target_of(text)
        forced = program.score_batch([source], [target])[0]
        best = program.translate_batch([source], beam_size=toy.BEAM, length_penalty=1.0, min_decoding_length=0,
                                       max_decoding_length=toy.LONGEST - 1, return_scores=True)[0]
        pieces = best.hypotheses[0]
        found.append({"text": text, "source": ids_of("source", source), "target": ids_of("target", [*target, "</s>"]),
                      "log_probabilities": toy.numbers(forced.log_probs)})
        if len(pieces) < toy.LONGEST - 1:  # else it met the limit, where programs differ
            found[-1]["translation"] = {"ids": ids_of("target", [*pieces, "</s>"]), "text": joined(pieces),
                                        "score": best.scores[0]}
    return found


def numbered(folder):
    vocabularies = {}
    for side in ("source", "target"):
        own = folder / f"{side}_vocabulary.json"
        vocabularies[side] = json.loads((own if own.exists() else folder / "shared_vocabulary.json").read_text())

    def ids_of(side, pieces):
        known = vocabularies[side]
        return [known.index(piece if piece in known else "<unk>") for piece in pieces]

    return ids_of


def convert_marian(folder, quantization):
    with tempfile.TemporaryDirectory() as scratch:
        original = Path(scratch)
        make_marian(original, safetensors)
        converter = ctranslate2.converters.TransformersConverter(str(original))
        converter.convert(str(folder), quantization=quantization, force=True)
        source, target = (toy.processor((original / f"{side}.spm").read_bytes()) for side in ("source", "target"))
        for side in ("source", "target"):
            shutil.copy(original / f"{side}.spm", folder)
    toy.write_answers(folder, items(folder, toy.TEXTS, lambda text: source.encode(text, out_type=str) + ["</s>"],
                                    lambda text: target.encode(toy.reverse(text), out_type=str), numbered(folder),
                                    toy.join))


def fill(spec, model):
    """Gives a specification the values of a model."""
    own = {name: value.numpy().astype(numpy.float32) for name, value in model.values.items()}

    def linear(to, *names):
        to.weight = numpy.concatenate([own[f"{name}.weight"] for name in names])
        if f"{names[0]}.bias" in own:
            to.bias = numpy.concatenate([own[f"{name}.bias"] for name in names])

    def norm(to, name):
        to.gamma, to.beta = own[f"{name}.gain"], own[f"{name}.bias"]

    embedding = own.get("embedding.weight")
    target = own.get("target_embedding.weight", embedding)
    spec.encoder.embeddings[0].weight = own.get("source_embedding.weight", embedding)
    spec.decoder.embeddings.weight = target
    spec.decoder.projection.weight = own.get("output.weight", target)
    if "output.bias" in own:
        spec.decoder.projection.bias = own["output.bias"]
    for name, stack in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        if model.shape.pre_norm:
            norm(stack.layer_norm, f"{name}.norm")
        for i, layer in enumerate(stack.layer):
            ours = f"{name}.layers.{i}."
            linear(layer.self_attention.linear[0], *(f"{ours}self_attention.{part}" for part in "qkv"))
            linear(layer.self_attention.linear[1], f"{ours}self_attention.output")
            norm(layer.self_attention.layer_norm, f"{ours}self_attention.norm")
            if name == "decoder":
                linear(layer.attention.linear[0], f"{ours}cross_attention.q")
                linear(layer.attention.linear[1], *(f"{ours}cross_attention.{part}" for part in "kv"))
                linear(layer.attention.linear[2], f"{ours}cross_attention.output")
                norm(layer.attention.layer_norm, f"{ours}cross_attention.norm")
            linear(layer.ffn.linear_0, f"{ours}feed_forward.inner")
            linear(layer.ffn.linear_1, f"{ours}feed_forward.outer")
            norm(layer.ffn.layer_norm, f"{ours}feed_forward.norm")


def make_opennmt(folder, with_spm=False, **more):
    """As OpenNMT's models: no end of the source, outputs start from <s>, CTranslate2's own positions."""
    source, target = sides(["<blank>", "<s>", "</s>", "<unk>"], shared=more.get("tying", "all") == "all",
                           source_end=False)
    shape = Shape(**{"source_vocabulary": len(source.pieces), "target_vocabulary": len(target.pieces),
                     "first_position": 1, "start": 1, "end": 2, **more})
    model = Transformer(shape).train(id_pairs(source, target))
    spec = specs.TransformerSpec.from_config((shape.encoder_layers, shape.decoder_layers), shape.heads,
                                             pre_norm=shape.pre_norm, activation=KINDS[shape.activation])
    fill(spec, model)
    spec.register_source_vocabulary(source.pieces)
    spec.register_target_vocabulary(target.pieces)
    spec.validate()
    spec.optimize()
    spec.save(str(folder))
    split, texts, joined = source.split, toy.TEXTS, toy.join
    if with_spm:
        for name, side in (("source", source), ("target", target)):
            (folder / f"{name}.spm").write_bytes(side.model)
    else:
        texts, split, joined = [" ".join(source.split(text)) for text in toy.TEXTS], str.split, " ".join
    answers = items(folder, texts, split, lambda text: target.split(toy.reverse(toy.join(split(text)))),
                    numbered(folder), joined)
    for item in answers:
        own = model.items([item["text"]], lambda _: item["source"], lambda _: item["target"], target.text)[0]
        assert max(abs(a - b) for a, b in zip(own["log_probabilities"], item["log_probabilities"])) < 1e-4
        item.update({"states": own["states"]} if item is answers[0] else {})
    toy.write_answers(folder, answers)
