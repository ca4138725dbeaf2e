"""Hugging Face's GPT-2, BERT, RoBERTa, XLM-RoBERTa, CamemBERT and DistilBERT, of random weights."""
import math

import torch
import transformers
from tokenizers import BertWordPieceTokenizer

from . import toy
from .hugging_face_seq2seq import ByteSide

PAIR = ("Mo kaleb.", "rito SANÉ, gu")


@torch.no_grad()
def item(model, text, ids, types=None, **more):
    """Log-probabilities of the next ids, of masked models as well: each logit is compared so."""
    more_inputs = {} if types is None else {"token_type_ids": torch.tensor([types])}
    output = model(input_ids=torch.tensor([ids]), output_hidden_states=True, **more_inputs)
    log_probabilities = torch.log_softmax(output.logits[0].double(), -1)[range(len(ids) - 1), ids[1:]]
    found = {"text": text, **more, "ids": ids, "log_probabilities": toy.numbers(log_probabilities),
             "states": toy.states(output.hidden_states[-1][0])}
    return found if types is None else {**found, "types": types}


def randomized(model, folder, dtype=torch.float16):
    """Gives a model random weights, and saves it."""
    draw = torch.Generator().manual_seed(9)
    for parameter in model.parameters():
        parameter.data += torch.randn(parameter.shape, generator=draw) * 0.3
    model.tie_weights()
    toy.round_to(dtype, model)
    toy.save_as(dtype, model, folder)
    return model.eval()


def make_gpt2(folder, **more):
    side = ByteSide(folder, 70, ["<|endoftext|>"])
    model = randomized(transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=side.tokenizer.get_vocab_size(), n_positions=24, n_embd=12, n_layer=2, n_head=2, bos_token_id=0,
        eos_token_id=0, **more)), folder, torch.float32)
    toy.write_json(folder / "tokenizer_config.json", {"model_max_length": 1024, "tokenizer_class": "GPT2Tokenizer"})
    toy.write_answers(folder, [item(model, text, side.ids(text)) for text in toy.TEXTS[:2]])


def bert_shape(size, **more):
    return {"vocab_size": size, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2,
            "intermediate_size": 16, "max_position_embeddings": 24, **more}


def make_word_pieces(folder, lowercase):
    pieces = BertWordPieceTokenizer(lowercase=lowercase)
    pieces.train_from_iterator(toy.CORPUS, vocab_size=90, show_progress=False)
    pieces.save_model(str(folder))
    toy.write_json(folder / "tokenizer_config.json", {"do_lower_case": lowercase, "model_max_length": 512,
                                                      "tokenizer_class": "BertTokenizer"})
    return BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=lowercase)


def make_bert(folder, lowercase=True, **more):
    side = make_word_pieces(folder, lowercase)
    config = transformers.BertConfig(**bert_shape(side.get_vocab_size(), **more))
    model = randomized(transformers.BertForMaskedLM(config), folder)
    pair = side.encode(*PAIR)
    items = [item(model, text, encoded.ids, encoded.type_ids) for text in toy.TEXTS[:1]
             for encoded in [side.encode(text)]]
    toy.write_answers(folder, items + [item(model, PAIR[0], pair.ids, pair.type_ids, pair=PAIR[1])])


def make_distilbert(folder):
    side = make_word_pieces(folder, False)
    model = randomized(transformers.DistilBertForMaskedLM(transformers.DistilBertConfig(
        vocab_size=side.get_vocab_size(), dim=12, n_layers=2, n_heads=2, hidden_dim=16, max_position_embeddings=24)),
                       folder)
    toy.write_answers(folder, [item(model, text, side.encode(text).ids) for text in toy.TEXTS[:2]])


@torch.no_grad()
def scored_item(model, text, ids, types=None, **more):
    """The logits of classes, the number of a regression, or those of an answer's start and end at each piece."""
    more_inputs = {} if types is None else {"token_type_ids": torch.tensor([types])}
    output = model(input_ids=torch.tensor([ids]), output_hidden_states=True, **more_inputs)
    scores = output.logits[0] if "logits" in output else torch.stack([output.start_logits[0], output.end_logits[0]], -1)
    found = {"text": text, **more, "ids": ids, "scores": toy.numbers(scores.double().reshape(-1)),
             "states": toy.states(output.hidden_states[-1][0])}
    return found if types is None else {**found, "types": types}


LABELS = {"id2label": {0: "negative", 1: "neutral", 2: "positive"},
          "label2id": {"negative": 0, "neutral": 1, "positive": 2}}


@torch.no_grad()
def with_probabilities(model, found):
    """Of a model whose classes a text may have several of: their probabilities, and the loss of a text with the last
    two."""
    output = model(input_ids=torch.tensor([found["ids"]]), token_type_ids=torch.tensor([found["types"]]),
                   labels=torch.tensor([[0.0, 1.0, 1.0]]))
    return {**found, "probabilities": toy.numbers(output.logits[0].double().sigmoid()), "loss": round(output.loss.item(), 5)}


