#!/usr/bin/env python3
"""Tokenizers for tests/text/golden_tokenizers_test.cpp, and the ids that Hugging Face's tokenizers gives with them.

    python3 tests/golden/make_tokenizer_vectors.py [NAME..]                   (writes tests/golden/tokenizers/, or these)
    python3 tests/golden/make_tokenizer_vectors.py --check HEADSCOPE [LINES]  (compares LINES lines, default 30,000)

Needs tokenizers, sentencepiece and protobuf (PyPI). The text is random: scripts, emoji, combining marks, ideographs, controls and all white space.
It has no characters that tokenizers classifies in another way than Unicode: its tables for BERT are those of Unicode 8,
and it does not split at U+2B820 to U+2B91F.
"""

import collections
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers)

FOLDER = pathlib.Path(__file__).parent / "tokenizers"

# First and last character of blocks; unassigned ones are skipped.
BLOCKS = [(0x20, 0x7e), (0x20, 0x7e), (0xa0, 0x24f), (0x250, 0x36f), (0x370, 0x3ff), (0x400, 0x52f), (0x530, 0x58f),
          (0x590, 0x6ff), (0x700, 0x8ff), (0x900, 0xdff), (0xe00, 0x109f), (0x10a0, 0x13ff), (0x1680, 0x18af),
          (0x1ab0, 0x1cff), (0x1d00, 0x1fff), (0x2000, 0x206f), (0x2070, 0x2bff), (0x2c00, 0x2dff), (0x2e00, 0x303f),
          (0x3040, 0x33ff), (0x3400, 0x3500), (0x4e00, 0x9fff), (0xa000, 0xabff), (0xac00, 0xd7a3), (0xd7b0, 0xd7ff),
          (0xe000, 0xe020), (0xf900, 0xfaff), (0xfb00, 0xfdff), (0xfe00, 0xffff), (0x10000, 0x10fff),
          (0x11000, 0x11fff), (0x12000, 0x12fff), (0x16a00, 0x16fff), (0x1b000, 0x1b2ff), (0x1d000, 0x1d7ff),
          (0x1e000, 0x1e95f), (0x1ee00, 0x1eeff), (0x1f000, 0x1faff), (0x20000, 0x20100), (0x2a700, 0x2a710),
          (0x2b740, 0x2b750), (0x2b820, 0x2b930), (0x2f800, 0x2fa1f), (0xe0001, 0xe007f), (0xe0100, 0xe01ef)]
WHITE = "\t\x0b\x0c\r\x1c\x1f \x85\xa0\u1680\u2000\u2003\u2007\u2009\u2028\u2029\u202f\u205f\u3000\u200b\ufeff"
WORDS = ("the of and to in is that it was for on with as he be at by I'm don't we've they'll he'd it's THE'S o'clock "
         "Straße İstanbul ΣΊΣΥΦΟΣ naïve cafe\u0301 résumé 東京 中国 日本語 서울 Москва العربية हिन्दी ไทย 123 4,567.89 ½ Ⅻ ２ "
         "e.g. U.S.A. https://example.org/a_b?c=d 👍🏽 👨‍👩‍👧 🇩🇪 ... --- '' '' `` \"quoted\" [x] <br> [MASK] <mask> <s> </s> "
         "<|endoftext|> <|endoftext [MASK]] <<mask>> unbelievable tokenization transformers").split()


def is_classified_alike(c):
    category = unicodedata.category(c)
    clean = normalizers.BertNormalizer(handle_chinese_chars=False, strip_accents=False, lowercase=False)
    strip = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True,
                                       lowercase=False)
    punctuation = category[0] == "P" or (c < "\x80" and category[0] == "S")
    dropped = (category in ("Cc", "Cf", "Co") and c not in "\t\n\r") or c == "\ufffd"
    stripped = "".join(x for x in unicodedata.normalize("NFD", c) if unicodedata.category(x) != "Mn")
    words = len(pre_tokenizers.BertPreTokenizer().pre_tokenize_str(f"a{c}b"))
    return (category not in ("Cn", "Cs") and not 0x2b820 <= ord(c) <= 0x2b91f and (words == 3) == punctuation
            and (clean.normalize_str(f"a{c}b") == "ab") == dropped and strip.normalize_str(c) == stripped)


