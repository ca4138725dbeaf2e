"""Hugging Face's GPT-2, BERT, RoBERTa, XLM-RoBERTa, CamemBERT and DistilBERT, of random weights."""
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