def make_scored_bert(folder, kind="SequenceClassification", **more):
    side = make_word_pieces(folder, True)
    config = transformers.BertConfig(**bert_shape(side.get_vocab_size(), **more))
    model = randomized(getattr(transformers, f"BertFor{kind}")(config), folder)
    one = side.encode(toy.TEXTS[0])
    items = [scored_item(model, toy.TEXTS[0], one.ids, one.type_ids)]
    for first, second in (PAIR, ("kam", "mo Kaleb rito sané")):
        pair = side.encode(first, second)
        found = scored_item(model, first, pair.ids, pair.type_ids, pair=second)
        items.append({**found, **(best_span(second, pair, found["scores"]) if kind == "QuestionAnswering" else {})})
    several = config.problem_type == "multi_label_classification"
    toy.write_answers(folder, [with_probabilities(model, item) for item in items] if several else items)


def best_span(context, pair, scores):
    """Of all spans of pieces of the context; ties go to the first."""
    places = [i for i, (kind, word) in enumerate(zip(pair.type_ids, pair.word_ids)) if kind == 1 and word is not None]
    starts, ends = scores[0::2], scores[1::2]
    score, start, end = max(((starts[i] + ends[j], i, j) for i in places for j in places if i <= j),
                            key=lambda one: one[0])
    total = sum(math.exp(starts[i]) for i in places) * sum(math.exp(ends[i]) for i in places)
    return {"answer": context[pair.offsets[start][0]:pair.offsets[end][1]],
            "answer_probability": round(math.exp(score) / total, 5), "answer_score": round(score, 5)}


def make_distilbert_classes(folder):
    side = make_word_pieces(folder, False)
    model = randomized(transformers.DistilBertForSequenceClassification(transformers.DistilBertConfig(
        vocab_size=side.get_vocab_size(), dim=12, n_layers=2, n_heads=2, hidden_dim=16, max_position_embeddings=24,
        id2label={0: "NEGATIVE", 1: "POSITIVE"})), folder)
    items = [scored_item(model, text, side.encode(text).ids) for text in toy.TEXTS[:2]]
    toy.write_answers(folder, items + [scored_item(model, PAIR[0], side.encode(*PAIR).ids, pair=PAIR[1])])


def make_roberta_classes(folder):
    side = ByteSide(folder, 70, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    model = randomized(transformers.RobertaForSequenceClassification(transformers.RobertaConfig(
        **bert_shape(side.tokenizer.get_vocab_size(), max_position_embeddings=26, type_vocab_size=1, **LABELS))),
                       folder)
    toy.write_json(folder / "tokenizer_config.json", {"model_max_length": 512, "tokenizer_class": "RobertaTokenizer"})
    one, other = (side.ids(text) for text in PAIR)
    items = [scored_item(model, toy.TEXTS[0], [0] + side.ids(toy.TEXTS[0]) + [2])]
    toy.write_answers(folder, items + [scored_item(model, PAIR[0], [0] + one + [2, 2] + other + [2], pair=PAIR[1])])


def make_roberta(folder):
    side = ByteSide(folder, 70, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    model = randomized(transformers.RobertaForMaskedLM(transformers.RobertaConfig(
        **bert_shape(side.tokenizer.get_vocab_size(), max_position_embeddings=26, type_vocab_size=1))), folder)
    toy.write_json(folder / "tokenizer_config.json", {"model_max_length": 512, "tokenizer_class": "RobertaTokenizer"})
    one, other = (side.ids(text) for text in PAIR)
    items = [item(model, text, [0] + side.ids(text) + [2]) for text in toy.TEXTS[:1]]
    ids = [0] + one + [2, 2] + other + [2]
    toy.write_answers(folder, items + [item(model, PAIR[0], ids, pair=PAIR[1])])


def make_like_roberta(folder, kind, saved=False, **more):
    """XLM-RoBERTa and CamemBERT: a SentencePiece model alone, or what transformers 5 saves."""
    model = toy.train_sentencepiece([text for pair in toy.PAIRS for text in pair], 46)
    (folder / "sentencepiece.bpe.model").write_bytes(model)
    tokenizer = getattr(transformers, f"{kind}Tokenizer").from_pretrained(folder)
    if saved:
        tokenizer.save_pretrained(folder)
        (folder / "sentencepiece.bpe.model").unlink()
    else:
        toy.write_json(folder / "tokenizer_config.json", {"tokenizer_class": f"{kind}Tokenizer"})
    ids = {"pad_token_id": 1, "bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    config = getattr(transformers, f"{kind}Config")(
        **bert_shape(len(tokenizer), max_position_embeddings=26, type_vocab_size=1, **ids, **more))
    model = randomized(getattr(transformers, f"{kind}ForMaskedLM")(config), folder)
    toy.write_answers(folder, [item(model, text, tokenizer(text).input_ids) for text in toy.TEXTS[:2]])