def characters():
    for first, last in BLOCKS:
        block = [c for c in map(chr, range(first, last + 1)) if is_classified_alike(c)]
        if block:
            yield block


def sample(count, seed):
    draw = random.Random(seed)
    blocks = list(characters())
    lines = []
    while len(lines) < count:
        parts = []
        for _ in range(draw.randrange(1, 12)):
            kind = draw.random()
            if kind < 0.45:
                parts.append(draw.choice(WORDS))
            elif kind < 0.8:
                parts.append("".join(draw.choices(draw.choice(blocks), k=draw.randrange(1, 8))))
            elif kind < 0.85:
                parts.append("".join(draw.choice(draw.choice(blocks)) for _ in range(draw.randrange(1, 10))))
            elif kind < 0.97:
                parts.append("".join(draw.choices(WHITE, k=draw.randrange(1, 4))))
            elif kind < 0.98:
                parts.append(draw.choice(["a", "x1", "é", "\u0301"]) * draw.randrange(1, 150))
            else:
                parts.append("".join(chr(c) for c in draw.choices([*range(1, 10), *range(11, 32), 127, 0xfffd], k=2)))
            parts.append(" " * draw.choice([0, 1, 1, 1, 1, 2, 3]))
        line = "".join(parts)
        if any(unicodedata.category(c)[0] in "LNPS" and c not in "\u2581\ufffd" for c in line):
            lines.append(line)
    return lines


def byte_level(lines, prefix, specials, size):
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, special_tokens=specials,
                                                        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return made


# As the models have them. OLMo 2, DBRX and GPT-4 have LLAMA3's.
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
GPT4O = (rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+{ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*{ENDINGS}"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"]


def split_bytes(lines, size, steps, normalizer=None, ignore_merges=False, added=()):
    """Byte-level BPE after other pre-tokenizers; the last of these is GPT-2's if none has words of its own."""
    made = byte_level(lines, False, ["<|begin|>", "<|end|>"], size)
    has_words = any(isinstance(step, pre_tokenizers.Split) for step in steps)
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [*steps, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not has_words)])
    if normalizer:
        made.normalizer = normalizer
    made.model.ignore_merges = ignore_merges
    made.add_tokens(list(added))
    return made


def splits(*patterns):
    return [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]


def spelled(lines, size, normalizer, pre_tokenizer, strips, added=()):
    """BPE of characters with bytes for those that have no piece, as conversions of SentencePiece models have it."""
    trained = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    common = {c for c, _ in collections.Counter("".join(lines)).most_common(size // 4)}
    shown = ["".join(c for c in line if c in common) for line in lines]
    trained.train_from_iterator(shown, trainers.BpeTrainer(vocab_size=size, special_tokens=["<unk>", "<s>", "</s>"]))
    model = json.loads(trained.to_str())["model"]
    vocabulary = dict(model["vocab"])
    for piece in [f"<0x{byte:02X}>" for byte in range(256)]:
        vocabulary[piece] = len(vocabulary)
    made = Tokenizer(models.BPE(vocabulary, [tuple(pair) for pair in model["merges"]], unk_token="<unk>", fuse_unk=True,
                                byte_fallback=True))
    made.normalizer = normalizer
    if pre_tokenizer:
        made.pre_tokenizer = pre_tokenizer
    made.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                      *([decoders.Strip(content=" ", left=1)] if strips else [])])
    made.add_special_tokens(["<unk>", "<s>", "</s>"])
    made.add_tokens(list(added))
    return made


