#!/usr/bin/env python3
"""The same translations as `headscope translate`, and completions as `headscope bench complete`, by CTranslate2 from the
same weights.

    ctranslate2_peer.py convert MODEL FOLDER [--i8]     MODEL, as docs/model-directory.md describes it, for CTranslate2
    ctranslate2_peer.py translate MODEL FOLDER < lines > translations
    ctranslate2_peer.py complete MODEL FOLDER           random prompts, of which none ends early

`translate` prints one JSON object on standard error. MODEL is pre-norm with sinusoids and one vocabulary, as those shipped.
"""
import argparse
import json
import os
import resource
import sys
import time

import ctranslate2
import numpy as np
import sentencepiece
from ctranslate2.specs import TransformerDecoderModelSpec, TransformerSpec
from ctranslate2.specs.common_spec import Activation
from safetensors import safe_open


ACTIVATIONS = {"relu": Activation.RELU, "gelu": Activation.GELU}


def config_of(model):
    with open(os.path.join(model, "config.json")) as file:
        config = json.load(file)
    if config["format_version"] > 2:  # in sections, with other names in some
        norm, frame = config["norm"], config["frame"]
        config |= {"norm": norm["placement"], "layer_norm_epsilon": norm["epsilon"], **frame,
                   "positions": config["positions"]["kind"], "sinusoid_layout": config["positions"]["layout"],
                   "tying": config["embedding"]["tying"], "scale_embedding": config["embedding"]["scale"],
                   "heads": config["attention"]["heads"], "attention_bias": config["attention"]["bias"],
                   "activation": config["feed_forward"]["activation"], "output_bias": config["output"]["bias"]}
    assert config["norm"] == "pre" and config["tying"] == "all" and config["positions"] == "sinusoid"
    assert config["sinusoid_layout"] == "interleaved" and config["activation"] in ACTIVATIONS
    assert not config["attention_bias"] and not config["output_bias"] and config["scale_embedding"]
    return config


def sinusoids(length, width):
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(length, width).astype(np.float32)


def convert(model, folder, i8):
    config = config_of(model)
    with safe_open(os.path.join(model, "model.safetensors"), "numpy") as file:
        weights = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}
    causal = config.get("architecture") == "causal-lm"
    activation = ACTIVATIONS[config["activation"]]
    if causal:
        spec = TransformerDecoderModelSpec.from_config(config["decoder_layers"], config["heads"], activation=activation)
        spec.decoder.scale_embeddings = True
    else:
        spec = TransformerSpec.from_config((config["encoder_layers"], config["decoder_layers"]), config["heads"],
                                           activation=activation)

    def linear(to, *names):
        to.weight = np.concatenate([weights[name + ".weight"] for name in names])
        if names[0] + ".bias" in weights:
            to.bias = weights[names[0] + ".bias"]

    def norm(to, name):
        to.gamma, to.beta = weights[name + ".norm.gain"], weights[name + ".norm.bias"]

    def attention(to, name, cross):
        q, k, v, output = (f"{name}.{part}" for part in ("q", "k", "v", "output"))
        if cross:
            linear(to.linear[0], q)
            linear(to.linear[1], k, v)
        else:
            linear(to.linear[0], q, k, v)
        linear(to.linear[-1], output)
        norm(to.layer_norm, name)

    def stack(to, name):
        to.position_encodings.encodings = sinusoids(config["max_length"], config["d_model"])
        embeddings = to.embeddings[0] if isinstance(to.embeddings, list) else to.embeddings
        embeddings.weight = weights["embedding.weight"]
        norm_of_stack = to.layer_norm
        norm(norm_of_stack, name)
        for index, layer in enumerate(to.layer):
            prefix = f"{name}.layers.{index}"
            attention(layer.self_attention, prefix + ".self_attention", False)
            if name == "decoder" and not causal:
                attention(layer.attention, prefix + ".cross_attention", True)
            linear(layer.ffn.linear_0, prefix + ".feed_forward.inner")
            linear(layer.ffn.linear_1, prefix + ".feed_forward.outer")
            norm(layer.ffn.layer_norm, prefix + ".feed_forward")

    if not causal:
        stack(spec.encoder, "encoder")
    stack(spec.decoder, "decoder")
    spec.decoder.projection.weight = weights["embedding.weight"]
    pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(model, "sentencepiece.model"))
    vocabulary = [pieces.id_to_piece(index) for index in range(config["source_vocabulary"])]
    if causal:
        spec.register_vocabulary(vocabulary)
    else:
        spec.register_source_vocabulary(vocabulary)
        spec.register_target_vocabulary(vocabulary)
        spec.config.decoder_start_token = vocabulary[config["bos_id"]]
        spec.config.add_source_eos = True
    spec.config.bos_token = vocabulary[config["bos_id"]]
    spec.config.eos_token = vocabulary[config["eos_id"]]
    spec.config.unk_token = vocabulary[config["unk_id"]]
    spec.config.layer_norm_epsilon = config["layer_norm_epsilon"]
    spec.validate()
    spec.optimize(quantization="int8" if i8 else None)
    os.makedirs(folder, exist_ok=True)
    spec.save(folder)


