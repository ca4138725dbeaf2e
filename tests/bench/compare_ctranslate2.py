#!/usr/bin/env python3
"""Headscope and CTranslate2 translate the same lines with the same weights, one after the other, several rounds, so that
whatever else the machine does meets both: median target tokens a second, peak memory, and how many lines agree.

    compare_ctranslate2.py build/release/headscope MODEL LINES [--rounds 5] [--threads 2] [--count 500]
        [--translators 1]

LINES is text in the source language, one sentence a line; those of 9 to 16 pieces are taken, so that 32 of them are one
batch of 512 padded pieces to Headscope and 32 sentences to CTranslate2. Needs ctranslate2, sentencepiece, safetensors and
numpy from PyPI. Scores have no length penalty, and F32 and I8 are each program's own. With `--translators 2` both translate
two batches at once, each on `--threads` threads: CTranslate2's inter_threads, Headscope's `--device cpu,cpu`.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import sentencepiece

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ctranslate2_peer.py")
PRECISIONS = {"f32": "float32", "i8": "int8"}
BATCHES = {1: "1", 32: "512"}  # sentences, and Headscope's --batch-tokens for them


def run(command, lines, environment=None):
    """Output, what was said on standard error, and the most memory in MiB."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdin=open(lines), stdout=out, stderr=said,
                                   env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        said.seek(0)
        text = said.read()
        if status != 0:
            sys.exit(f"{' '.join(command)}\n{text}")
        return out.read().split("\n")[:-1], text, usage.ru_maxrss / 1024


def headscope(a, lines, precision, beam, batch):
    out, said, memory = run([a.headscope, "translate", "--model", a.model, "--device", ",".join(["cpu"] * a.translators),
                             "--precision", precision,
                             "--beam", str(beam), "--length-penalty", "0", "--no-repeat-ngram", "0",
                             "--split-longer-than", "0", "--batch-tokens", BATCHES[batch], "--stats"],
                            lines, {"HEADSCOPE_THREADS": str(a.threads)})
    tokens, seconds = re.search(r"and (\d+) target tokens in ([\d.]+) s", said).groups()
    return out, int(tokens) / float(seconds), memory


def ctranslate2(a, lines, folder, precision, beam, batch):
    out, said, memory = run([sys.executable, PEER, "translate", a.model, folder, "--precision", PRECISIONS[precision],
                             "--beam", str(beam), "--batch", str(batch), "--threads", str(a.threads),
                             "--translators", str(a.translators)], lines)
    result = json.loads(said.strip().split("\n")[-1])
    return out, result["target_tokens"] / result["run_seconds"][0], memory


def choose(a, to):
    pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(a.model, "sentencepiece.model"))
    with open(a.lines) as file:
        fitting = [line for line in file if 8 <= len(pieces.encode(line.rstrip("\n"))) <= 15]
    to.writelines(fitting[:a.count])
    to.flush()
    return len(fitting[:a.count])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("headscope", "model", "lines"):
        parser.add_argument(name)
    for name, default in (("rounds", 5), ("threads", 2), ("translators", 1), ("count", 500)):
        parser.add_argument("--" + name, type=int, default=default)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w", suffix=".txt") as lines:
        count = choose(a, lines)
        for precision in PRECISIONS:
            subprocess.run([sys.executable, PEER, "convert", a.model, os.path.join(folder, precision)] +
                           (["--i8"] if precision == "i8" else []), check=True)
        print(f"{count} lines, {a.translators} translators of {a.threads} threads, medians of {a.rounds} rounds")
        print(f"{'':<6}{'beam':>4}{'batch':>6}{'headscope':>12}{'ctranslate2':>13}{'ratio':>7}   {'memory':>8}"
              f"{'ctranslate2':>12}{'alike':>7}")
        for precision in PRECISIONS:
            for beam in (1, 4):
                for batch in BATCHES:
                    ours, theirs = [], []
                    for _ in range(a.rounds):
                        ours.append(headscope(a, lines.name, precision, beam, batch))
                        theirs.append(ctranslate2(a, lines.name, os.path.join(folder, precision), precision, beam, batch))
                    speeds = [statistics.median(each[1] for each in side) for side in (ours, theirs)]
                    alike = sum(x == y for x, y in zip(ours[0][0], theirs[0][0], strict=True))
                    print(f"{precision:<6}{beam:>4}{batch:>6}{speeds[0]:>10.0f}/s{speeds[1]:>11.0f}/s"
                          f"{speeds[0] / speeds[1]:>7.2f}   {ours[0][2]:>5.0f}MiB{theirs[0][2]:>9.0f}MiB{alike:>7}",
                          flush=True)


if __name__ == "__main__":
    main()
