"""Marian's .npz files, with answers of Marian itself (pymarian). It decodes pre-norm models wrongly and stops
with an error at learned positions: those are computed in float64, as all are for comparison."""
import io
import zipfile

import numpy
import pymarian
import yaml

from . import toy
from .toy_sides import id_pairs, sides
from .transformer import Shape, Transformer

CONFIG = """bert-train-type-embeddings: true
dec-cell: gru
enc-cell: gru
enc-type: bidirectional
factors-combine: sum
factors-dim-emb: 0
input-types: []
layer-normalization: false
lemma-dim-emb: 0
output-omit-bias: false
right-left: false
skip: false
transformer-aan-activation: swish
transformer-aan-depth: 2
transformer-decoder-autoreg: self-attention
transformer-decoder-dim-ffn: 0
transformer-decoder-ffn-depth: 0
transformer-depth-scaling: false
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-no-projection: false
transformer-pool: false
transformer-postprocess-emb: d
transformer-tied-layers: []
type: transformer
ulr: false
"""


def config_of(shape, tied, version):
    options = yaml.safe_load(CONFIG)
    options.update({
        "enc-depth": shape.encoder_layers, "dec-depth": shape.decoder_layers, "dim-emb": shape.d_model,
        "max-length": shape.longest,
        "dim-vocabs": [shape.source_vocabulary, shape.target_vocabulary], "transformer-dim-ffn": shape.d_ff,
        "transformer-heads": shape.heads, "transformer-ffn-activation": shape.activation, "version": version,
        "transformer-preprocess": "n" if shape.pre_norm else "",
        "transformer-postprocess": "da" if shape.pre_norm else "dan",
        "transformer-postprocess-top": "n" if shape.pre_norm else "",
        "transformer-train-position-embeddings": shape.learned, "transformer-train-positions": shape.learned,
        **{name: name == tied for name in ("tied-embeddings", "tied-embeddings-all", "tied-embeddings-src")}})
    return yaml.safe_dump(options)


def tensors(model, old_output):
    """Matrices are [in, out], vectors [1, n]; embeddings are not transposed."""
    shape, found = model.shape, {}
    end = "_pre" if shape.pre_norm else ""
    for name, value in model.values.items():
        value = value.float().numpy()
        parts = name.split(".")
        if name == "output.weight":
            theirs = "decoder_ff_logit_out_W" + ("" if old_output else "t")
            found[theirs] = value.T if old_output else value
        elif len(parts) == 2:
            theirs = {"embedding": "Wemb", "source_embedding": "encoder_Wemb", "target_embedding": "decoder_Wemb",
                      "output": "decoder_ff_logit_out_b"}[parts[0]]
            found[theirs] = value[None] if value.ndim == 1 else value
        elif parts[1] == "positions":
            found["Wpos"] = value
        elif parts[1] == "norm":
            found[f"{parts[0]}_top_ln_{'scale' if parts[2] == 'gain' else 'bias'}"] = value[None]
        else:
            layer = f"{parts[0]}_l{int(parts[2]) + 1}"
            block = {"self_attention": "self", "cross_attention": "context", "feed_forward": "ffn"}[parts[3]]
            if parts[4] == "norm":
                of = "ffn_ffn" if block == "ffn" else f"{block}_Wo"
                which = "scale" if parts[5] == "gain" else "bias"
                found[f"{layer}_{of}_ln_{which}{end}"] = value[None]
            else:
                which = {"output": "o", "inner": "1", "outer": "2"}.get(parts[4], parts[4])
                kind = "W" if parts[5] == "weight" else "b"
                found[f"{layer}_{block}_{kind}{which}"] = value.T if kind == "W" else value[None]
    return found


def write_npz(path, arrays):
    """As numpy does, but without the 64-bit sizes that Marian does not read."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            file = io.BytesIO()
            numpy.save(file, numpy.ascontiguousarray(array))
            archive.writestr(zipfile.ZipInfo(name + ".npy", (2024, 1, 1, 0, 0, 0)), file.getvalue())


def ask(folder, source, target, text, **options):
    """What Marian writes: pieces, log-probabilities of the words, and the score."""
    program = pymarian.LoadedModel(
        models=str(folder / "model.npz"), vocabs=f"{folder / source} {folder / target}", cpu_threads=1, quiet=True,
        mini_batch=1, workspace=64, n_best=True, word_scores=True, no_spm_decode=True, max_length_factor=3, **options)
    line = program.translate(text).split("\n")[0]
    parts = [part.strip() for part in line.split(" ||| ")]
    words = [float(value) for value in parts[2].removeprefix("WordScores=").split()]
    return parts[1], words, float(parts[-1])


def make_marian(folder, tied="tied-embeddings-all", old_output=False, spm_vocabulary=False, **more):
    tying = {"tied-embeddings-all": "all", "tied-embeddings": "target_output", "tied-embeddings-src": "none",
             None: "separate"}[tied]
    pair = sides(["</s>", "<unk>"], shared=tying in ("all", "none"), specials_in_model=spm_vocabulary)
    source, target = pair
    shape = Shape(**{"source_vocabulary": len(source.pieces), "target_vocabulary": len(target.pieces), "epsilon": 1e-6,
                     "activation": "swish", "tying": tying, "shared_positions": True,
                     "longest": 24 if more.get("learned") else 64, **more})
    shape.scale = not shape.learned
    model = Transformer(shape).train(id_pairs(source, target))
    version = "v1.12.0 65bf82f 2023-02-21 09:56:29 -0800"
    config = numpy.frombuffer(config_of(shape, tied, version).encode() + b"\0", dtype=numpy.int8)
    write_npz(folder / "model.npz", {**tensors(model, old_output), "special:model.yml": config})
    names = []
    for name, side in zip(("source", "target"), pair):
        (folder / f"{name}.spm").write_bytes(side.model)
        names.append(f"{name}.spm" if spm_vocabulary else f"vocab.{name}.yml")
        if not spm_vocabulary:
            lines = (f'"{piece}": {i}\n' for i, piece in enumerate(side.pieces))
            (folder / names[-1]).write_text("".join(lines), encoding="utf-8")
    (folder / "decoder.yml").write_text(yaml.safe_dump({
        "relative-paths": True, "models": ["model.npz"], "vocabs": names, "beam-size": 6, "normalize": 1,
        "word-penalty": 0, "max-length-factor": 3}))
    items = model.items(toy.TEXTS, source.ids, target.ids, target.text)
    for item in items if not shape.pre_norm and not shape.learned else []:
        pieces = item["text"] if spm_vocabulary else " ".join(source.split(item["text"]))
        best, words, score = ask(folder, *names, pieces, beam_size=toy.BEAM, normalize=1)
        ids = [target.id_of[piece] for piece in best.split()] + [0]
        own = model.items([item["text"]], source.ids, lambda _: ids, target.text)[0]["log_probabilities"]
        assert max(abs(a - b) for a, b in zip(own, words)) < 1e-4, (own, words)
        item.update(target=ids, log_probabilities=words,
                    translation={"ids": ids, "text": target.text(ids), "score": score})
    toy.write_answers(folder, items)