def of_decoders(lines, size):
    """Those of today's causal models."""
    marks = normalizers.Replace(" ", "\u2581")
    blanks = [AddedToken(" " * count, normalized=True) for count in (4, 2)]
    return {
        "llama3": split_bytes(lines, size, splits(LLAMA3), ignore_merges=True),
        "qwen2": split_bytes(lines, size, splits(QWEN2), normalizers.NFC()),
        "gpt4o": split_bytes(lines, size, splits(GPT4O)),
        "smollm": split_bytes(lines, size, [pre_tokenizers.Digits(individual_digits=True)]),
        "gptneox": split_bytes(lines, size, [], normalizers.NFC(), added=blanks),
        "deepseek": split_bytes(lines, size, splits(*DEEPSEEK)),
        "llama2": spelled(lines, size, normalizers.Sequence([normalizers.Prepend("\u2581"), marks]), None, True,
                          added=[AddedToken("o'clock", normalized=False)]),
        "mistral": spelled(lines, size, None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False), True,
                           added=[AddedToken("o'clock", normalized=False), AddedToken("that", normalized=True)]),
        "gemma": spelled(lines, size, marks, pre_tokenizers.Split(" ", "merged_with_previous"), False,
                         added=[AddedToken("\n\n", normalized=False)]),
    }


def word_piece(lines, size, **options):
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(**options)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.train_from_iterator(lines, trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    return made


def character_map(size):
    """SentencePiece's nmt_nfkc; a part of it for small tokenizers."""
    options = {"normalization_rule_name": "nmt_nfkc"}
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as rules:
        if size < 1000:
            pairs = {c: unicodedata.normalize("NFKC", c) for c in
                     "e\u0301 o\u0308 E\u0301 \uff21 \uff11 \uff1f \ufb01 \u00bd \u2168 \u2460 \uff76\uff9e \uff76 \u212b"
                     " \U0001d400 \u3392 \ufdfa a\u0323\u0302".split()}
            pairs |= {c: " " for c in WHITE if c != " " and not 0x0b <= ord(c) < 0x20} | {"\x01": "", "\u00ad": "", "\u200b": " "}
            for source, target in pairs.items():
                rules.write("\t".join(" ".join(f"{ord(c):x}" for c in text) for text in (source, target)) + "\n")
            rules.flush()
            options = {"normalization_rule_tsv": rules.name}
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["hello world"] * 20), model_writer=model,
                                                 vocab_size=20, hard_vocab_limit=False, minloglevel=2, **options)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)


def unigram(lines, size, normalizer, pre_tokenizer, byte_fallback=False, decoder=None, specials=()):
    """Rare characters have no piece."""
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizer
    made.pre_tokenizer = pre_tokenizer
    common = {c for c, _ in collections.Counter("".join(lines)).most_common(size // 4)} - {"<"}  # which begins </s>
    shown = ["".join(c for c in line if c in common) for line in lines]
    made.train_from_iterator(shown, trainers.UnigramTrainer(
        vocab_size=size, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>"))
    vocabulary = [tuple(piece) for piece in json.loads(made.to_str())["model"]["vocab"]]
    if byte_fallback:
        vocabulary[3:3] = [(f"<0x{byte:02X}>", 0.0) for byte in range(256)]
    made.model = models.Unigram(vocabulary, unk_id=2, byte_fallback=byte_fallback)
    made.decoder = decoder or decoders.Metaspace()
    made.add_special_tokens([AddedToken(token, lstrip=token == "<mask>", special=True) for token in specials])
    return made


def unigrams(lines, size):
    table = character_map(size)
    marks = pre_tokenizers.Metaspace()
    at_blanks = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), marks])
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    return {
        "t5": unigram(lines, size, table, at_blanks, specials=["<extra_id_1>", "<extra_id_0>"]),
        "mbart": unigram(lines, size, None, at_blanks, specials=["de_DE", "en_XX", "<mask>"]),
        "mbart50": unigram(lines, size, normalizers.Sequence([table, spaces]), marks, specials=["<mask>"]),
        "stripped": unigram(lines, size, normalizers.Sequence(
            [table, normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "\u2581")]), marks),
        "converted": unigram(lines, size, normalizers.Sequence(
            [table, normalizers.Replace(Regex(r"\A +| +\z"), ""), spaces, normalizers.Replace(" ", "\u2581"),
             normalizers.Replace(Regex("\\A\u2581"), "\u2581\u2581")]), pre_tokenizers.Metaspace(split=False),
            byte_fallback=True, decoder=decoders.Sequence(
                [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                 decoders.Strip(content=" ", left=1)])),
        "prepended": unigram(lines, size, normalizers.Prepend("\u2581the "),
                             pre_tokenizers.Metaspace(prepend_scheme="never"),
                             decoder=decoders.Metaspace(prepend_scheme="never")),
    }


