"""Hugging Face's BART, mBART, M2M100, NLLB, Pegasus, BlenderbotSmall, T5, mT5 and UMT5. Ids are made by the rules of their tokenizers."""
import json
import random

import torch
import transformers
from tokenizers import ByteLevelBPETokenizer

from . import toy
from .toy_sides import Side

FAIRSEQ = ["<s>", "<pad>", "</s>", "<unk>"]


class ByteSide:
    """Byte-level BPE, as BART's, RoBERTa's and GPT-2's."""

    def __init__(self, folder, size, specials, add_prefix_space=False):
        bpe = ByteLevelBPETokenizer(add_prefix_space=add_prefix_space)
        bpe._tokenizer.train_from_iterator(toy.CORPUS + [toy.reverse(text) for text in toy.CORPUS],
                                           self.trainer(size, specials))
        bpe.save_model(str(folder))
        self.tokenizer = bpe

    @staticmethod
    def trainer(size, specials):  # only bytes of the texts, which keeps the vocabulary small
        from tokenizers import trainers
        return trainers.BpeTrainer(vocab_size=size, special_tokens=specials, show_progress=False)

    def ids(self, text):
        return self.tokenizer.encode(text).ids

    def text(self, ids):
        return self.tokenizer.decode([i for i in ids if i > 3])


@torch.no_grad()
def item(model, text, source, target, text_of, **generation):
    ids = torch.tensor([source])
    start = model.config.decoder_start_token_id
    output = model(input_ids=ids, decoder_input_ids=torch.tensor([[start] + target[:-1]]))
    best = model.generate(ids, num_beams=toy.BEAM, early_stopping="never", length_penalty=1.0, do_sample=False,
                          max_length=toy.LONGEST + 1, decoder_start_token_id=start, return_dict_in_generate=True,
                          output_scores=True, forced_eos_token_id=None, **generation)
    written = best.sequences[0, 1:].tolist()
    end = model.config.eos_token_id
    log_probabilities = torch.log_softmax(output.logits[0].double(), -1)
    found = {"text": text, "source": source, "target": target,
             "log_probabilities": toy.numbers(log_probabilities[range(len(target)), target]),
             "states": toy.states(output.encoder_last_hidden_state[0])}
    if end in written:  # else it met the limit, where programs differ
        written = written[:written.index(end) + 1]
        found["translation"] = {"ids": written, "text": text_of(written), "score": float(best.sequences_scores[0])}
    return found


def finish(folder, model, rows, text_of, generation, dtype=torch.float16, **languages):
    """rows: text, source ids and target ids; trains, saves and writes the answers."""
    def loss_of(sources, targets):
        start = torch.full_like(targets[:, :1], model.config.decoder_start_token_id)
        logits = model(input_ids=sources,
                       decoder_input_ids=torch.cat([start, targets[:, :-1].clamp(min=0)], 1)).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)

    texts, pairs = rows
    toy.train(model.parameters(), loss_of, pairs)
    model.eval()
    model.generation_config.update(num_beams=5, max_length=200, **generation)
    toy.round_to(dtype, model)
    toy.save_as(dtype, model, folder)
    model = type(model).from_pretrained(folder, dtype=torch.float32)
    answers = [{**item(model, *text, text_of, **generation), **languages} for text in texts]
    for answer in answers[1:]:
        del answer["states"]
    toy.write_answers(folder, answers)


def rows_of(source_of, target_of):
    return ([(text, source_of(text), target_of(toy.reverse(text))) for text in toy.TEXTS],
            [(source_of(one), target_of(other)) for one, other in toy.PAIRS])


def bart_shape(size, **more):
    return {"vocab_size": size, "d_model": 12, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
            "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "dropout": 0.0, "init_std": 0.2,
            "max_position_embeddings": 24, "attention_dropout": 0.0, **more}


def make_bart(folder, **more):
    torch.manual_seed(5)
    side = ByteSide(folder, 60, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    model = transformers.BartForConditionalGeneration(transformers.BartConfig(
        **bart_shape(side.tokenizer.get_vocab_size(), **more), forced_bos_token_id=0, decoder_start_token_id=2))
    model.final_logits_bias = torch.randn_like(model.final_logits_bias) * 0.3
    toy.write_json(folder / "tokenizer_config.json", {"model_max_length": 1024, "tokenizer_class": "BartTokenizer"})

    def framed(text):
        return [0] + side.ids(text) + [2]

    finish(folder, model, rows_of(framed, framed), side.text, {"forced_bos_token_id": 0}, torch.float32)


def make_pegasus(folder):
    """The author's file names the pieces of SentencePiece alone: 105 others come first."""
    torch.manual_seed(5)
    texts = [text for pair in toy.PAIRS for text in pair]
    spm = toy.train_sentencepiece(texts, 46, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    (folder / "spiece.model").write_bytes(spm)
    tokenizer = transformers.PegasusTokenizer.from_pretrained(folder)
    side = Side(spm, tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))))
    assert all(side.ids(text) == tokenizer(text).input_ids for text in toy.CORPUS[:20])
    toy.write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PegasusTokenizer"})
    model = transformers.PegasusForConditionalGeneration(transformers.PegasusConfig(
        **bart_shape(len(side.pieces), scale_embedding=True, activation_function="relu", decoder_layers=2)))
    finish(folder, model, rows_of(side.ids, side.ids), side.text, {}, torch.float32)  # as the file holds the sinusoids


