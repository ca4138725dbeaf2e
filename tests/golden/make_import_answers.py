#!/usr/bin/env python3
"""Writes the answers of other programs in the form that tests/import/answers_test.cpp reads.

usage: make_import_answers.py KIT OUTPUT

KIT holds folders of models, each with expected.json: what the program that wrote the model computes. OUTPUT gets a
folder with links to the same files and answers.json. Then run HEADSCOPE_IMPORT_MODELS=OUTPUT test_import "[answers]".
"""
import json
import pathlib
import sys

TOKENIZED = ("source_text", "source")  # keys of an item's source text


def translations(item):
    for key in ("beam4_exact", "beam4"):
        if key in item:
            return item[key]
    return []


def with_score(best, item, ids_of):
    found = {}
    if "ids" in best:
        found["ids"] = best["ids"]
    elif "pieces" in best:
        found["ids"] = ids_of(best["pieces"])
    if "text" in best or "target" in best:
        found["text"] = best.get("text", best.get("target"))
    if "score" in best:
        found["score"] = best["score"]
    return found


def answer(item, vocabulary):
    def ids_of(pieces):
        return [vocabulary[1].get(piece, vocabulary[1]["<unk>"]) for piece in pieces] + [vocabulary[1]["</s>"]]

    if "ids" in item:  # a language model
        found = {"ids": item["ids"]}
        if "log_probabilities_of_the_next_ids" in item:
            found["log_probabilities"] = item["log_probabilities_of_the_next_ids"]
        if "last_hidden" in item:
            found["states"] = item["last_hidden"]
        if "token_types" in item:
            found["types"] = item["token_types"]
        return found
    found = {}
    pieces = item.get("source_pieces", [])
    for key in TOKENIZED:
        if key in item:
            found["text"] = item[key]
    if "text" not in found and pieces:
        found["text"] = " ".join(piece for piece in pieces if piece != "</s>")
    if "source_ids" in item:
        found["source"] = item["source_ids"]
    elif pieces:
        found["source"] = [vocabulary[0].get(piece, vocabulary[0]["<unk>"]) for piece in pieces]
    target = item.get("target_ids")
    if target is None and "target_pieces" in item:
        target = ids_of(item["target_pieces"])
    for key in ("forced_log_probabilities_without_pad", "forced_log_probabilities", "forced_target_is_the_source"):
        if key in item and target is not None:
            found["target"] = target
            found["log_probabilities"] = item[key]
            break
    if "word_scores" in item.get("greedy", {}):  # Marian: what it wrote itself
        found["target"] = item["greedy"]["ids"]
        found["log_probabilities"] = item["greedy"]["word_scores"]
    for key in ("encoder_states", "encoder_states_by_numpy"):
        if key in item:
            found["states"] = item[key]
    best = translations(item)
    if best:
        found["translation"] = with_score(best[0], item, ids_of)
        if "forced_target_is_the_source" in item:
            found["translation"]["score"] = -found["translation"]["score"]
    return found


def vocabularies(folder):
    sides = []
    for side in ("source", "target"):
        for name in (f"{side}_vocabulary", "shared_vocabulary"):
            for end in (".json", ".txt"):
                file = folder / (name + end)
                if file.exists() and len(sides) < (1 if side == "source" else 2):
                    text = file.read_text(encoding="utf-8")
                    pieces = json.loads(text) if end == ".json" else text.splitlines()
                    ids = {piece: i for i, piece in enumerate(pieces)}
                    ids.setdefault("<unk>", len(pieces))
                    sides.append(ids)
    return sides


def main():
    kit, output = (pathlib.Path(path) for path in sys.argv[1:])
    for file in sorted(kit.glob("*/expected.json")):
        expected = json.loads(file.read_text(encoding="utf-8"))
        if "by_compute_type" in expected:
            expected = expected["by_compute_type"]["float32"]
        folder = output / file.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        for other in file.parent.iterdir():
            if other != file and not (folder / other.name).exists():
                (folder / other.name).symlink_to(other.resolve())
        sides = vocabularies(file.parent)
        items = [answer(item, sides) for item in expected["items"]]
        meta = expected.get("meta", {})
        longest = meta.get("max_length_of_generation", meta.get("max_len_b", 64))
        answers = {"beam": 4, "length_penalty": 1.0, "max_length": longest, "items": items}
        if "max_length_factor" in meta:
            answers["max_factor"] = meta["max_length_factor"]
        if "max_length_of_generation" in meta:
            answers["max_length"] = longest - 1  # theirs counts the start
            answers["force_end"] = True
        if not meta.get("renormalize_logits", True):
            answers["score_tolerance"] = 2e-3  # the pad is in the program's softmax
        (folder / "answers.json").write_text(json.dumps(answers, ensure_ascii=False), encoding="utf-8")


main()
