"""The toy task of all models: a text of made-up words becomes the same words, each reversed."""
import io
import json
import random

import sentencepiece
import torch

CONSONANTS, VOWELS = "bdgklmnrst", "aeioué"
BEAM, LONGEST = 4, 16  # of the searches in answers.json
TEXTS = ["mo Kaleb rito", "sané  gu.", "Xado kam"]  # two blanks; letters that no vocabulary has


def sentences(count, seed):
    draw = random.Random(seed)

    def word():
        return "".join(draw.choice(CONSONANTS) + draw.choice(VOWELS) for _ in range(draw.randint(1, 3)))

    found = []
    for _ in range(count):
        words = [word() for _ in range(draw.randint(1, 3))]
        words[0] = words[0].capitalize() if draw.random() < 0.3 else words[0]
        found.append(" ".join(words) + ("." if draw.random() < 0.3 else ""))
    return found


def reverse(text):
    return " ".join(word[::-1] for word in text.split())


CORPUS = sentences(1500, 1)
PAIRS = [(text, reverse(text)) for text in CORPUS]


def train_sentencepiece(texts, size, **options):
    """The bytes of a SentencePiece model. The identity normalisation keeps it small."""
    model = io.BytesIO()
    settings = {"model_type": "unigram", "normalization_rule_name": "identity", "num_threads": 1,
                "character_coverage": 1.0, "minloglevel": 2, **options}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=model, vocab_size=size,
                                             **settings)
    return model.getvalue()


def processor(model):
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def pieces_of(model, ids_of_specials=("<unk>", "<s>", "</s>")):
    spm = processor(model)
    return [spm.id_to_piece(i) for i in range(spm.get_piece_size()) if spm.id_to_piece(i) not in ids_of_specials]


def join(pieces):
    return "".join(piece for piece in pieces if piece not in ("</s>", "<unk>")).replace("\u2581", " ").strip()


def padded(rows, pad):
    width = max(len(row) for row in rows)
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows])


def batches(pairs, steps, size=48, seed=3):
    """Batches of pairs of ids, each of sources of one length, so that only targets are padded."""
    draw = random.Random(seed)
    groups = {}
    for pair in pairs:
        groups.setdefault(len(pair[0]), []).append(pair)
    lengths = sorted(groups)
    weights = [len(groups[length]) for length in lengths]
    for _ in range(steps):
        yield draw.choices(groups[draw.choices(lengths, weights)[0]], k=size)


def train(parameters, loss_of, pairs, steps=500, rate=1e-2):
    """loss_of(sources [n, s], targets [n, t] padded by -100)"""
    optimizer = torch.optim.Adam(parameters, lr=rate)
    for step, batch in enumerate(batches(pairs, steps)):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 20) * (1.0 - step / (steps + 1))
        loss = loss_of(torch.tensor([source for source, _ in batch]), padded([target for _, target in batch], -100))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.detach())


def beam_search(next_log_probabilities, eos, beam=BEAM, longest=LONGEST):
    """The best sequence with its log-probability per token, the end counted. Stops once no other can be better.

    next_log_probabilities(list of prefixes) -> [n, vocabulary]"""
    live, ended = [(0.0, [])], []
    for _ in range(longest):
        rows = next_log_probabilities([ids for _, ids in live])
        best = [(total + float(value), ids + [int(token)]) for (total, ids), row in zip(live, rows)
                for value, token in zip(*torch.topk(torch.as_tensor(row), beam + 1))]
        best = sorted(best, key=lambda item: -item[0])[:2 * beam]
        ended += [(total / len(ids), ids) for total, ids in best[:beam] if ids[-1] == eos]
        live = [item for item in best if item[1][-1] != eos][:beam]
        ended = sorted(ended, key=lambda item: -item[0])[:beam]
        if len(ended) == beam and ended[-1][0] >= live[0][0] / longest:
            break
    return ended[0]


def numbers(values):
    return [round(float(value), 5) for value in values]


def states(values, rows=4):
    """Of the first positions, to keep the files small."""
    return {"shape": list(values[:rows].shape), "values": numbers(values[:rows].flatten())}


def round_to(dtype, model):
    """Parameters and bias, but not the position tables, which importers compute."""
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(dtype).float()
    if hasattr(model, "final_logits_bias"):
        model.final_logits_bias = model.final_logits_bias.to(dtype).float()


def save_as(dtype, model, folder, **options):
    model.save_pretrained(folder, state_dict={name: value.to(dtype) for name, value in model.state_dict().items()},
                          **options)


def write_json(path, value, **options):
    path.write_text(json.dumps(value, ensure_ascii=False, **options) + "\n", encoding="utf-8")


def write_answers(folder, items, **more):
    answers = {"beam": BEAM, "length_penalty": 1.0, "max_length": LONGEST, **more}
    lines = ",\n".join(json.dumps(item, ensure_ascii=False) for item in items)
    text = json.dumps(answers)[:-1] + ', "items": [\n' + lines + "\n]}\n"
    (folder / "answers.json").write_text(text, encoding="utf-8")