def translate(a):
    pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(a.model, "sentencepiece.model"))
    translator = ctranslate2.Translator(a.folder, device="cpu", compute_type=a.precision,
                                        inter_threads=a.translators, intra_threads=a.threads)
    lines = [line.rstrip("\n") for line in sys.stdin]

    def run():
        sources = pieces.encode(lines, out_type=str)
        results = translator.translate_batch(
            sources, beam_size=a.beam, max_batch_size=a.batch, batch_type="examples", length_penalty=0,
            max_decoding_length=a.longest, disable_unk=True)
        written = [result.hypotheses[0] for result in results]
        # Each ended by an end of sentence, which is not among its pieces.
        return [pieces.decode(hypothesis) for hypothesis in written], sum(len(hypothesis) + 1 for hypothesis in written)

    seconds = []
    for _ in range(a.repeat):
        start = time.perf_counter()
        translations, tokens = run()
        seconds.append(time.perf_counter() - start)
    for text in translations:
        print(text)
    print(json.dumps({"ctranslate2": ctranslate2.__version__, "precision": a.precision, "run_seconds": seconds,
                      "target_tokens": tokens,
                      "peak_resident_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}), file=sys.stderr)


def complete(a):
    generator = ctranslate2.Generator(a.folder, device="cpu", compute_type=a.precision, intra_threads=a.threads)
    pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(a.model, "sentencepiece.model"))
    choose = np.random.default_rng(1).integers(10, pieces.get_piece_size(), (a.sentences, a.source_length))
    prompts = [[pieces.id_to_piece(int(index)) for index in prompt] for prompt in choose]
    seconds = []
    for _ in range(a.repeat + 1):  # the first warms up
        start = time.perf_counter()
        generator.generate_batch(prompts, max_length=a.target_length, min_length=a.target_length, beam_size=1,
                                 max_batch_size=a.sentences, include_prompt_in_result=False)
        seconds.append(time.perf_counter() - start)
    middle = sorted(seconds[1:])[a.repeat // 2]
    print(json.dumps({"ctranslate2": ctranslate2.__version__, "precision": a.precision, "run_seconds": seconds[1:],
                      "target_tokens_per_second": a.sentences * a.target_length / middle,
                      "peak_resident_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    converting = commands.add_parser("convert")
    translating = commands.add_parser("translate")
    completing = commands.add_parser("complete")
    for each in (converting, translating, completing):
        each.add_argument("model")
        each.add_argument("folder")
    for name, default in (("sentences", 32), ("source-length", 32), ("target-length", 64), ("repeat", 5), ("threads", 2)):
        completing.add_argument("--" + name, type=int, default=default)
    completing.add_argument("--precision", choices=["float32", "int8"], default="float32")
    converting.add_argument("--i8", action="store_true")
    translating.add_argument("--beam", type=int, default=1)
    translating.add_argument("--batch", type=int, default=32, help="sentences at a time")
    translating.add_argument("--threads", type=int, default=2, help="of each translator")
    translating.add_argument("--translators", type=int, default=1, help="batches translated at once")
    translating.add_argument("--longest", type=int, default=256)
    translating.add_argument("--repeat", type=int, default=1)
    translating.add_argument("--precision", choices=["float32", "int8"], default="float32")
    a = parser.parse_args()
    if a.command == "convert":
        convert(a.model, a.folder, a.i8)
    elif a.command == "translate":
        translate(a)
    else:
        complete(a)


if __name__ == "__main__":
    main()