def make_blenderbot_small(folder):
    """Without a tokenizer: texts are ids."""
    torch.manual_seed(5)
    draw = random.Random(4)

    def ids(text):
        return [int(one) for one in text.split()] + [2]

    texts = [" ".join(str(draw.randint(4, 29)) for _ in range(draw.randint(1, 6))) for _ in range(1500)]
    rows = ([(text, ids(text), ids(text[::-1])) for text in ("11 7 22", "5", "22 11 22 8")],
            [(ids(text), ids(" ".join(reversed(text.split())))) for text in texts])
    model = transformers.BlenderbotSmallForConditionalGeneration(transformers.BlenderbotSmallConfig(
        **bart_shape(30, scale_embedding=True, decoder_attention_heads=3)))
    finish(folder, model, rows, lambda written: " ".join(str(one) for one in written if one > 3), {})


def with_languages(folder, languages, tokenizer_class, behind, vocab_json=False, **settings):
    """A folder's tokenizer files: fairseq's numbers, then the languages and others. Returns the vocabulary."""
    texts = [text for pair in toy.PAIRS for text in pair]
    model = toy.train_sentencepiece(texts, 46)
    (folder / "sentencepiece.bpe.model").write_bytes(model)
    own = [*FAIRSEQ, *toy.pieces_of(model)]
    if vocab_json:
        toy.write_json(folder / "vocab.json", {piece: i for i, piece in enumerate(own)})
    specials = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    toy.write_json(folder / "special_tokens_map.json", {**specials, "additional_special_tokens": languages})
    toy.write_json(folder / "tokenizer_config.json", {**specials, "tokenizer_class": tokenizer_class, **settings})
    return Side(model, [*own, *languages, *behind])


def make_prefixed(folder, kind, languages, tokenizer_class, behind, vocab_json=False, **more):
    """Source `lang x </s>`, target `</s>` and then `lang x </s>`, the language forced: M2M100, NLLB, mBART-50."""
    torch.manual_seed(5)
    side = with_languages(folder, languages, tokenizer_class, behind, vocab_json)
    config, model = {"m2m": (transformers.M2M100Config, transformers.M2M100ForConditionalGeneration),
                     "mbart": (transformers.MBartConfig, transformers.MBartForConditionalGeneration)}[kind]
    model = model(config(**bart_shape(len(side.pieces), scale_embedding=True, decoder_start_token_id=2, **more)))
    source, target = (side.id_of[language] for language in languages[:2])
    names = [language.strip("_") for language in languages[:2]]
    rows = rows_of(lambda text: [source] + side.ids(text), lambda text: [target] + side.ids(text))
    finish(folder, model, rows, lambda ids: side.text(ids[1:]), {"forced_bos_token_id": target},
           source_language=names[0], target_language=names[1])
    generation = folder / "generation_config.json"  # languages are chosen by the user
    lines = [line for line in generation.read_text().splitlines() if "forced_bos" not in line]
    generation.write_text("\n".join(lines) + "\n")


def make_mbart(folder):
    """Source `x </s> lang`, target: the language and then `x </s>`."""
    torch.manual_seed(5)
    languages = ["en_XX", "de_DE", "ro_RO"]
    side = with_languages(folder, languages, "MBartTokenizer", ["<mask>"], src_lang="en_XX", tgt_lang="ro_RO")
    source, target = side.id_of["en_XX"], side.id_of["ro_RO"]
    model = transformers.MBartForConditionalGeneration(transformers.MBartConfig(
        **bart_shape(len(side.pieces), scale_embedding=True, decoder_start_token_id=target)))
    finish(folder, model, rows_of(lambda text: side.ids(text) + [source], side.ids), side.text, {},
           source_language="en_XX")


def make_t5(folder, kind="T5", extra_ids=4, untied=False, **more):
    """transformers 5 writes that all are tied, whether or not the file has an output of its own."""
    torch.manual_seed(5)
    texts = [text for pair in toy.PAIRS for text in pair]
    spm = toy.train_sentencepiece(texts, 46, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    (folder / "spiece.model").write_bytes(spm)
    side = Side(spm, ["<pad>", "</s>", "<unk>", *toy.pieces_of(spm, ("<pad>", "</s>", "<unk>"))])
    toy.write_json(folder / "tokenizer_config.json",
                   {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "extra_ids": extra_ids,
                    "additional_special_tokens": [f"<extra_id_{i}>" for i in range(extra_ids)],
                    "tokenizer_class": "T5Tokenizer"})
    config = getattr(transformers, f"{kind}Config")
    model = getattr(transformers, f"{kind}ForConditionalGeneration")
    shape = {"vocab_size": 56, "d_model": 12, "d_kv": 6, "d_ff": 16, "num_layers": 2, "num_decoder_layers": 1,
             "num_heads": 2, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20,
             "dropout_rate": 0.0, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
    model = model(config(**{**shape, **more}))
    if untied:
        model.lm_head.weight = torch.nn.Parameter(torch.randn(56, 12) * 0.2)
    finish(folder, model, rows_of(side.ids, side.ids), side.text, {})
    if kind == "MT5":  # as transformers 5 saves a tokenizer
        transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
        (folder / "spiece.model").unlink()
    if "tie_word_embeddings" in more:  # as published
        own = json.loads((folder / "config.json").read_text())
        own["tie_word_embeddings"] = more["tie_word_embeddings"]
        own.pop("scale_decoder_outputs", None)
        toy.write_json(folder / "config.json", own, indent=1)
