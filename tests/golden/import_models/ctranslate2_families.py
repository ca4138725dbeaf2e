"""CTranslate2's conversions of T5, GPT-2 and the family of BERT, with answers of CTranslate2 itself in float32."""
import json
import shutil
import tempfile
from pathlib import Path

import ctranslate2
import numpy
import transformers

from . import toy
from .ctranslate2_models import items, numbered
from .hugging_face_seq2seq import make_t5


def convert(folder, make, quantization, copied):
    """Makes a model of Hugging Face and converts it. Returns the answers that came with it."""
    with tempfile.TemporaryDirectory() as scratch:
        original = Path(scratch)
        make(original)
        config = json.loads((original / "config.json").read_text())
        config["position_embedding_type"] = "absolute"  # newer programs leave it out, and the converter asks for it
        toy.write_json(original / "config.json", config)
        converter = ctranslate2.converters.TransformersConverter(str(original))
        converter.convert(str(folder), quantization=quantization, force=True)
        for name in copied:
            shutil.copy(original / name, folder)
        return json.loads((original / "answers.json").read_text())["items"]


def convert_t5(folder, make, quantization=None):
    convert(folder, make, quantization, ["spiece.model"])
    spm = toy.processor((folder / "spiece.model").read_bytes())
    toy.write_answers(folder, items(folder, toy.TEXTS, lambda text: spm.encode(text, out_type=str) + ["</s>"],
                                    lambda text: spm.encode(toy.reverse(text), out_type=str), numbered(folder),
                                    toy.join))


def make_umt5(folder):
    """With the tokenizer.json that the converter reads."""
    make_t5(folder, "UMT5", feed_forward_proj="gated-gelu")
    transformers.T5Tokenizer.from_pretrained(folder).save_pretrained(folder)


def pieces_of(folder):
    return json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))


def convert_gpt2(folder, make, quantization=None):
    texts = convert(folder, make, quantization, ["vocab.json", "merges.txt"])
    program = ctranslate2.Generator(str(folder), compute_type="float32", inter_threads=1, intra_threads=1)
    found = []
    for item in texts:
        scored = program.score_batch([[pieces_of(folder)[i] for i in item["ids"]]])[0]
        found.append({"text": item["text"], "ids": item["ids"], "log_probabilities": toy.numbers(scored.log_probs)})
    toy.write_answers(folder, found)


def convert_bert(folder, make, quantization=None, copied=("vocab.txt", "tokenizer_config.json")):
    """The head for masked words is not converted: the last states are the answer."""
    texts = convert(folder, make, quantization, copied)
    program = ctranslate2.Encoder(str(folder), compute_type="float32", inter_threads=1, intra_threads=1)
    found = []
    for item in texts:
        types = [item["types"]] if "types" in item else None
        output = program.forward_batch([item["ids"]], token_type_ids=types)
        states = numpy.array(output.last_hidden_state)[0]
        kept = {key: item[key] for key in ("text", "pair", "ids", "types") if key in item}
        found.append({**kept, "states": toy.states(states)})
    toy.write_answers(folder, found)
