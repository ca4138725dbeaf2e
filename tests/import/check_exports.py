#!/usr/bin/env python3
"""Exports models and compares what transformers and CTranslate2 make of them with what headscope computes.

usage: check_exports.py HEADSCOPE WORK-FOLDER [FOLDER-OF-MODELS ...]

Models are those of tests/import/models, the bundled ones, own ones that are trained for a few steps, and those in the
given folders. Each is exported in every format. An export that is refused counts as right, unless MUST_EXPORT lists it;
one that is written must give the same ids, log-probabilities and greedy outputs in the other program, and opened again.
Marian's are only opened again.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HEADSCOPE_DEVICE"] = "cpu"
import ctranslate2  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
TOLERANCE = 2e-4
LENGTH = 12  # pieces of greedy outputs
FORMATS = ("huggingface", "ctranslate2", "marian")
TEXTS = (
    "The old dogs near the cat bark loudly.",
    "  two   blanks\tand a tab ",
    "Caf\u00e9s, \u00dcber \u4e2d\u6587 \u00bd \ufb01n Stra\u00dfe",
    "unknown: \u0436\u0437 \u0416 1234",
    "wwwwww ........ ----- 7777777",
    "\u00a0the\u3000river\u200b",
    "",
)
MUST_EXPORT = {
    "huggingface": "hf-marian-tied hf-marian-separate hf-marian-languages hf-gpt2 hf-bert hf-distilbert hf-roberta "
    "own-causal-bpe own-causal-unigram own-causal-wordpiece own-masked-bpe own-masked-unigram own-masked-wordpiece "
    "own-translation-halves en-causal",
    "ctranslate2": "hf-marian-tied hf-marian-separate ct2-float32 fairseq-cfg own-translation-bpe en-de",
    "marian": "marian-tied marian-separate",
}
TRANSLATION = {"encoder_layers": 1, "decoder_layers": 1}
OWN_MASKED = {
    "encoder_layers": 2, "embedding_norm": True, "output_transform": True, "output_bias": True,
    "scale_embedding": False, "activation": "gelu",
}
OWN = {
    **{f"own-causal-{kind}": ("causal", kind, {"decoder_layers": 2, "norm": "pre"})
       for kind in ("bpe", "unigram", "wordpiece")},
    **{f"own-masked-{kind}": ("masked", kind, OWN_MASKED) for kind in ("bpe", "unigram", "wordpiece")},
    "own-causal-words": ("causal", "words", {"decoder_layers": 1, "norm": "pre"}),
    "own-translation-bpe": ("translation", "bpe", TRANSLATION),
    "own-translation-halves": ("translation", "unigram", {
        **TRANSLATION, "sinusoid_layout": "halves", "layer_norm_epsilon": 1e-5}),
}


class Headscope:
    def __init__(self, program):
        self.program = program

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, timeout=600)

    def rows(self, *arguments):
        done = self.run(*arguments, "--json")
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def tokens(self, model, text, *options):
        done = self.run("tokenize", "--model", model, "--text", text, *options)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.split()

    def ids(self, model, text, *options):
        return [int(token) for token in self.tokens(model, text, "--ids", *options)]

    def key(self, model, name):
        return json.loads(self.run("inspect", "--model", model, "--key", name).stdout)


def far(ours, theirs):
    if len(ours) != len(theirs):
        return float("inf")
    return max((abs(a - b) for a, b in zip(ours, theirs)), default=0.0)


class IdTokenizer:
    """Of a model without a tokenizer, whose texts are ids."""

    mask_token = "[MASK]"

    def __init__(self, headscope, model):
        self.begin, self.end, self.mask_token_id = (headscope.key(model, key) for key in ("bos_id", "eos_id", "mask_id"))

    def __call__(self, text):
        ids = [self.mask_token_id if word == self.mask_token else int(word) for word in text.split()]
        begin = [self.begin] if self.begin >= 0 else []
        return {"input_ids": [*begin, *ids, *([self.end] if self.mask_token_id >= 0 else [])]}

    convert_tokens_to_ids = staticmethod(int)

    @staticmethod
    def convert_ids_to_tokens(ids):
        return [str(number) for number in ids]


class Check:
    """One model: its own answers, and the differences of those of an export."""

    def __init__(self, headscope, model, work, lines):
        self.h, self.model, self.work = headscope, model, work
        self.takes_ids = "texts are the ids of pieces" in headscope.run("tokenize", "--model", model, "--text", "1").stderr
        self.lines = lines = ["27 1 9 8", "5 6 7", "3 4"] if self.takes_ids else lines
        self.texts = [] if self.takes_ids else TEXTS
        self.family = headscope.run("inspect", "--model", model, "--key", "architecture").stdout.strip()
        self.end = ""  # the piece
        self.options = []
        if self.family == "encoder-decoder" and headscope.key(model, "languages"):
            self.options = ["--target-language", sorted(headscope.key(model, "languages"))[0]]
        self.source = work / "source.txt"
        self.source.write_text("".join(line + "\n" for line in lines))
        self.target = work / "target.txt"
        self.target.write_text("".join(line + "\n" for line in reversed(lines)))

    def scores(self, model):
        """The log-probabilities of each line."""
        if self.family == "encoder-decoder":
            rows = self.h.rows("score", "--model", model, "--source", self.source, "--target", self.target, *self.options)
        elif self.family == "causal-lm":
            rows = self.h.rows("score", "--model", model, "--text", self.source)
        else:
            return [[best["log_probability"] for best in self.filled(model, line)] for line in self.lines]
        self.end = rows[0]["tokens"][-1]["token"]
        return [[token["log_probability"] for token in row["tokens"]] for row in rows]

    def filled(self, model, line):
        return self.h.rows("fill", "--model", model, "--top", 20, self.masked(line, "[MASK]"))[0]["masks"][0]

    @staticmethod
    def masked(line, mask):
        words = line.split()
        return " ".join([words[0], mask, *words[2:]])

    def greedy(self, model):
        if self.family == "encoder-decoder":
            rows = self.h.rows("translate", "--model", model, "--greedy", "--allow-unknown", "--max-length", LENGTH,
                               *self.options, self.source)
        elif self.family == "causal-lm":
            rows = [self.h.rows("complete", "--model", model, "--max-tokens", LENGTH, line)[0] for line in self.lines]
        else:
            return [self.filled(model, line)[0]["piece"] for line in self.lines]
        return [self.cut(row["tokens"]) for row in rows]

    def cut(self, pieces):
        """Pieces up to the end, or to where a program may force one."""
        return pieces[: pieces.index(self.end) if self.end in pieces else None][: LENGTH - 1]

    def again(self, exported):
        """What is wrong with the export, opened again."""
        wrong = []
        worst = max(far(a, b) for a, b in zip(self.scores(self.model), self.scores(exported)))
        # A pad of MarianMT has no probability here.
        same_pieces = self.h.key(self.model, "suppressed_ids") == self.h.key(exported, "suppressed_ids")
        if worst > TOLERANCE and same_pieces:
            wrong.append(f"opened again, log-probabilities are {worst:.1e} off")
        if self.greedy(self.model) != self.greedy(exported):
            wrong.append("opened again, greedy outputs differ")
        for text in self.texts:
            if self.h.tokens(self.model, text) != self.h.tokens(exported, text):
                wrong.append(f"opened again, it splits {text!r} otherwise")
        return wrong

    def in_ctranslate2(self, exported):
        translator = ctranslate2.Translator(str(exported), compute_type="float32", intra_threads=1)
        begin = self.h.key(self.model, "source_begin")
        pieces = [self.h.tokens(self.model, line, "--frame", *self.options) for line in self.lines]
        ends = len(self.h.key(self.model, "source_end"))
        sources = [line[: len(line) - ends] for line in pieces]
        targets = [self.h.tokens(self.model, line, "--side", "target") for line in reversed(self.lines)]
        wrong = []
        scored = translator.score_batch(sources, targets)
        worst = max(far(a, list(b.log_probs)) for a, b in zip(self.scores(self.model), scored))
        if worst > TOLERANCE:
            wrong.append(f"log-probabilities are {worst:.1e} off (source_begin {begin})")
        found = translator.translate_batch(sources, beam_size=1, max_decoding_length=LENGTH)
        if [self.cut(result.hypotheses[0]) for result in found] != self.greedy(self.model):
            wrong.append("greedy outputs differ")
        return wrong

    def in_transformers(self, exported):
        tokenizer = IdTokenizer(self.h, self.model)
        if not self.takes_ids:
            tokenizer = transformers.AutoTokenizer.from_pretrained(exported)
        with torch.no_grad():
            if self.family == "encoder-decoder":
                return self.in_marian(exported, tokenizer)
            return (self.in_gpt2 if self.family == "causal-lm" else self.in_bert)(exported, tokenizer)

    def ids_differ(self, tokenizer, *options):
        end = self.h.key(self.model, "eos_id")
        wrong = []
        for text in [*self.texts, *self.lines]:
            ours = self.h.ids(self.model, text, "--frame", *options)
            theirs = tokenizer(text)["input_ids"]
            if self.family == "causal-lm" and ours[-1:] == [end]:
                ours = ours[:-1]
            if ours != theirs:
                wrong.append(f"ids of {text!r} are {theirs}, here {ours}")
        return wrong

    def in_marian(self, exported, tokenizer):
        model = transformers.MarianMTModel.from_pretrained(exported).eval()
        wrong = [] if self.options else self.ids_differ(tokenizer)
        pad = model.generation_config.pad_token_id
        start = model.config.decoder_start_token_id
        scores, outputs = self.scores(self.model), self.greedy(self.model)
        for line, other, score, output in zip(self.lines, reversed(self.lines), scores, outputs):
            source = torch.tensor([self.h.ids(self.model, line, "--frame", *self.options)])
            target = self.h.ids(self.model, other, "--side", "target") + [model.config.eos_token_id]
            logits = model(input_ids=source, decoder_input_ids=torch.tensor([[start, *target[:-1]]])).logits[0]
            if model.generation_config.renormalize_logits:
                logits[:, pad] = float("-inf")
            found = torch.log_softmax(logits, -1)[range(len(target)), target].tolist()
            if far(score, found) > TOLERANCE:
                wrong.append(f"log-probabilities of {line!r} are {far(score, found):.1e} off")
            ids = model.generate(source, num_beams=1, do_sample=False, max_new_tokens=LENGTH)[0, 1:].tolist()
            encoder = tokenizer.target_encoder if tokenizer.separate_vocabs else tokenizer.encoder
            names = {number: piece for piece, number in encoder.items()}
            pieces = self.cut([names[number] for number in ids])
            if pieces != output:
                wrong.append(f"the greedy output of {line!r} is {pieces}, here {output}")
        return wrong

    def in_gpt2(self, exported, tokenizer):
        model = transformers.AutoModelForCausalLM.from_pretrained(exported).eval()
        wrong = self.ids_differ(tokenizer)
        for line, score, output in zip(self.lines, self.scores(self.model), self.greedy(self.model)):
            ids = [*tokenizer(line)["input_ids"], model.config.eos_token_id]
            found = torch.log_softmax(model(torch.tensor([ids])).logits[0], -1)[range(len(ids) - 1), ids[1:]].tolist()
            if far(score, found) > TOLERANCE:
                wrong.append(f"log-probabilities of {line!r} are {far(score, found):.1e} off")
            prompt = torch.tensor([ids[:-1]])
            made = model.generate(prompt, do_sample=False, min_new_tokens=1, max_new_tokens=LENGTH,
                                  attention_mask=torch.ones_like(prompt))
            pieces = tokenizer.convert_ids_to_tokens(made[0, len(ids) - 1 :].tolist())
            pieces = self.cut(pieces)
            if pieces != output:
                wrong.append(f"the completion of {line!r} is {pieces}, here {output}")
        return wrong

    def in_bert(self, exported, tokenizer):
        model = transformers.AutoModelForMaskedLM.from_pretrained(exported).eval()
        wrong = self.ids_differ(tokenizer)
        for line in self.lines:
            ids = tokenizer(self.masked(line, tokenizer.mask_token))["input_ids"]
            at = ids.index(tokenizer.mask_token_id)
            found = torch.log_softmax(model(torch.tensor([ids])).logits[0, at], -1)
            best = self.filled(self.model, line)
            theirs = [found[tokenizer.convert_tokens_to_ids(one["piece"])].item() for one in best]
            # Special pieces have no probability here.
            shift = best[0]["log_probability"] - theirs[0]
            worst = far([one["log_probability"] - shift for one in best], theirs)
            if worst > TOLERANCE or shift < -TOLERANCE:
                wrong.append(f"log-probabilities at the mask of {line!r} are {worst:.1e} off")
        return wrong


def train_own(headscope, work):
    data = work / "data"
    headscope.run("make-task", "cloze", "--lines", 400, "--valid", 40, "--test", 10, "--output", data / "text")
    headscope.run("make-task", "digits", "--pairs", 400, "--valid", 40, "--test", 10, "--output", data / "pairs")
    training = {"steps": 30, "source_tokens": 400, "target_tokens": 400, "warmup_steps": 10, "max_length": 64,
                "validate_every": 30}
    for name, (task, tokenizer, model) in OWN.items():
        sizes = {"d_model": 24, "d_ff": 48, "heads": 3, "max_length": 64, **model}
        config = {"model": sizes, "training": training, "tokenizer": {"type": tokenizer, "vocabulary": 60}}
        kind = "pairs" if task == "translation" else "text"
        if task != "translation":
            config["task"] = task
        folder = data / kind
        (end,) = {path.suffix[1:] for path in folder.glob("train.*")}
        config["data"] = {part: {"tsv" if end == "tsv" else "text": f"{part}.{end}"} for part in ("train", "valid")}
        file = work / f"{name}.json"
        file.write_text(json.dumps(config))
        done = headscope.run("train", file, "--data", folder, "--output", work / name)
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {done.stderr.strip()}")
        lines = (folder / f"valid.{end}").read_text().splitlines()[:3]
        yield work / name, [line.split("\t")[0] for line in lines]


def models(headscope, work, folders):
    yield from train_own(headscope, work)
    for name in ("en-de", "en-causal"):
        yield REPOSITORY / "assets/models" / name, ["The weather is good today.", "She opened the window."]
    for folder in [HERE / "models", *map(pathlib.Path, folders)]:
        for model in sorted(folder.iterdir()):
            if (model / "config.json").exists() or list(model.glob("*.npz")) or list(model.glob("*.pt")):
                yield model, ["mo Kaleb rito", "mi ga no", "Dole bu."]


def outcome(check, name, form, work):
    exported = work / "exported" / f"{name}-{form}"
    shutil.rmtree(exported, ignore_errors=True)
    done = check.h.run("export", check.model, "--format", form, "--output", exported)
    if done.returncode != 0:
        if name in MUST_EXPORT[form].split() or exported.exists():
            return f"FAILED: not written: {done.stderr.strip()}"
        return "refused"
    wrong = check.again(exported)
    if form == "ctranslate2":
        wrong += check.in_ctranslate2(exported)
    elif form == "huggingface":
        wrong += check.in_transformers(exported)
    return "FAILED: " + "\n    ".join(wrong) if wrong else "same"


def main():
    headscope = Headscope(sys.argv[1])
    work = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    counts = {"same": 0, "refused": 0, "FAILED": 0}
    for model, lines in models(headscope, work, sys.argv[3:]):
        if headscope.run("inspect", "--model", model, "--key", "architecture").returncode != 0:
            print(f"{model.name}: does not open", flush=True)
            continue
        check = Check(headscope, model, work, lines)
        for form in FORMATS:
            try:
                found = outcome(check, model.name, form, work)
            except Exception as problem:  # of the other program, too: such an export cannot be used
                found = f"FAILED: {type(problem).__name__}: {problem}"
            counts[found.split(":")[0]] += 1
            print(f"{model.name}, {form}: {found}", flush=True)
    print(", ".join(f"{number} {name}" for name, number in counts.items()))
    return counts["FAILED"] > 0


sys.exit(main())