def tokenizers(lines, size):
    mask = AddedToken("<mask>", lstrip=True, special=True)
    roberta = byte_level(lines, True, ["<s>", "<pad>", "</s>", "<unk>", mask], size)
    roberta.add_tokens([AddedToken("transform", normalized=False), AddedToken("<<", rstrip=True)])
    return {
        "gpt2": byte_level(lines, False, ["<|endoftext|>"], size),
        "roberta": roberta,
        "bert_cased": word_piece(lines, size, lowercase=False),
        "bert_uncased": word_piece(lines, size, lowercase=True),
        "bert_accents": word_piece(lines, size, lowercase=True, strip_accents=False, handle_chinese_chars=False,
                                   clean_text=False),
        **unigrams(lines, size),
        **of_decoders(lines, size),
    }


def decode(tokenizer, ids):
    """As Headscope does: without special tokens, except for the unknown one, which tells that something is missing."""
    special = {i for i, token in tokenizer.get_added_tokens_decoder().items()
               if token.special and token.content not in ("<unk>", "[UNK]")}
    return tokenizer.decode([i for i in ids if i not in special], skip_special_tokens=False)


def id_lines(tokenizer, count, seed):
    """Random ids: bytes that spell no text, control pieces, and words in any order."""
    draw = random.Random(seed)
    usable = [i for i in range(tokenizer.get_vocab_size())
              if "\u010a" not in tokenizer.id_to_token(i) and tokenizer.id_to_token(i) != "<0x0A>"]
    return [draw.choices(usable, k=draw.randrange(1, 20)) for _ in range(count)]


def write(names):
    FOLDER.mkdir(exist_ok=True)
    lines = sample(60, 1) + ["a\nb \n\n c\n", " x", "x ", "  two", "It's 5 o'clock.\nOK?", "\x00a"]
    for name, tokenizer in tokenizers(sample(40, 2), 400).items():
        if names and name not in names:
            continue
        tokenizer.save(str(FOLDER / f"{name}.json"), pretty=False)
        ids = [tokenizer.encode(line, add_special_tokens=False).ids for line in lines]
        others = id_lines(tokenizer, 40, 3)
        golden = {"lines": lines, "ids": ids, "decoded": [decode(tokenizer, one) for one in ids],
                  "random_ids": others, "random_decoded": [decode(tokenizer, one) for one in others]}
        (FOLDER / f"{name}.expected.json").write_text(json.dumps(golden, ensure_ascii=True) + "\n")


def run(program, file, options, lines):
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run([program, "tokenize", "--tokenizer", file, *options, "-"], input=text.encode(),
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return done.stdout.decode().split("\n")[:-1]


def check(program, count):
    lines = [line for line in sample(count, 11) if not line.endswith("\r")]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, tokenizer in tokenizers(sample(3000, 12), 4000).items():
            file = f"{folder}/{name}.json"
            tokenizer.save(file)
            expected = [tokenizer.encode(line, add_special_tokens=False).ids for line in lines]
            found = run(program, file, ["--ids"], lines)
            pairs = [(line, e, f) for line, e, f in zip(lines, expected, found) if " ".join(map(str, e)) != f]
            ids = [one for one in expected if one] + id_lines(tokenizer, count, 13)
            ids = [one for one in ids if "\n" not in decode(tokenizer, one)]  # the program prints lines
            texts = [decode(tokenizer, one) for one in ids]
            joined = run(program, file, ["--decode"], [" ".join(map(str, one)) for one in ids])
            wrong = [(one, e, f) for one, e, f in zip(ids, texts, joined) if e != f]
            print(f"{name}: {len(lines) - len(pairs)} of {len(lines)} lines split identically, "
                  f"{len(ids) - len(wrong)} of {len(ids)} lists of ids joined identically")
            for case in pairs[:3] + wrong[:3]:
                print("   ", *map(ascii, case), sep="\n      ")
            failed = failed or pairs or wrong or len(found) != len(lines) or len(joined) != len(ids)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--check":
        check(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 30000)
    write(sys.argv[1:])
