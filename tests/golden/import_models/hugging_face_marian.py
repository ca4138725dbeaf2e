"""Hugging Face's MarianMT, as OPUS-MT is published in its years."""
import torch
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

from . import toy

LANGUAGES = [">>deu<<", ">>fra<<"]


def vocabulary(pieces, end, languages=()):
    """Piece to id: pieces by frequency, </s> at `end`, <unk> behind it, <pad> last."""
    order = list(pieces)
    order.insert(end, "</s>")
    order.insert(end + 1, "<unk>")
    return {piece: i for i, piece in enumerate([*order, *languages, "<pad>"])}


def write_vocabularies(folder, shared, languages, ends):
    source, target = (toy.train_sentencepiece([pair[side] for pair in toy.PAIRS], size)
                      for side, size in ((0, 52), (1, 44)))
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    sides = [toy.pieces_of(source)[:-2], toy.pieces_of(target)]  # some pieces have no id: they become <unk>
    if shared:
        sides = [sorted(set(sides[0] + sides[1]))]
    for pieces, end, name in zip(sides, ends, ("vocab.json", "target_vocab.json")):
        toy.write_json(folder / name, vocabulary(pieces, end, languages))
    toy.write_json(folder / "tokenizer_config.json",
                   {"source_lang": "eng", "target_lang": "+".join(name[2:-2] for name in languages) or "deu",
                    "separate_vocabs": not shared, "model_max_length": 512, "unk_token": "<unk>", "eos_token": "</s>",
                    "pad_token": "<pad>", "tokenizer_class": "MarianTokenizer"})
    return MarianTokenizer.from_pretrained(folder)


def target_ids(model, tokenizer, text):
    """With the end of the target's own vocabulary: MarianTokenizer appends that of the source's."""
    return tokenizer(text_target=text).input_ids[:-1] + [model.config.eos_token_id]


def train(model, tokenizer, languages):
    def loss_of(sources, targets):
        return model(input_ids=sources, labels=targets).loss

    pairs = [((languages[i % 2] + " " if languages else "") + source,
              source if languages and i % 2 else target) for i, (source, target) in enumerate(toy.PAIRS)]
    pairs = [(tokenizer(source).input_ids, target_ids(model, tokenizer, target)) for source, target in pairs]
    toy.train(model.parameters(), loss_of, pairs)
    with torch.no_grad():  # as in published models, whose pad is never an output
        for embedding in (model.model.encoder.embed_tokens, model.model.decoder.embed_tokens, model.lm_head):
            embedding.weight[-1] = 0.0
    model.eval()


def log_softmax(logits, suppressed):
    logits = logits.clone()
    logits[..., suppressed] = -float("inf")
    return torch.log_softmax(logits, -1)


@torch.no_grad()
def items(model, tokenizer, texts):
    pad = model.config.pad_token_id
    found = []
    for text in texts:
        source = tokenizer(text).input_ids
        target = target_ids(model, tokenizer, toy.reverse(text.split("<< ")[-1]))
        ids = torch.tensor([source])
        pieces = {i: piece for piece, i in getattr(tokenizer, "target_encoder", tokenizer.encoder).items()}
        output = model(input_ids=ids, labels=torch.tensor([target]))
        best = model.generate(ids, num_beams=toy.BEAM, early_stopping="never", length_penalty=1.0, do_sample=False,
                              max_length=toy.LONGEST + 1, bad_words_ids=[[pad]], renormalize_logits=True,
                              forced_eos_token_id=None, return_dict_in_generate=True, output_scores=True)
        written = [token for token in best.sequences[0, 1:].tolist() if token != pad]
        log_probabilities = log_softmax(output.logits[0], pad)
        found.append({"text": text, "source": source, "target": target,
                      "log_probabilities": toy.numbers(log_probabilities[range(len(target)), target]),
                      "translation": {"ids": written, "text": toy.join(pieces[i] for i in written),
                                      "score": float(best.sequences_scores[0])}})
        if len(found) == 1:
            found[0]["states"] = toy.states(output.encoder_last_hidden_state[0])
    return found


def safetensors(model, folder, dtype, **_):
    toy.save_as(dtype, model, folder)


def shards(model, folder, dtype, **_):
    toy.save_as(dtype, model, folder, max_shard_size="8KB")


def pickled(model, folder, dtype, legacy):
    """With the tied matrices repeated and the position tables, as in files up to 2022."""
    tensors = {name: tensor.to(dtype) for name, tensor in model.state_dict().items()}
    for stack, module in (("encoder", model.model.encoder), ("decoder", model.model.decoder)):
        tensors[f"model.{stack}.embed_positions.weight"] = module.embed_positions.weight.detach().to(dtype)
    torch.save(tensors, folder / "pytorch_model.bin", _use_new_zipfile_serialization=not legacy)


def write_configs(model, folder, old_config):
    """config.json, with generation_config.json; in older folders all stands in the former."""
    generation = {"num_beams": 4, "max_length": 512, "bad_words_ids": [[model.config.pad_token_id]],
                  "forced_eos_token_id": model.config.eos_token_id}
    config = model.config.to_dict()
    if old_config:
        old = {"normalize_before": False, "normalize_embedding": False, "static_position_embeddings": True,
               "add_bias_logits": False, "id2label": {"0": "LABEL_0"}, "classif_dropout": 0.0,
               "num_hidden_layers": config["encoder_layers"]}
        (folder / "generation_config.json").unlink(missing_ok=True)
        toy.write_json(folder / "config.json", {**config, **old, **generation}, indent=1)
    else:
        toy.write_json(folder / "config.json", {"architectures": ["MarianMTModel"], **config}, indent=1)
        ids = {name: config[name] for name in ("bos_token_id", "decoder_start_token_id", "eos_token_id",
                                               "pad_token_id")}
        toy.write_json(folder / "generation_config.json", {**ids, **generation, "renormalize_logits": True}, indent=1)


def make_marian(folder, save, shared=True, tied=True, languages=(), ends=(0, 0), activation="swish",
                dtype=torch.float32, old_config=False, legacy=False, **sizes):
    torch.manual_seed(5)
    tokenizer = write_vocabularies(folder, shared, languages, ends)
    size = len(tokenizer.encoder)
    target_size = size if shared else len(tokenizer.target_encoder)
    end = tokenizer.encoder["</s>"] if shared else tokenizer.target_encoder["</s>"]
    model = MarianMTModel(MarianConfig(
        vocab_size=size, decoder_vocab_size=target_size, max_position_embeddings=24, dropout=0.0,
        activation_function=activation, scale_embedding=True, share_encoder_decoder_embeddings=shared,
        tie_word_embeddings=tied, pad_token_id=target_size - 1, decoder_start_token_id=target_size - 1,
        eos_token_id=end, forced_eos_token_id=end, bos_token_id=0, init_std=0.2,
        **{"d_model": 12, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
           "decoder_attention_heads": 2, "encoder_ffn_dim": 20, "decoder_ffn_dim": 20, **sizes}))
    if shared and not tied:  # transformers 5 shares nothing then, those of published models did
        model.model.encoder.embed_tokens = model.model.decoder.embed_tokens = model.model.shared
    train(model, tokenizer, languages)
    toy.round_to(dtype, model)
    texts = [f"{languages[i % 2]} {text}" for i, text in enumerate(toy.TEXTS)] if languages else toy.TEXTS
    toy.write_answers(folder, items(model, tokenizer, texts))
    save(model, folder, legacy=legacy, dtype=dtype)
    write_configs(model, folder, old_config)
