#!/usr/bin/env python3
"""Vectors of texts by Hugging Face's transformers, in float64, and their principal components by scikit-learn, for
tests/explore/text_vectors_test.cpp.

    python3 tests/golden/make_embedding_vectors.py   (needs torch, transformers, sentencepiece and scikit-learn; reads the
                                                      models of tests/import/models and writes embeddings.json beside itself)

For each model and text: the mean over all tokens after every layer, 0 the embeddings, and after the last one the first
and the last token and the mean of each word's tokens. Of the words of all texts: cosines, and places on two components.
"""

import json
import pathlib
import re

import numpy
import torch
import transformers
from sklearn.decomposition import PCA

MODELS = pathlib.Path(__file__).resolve().parent.parent / "import" / "models"
NAMES = ["hf-bart", "hf-bert", "hf-distilbert", "hf-gpt2", "hf-marian-tied", "hf-pegasus", "hf-roberta", "hf-t5",
         "hf-xlm-roberta"]


def words_of(text):
    """Runs of letters, and single other characters but blanks, with the ends of each."""
    return [(match.group(), match.end()) for match in re.finditer(r"\w+|[^\w\s]", text)]


def token_words(tokenizer, text):
    """The word of each piece of the text: it grows by one word, and the pieces that it gets are those of the word."""
    pieces = tokenizer(text, add_special_tokens=False).input_ids
    found = []
    for word, (_, end) in enumerate(words_of(text)):
        grown = tokenizer(text[:end], add_special_tokens=False).input_ids
        assert grown == pieces[:len(grown)], (text, text[:end])
        found += [word] * (len(grown) - len(found))
    assert len(found) == len(pieces)
    return pieces, found


def rounded(values):
    return numpy.round(numpy.asarray(values, dtype=numpy.float64), 8).tolist()


def vectors_of(name):
    folder = MODELS / name
    texts = [item["text"] for item in json.loads((folder / "answers.json").read_text(encoding="utf-8"))["items"]]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").double().eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    items, words_of_all = [], []
    for text in texts:
        ids = tokenizer(text).input_ids
        with torch.no_grad():
            layers = [states[0].numpy() for states in
                      model(torch.tensor([ids]), output_hidden_states=True).hidden_states]
        last, words = layers[-1], [word for word, _ in words_of(text)]
        pieces, belongs = token_words(tokenizer, text)
        begin = next(i for i in range(len(ids)) if ids[i:i + len(pieces)] == pieces)
        means = [last[[begin + i for i, own in enumerate(belongs) if own == word]].mean(0)
                 for word in range(len(words))]
        items.append({"text": text, "means": [rounded(layer.mean(0)) for layer in layers], "first": rounded(last[0]),
                      "last": rounded(last[-1]), "words": [{"word": w, "vector": rounded(v)} for w, v in zip(words, means)]})
        words_of_all += means
    x = numpy.stack(words_of_all)
    unit = x / numpy.linalg.norm(x, axis=1, keepdims=True)
    plane = PCA(n_components=2, svd_solver="full").fit(x)
    return {"model": name, "items": items, "cosines": rounded(unit @ unit.T), "places": rounded(plane.transform(x)),
            "shares": rounded(plane.explained_variance_ratio_)}


def main():
    found = [vectors_of(name) for name in NAMES]
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in found)
    (pathlib.Path(__file__).resolve().parent / "embeddings.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


main()
