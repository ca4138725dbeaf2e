#!/usr/bin/env python3
"""What the Python package promises of its speed, measured: medians of rounds in which both sides take turns.

    HEADSCOPE_LIBRARY=build/release/libheadscope.so.0 PYTHONPATH=python \\
        python3 tests/bench/python_figures.py build/release/headscope assets/models/en-de LINES [PART..]

    import       milliseconds of `import headscope` in a new process
    start        seconds from a process's start until it has the first translation, of Python and of the command
    sentence     milliseconds of one short sentence, greedy, from Python and in C with the same library, which reuses its
                 options; both from the call to the text, in engines that are open
    lines        seconds for all of LINES with the model's own beam, of `headscope translate --stats` and of one translate()
                 of a list, each in a new process, without opening the model
    ctranslate2  target tokens a second beside CTranslate2's Python package, with the lines, weights and options of
                 tests/bench/compare_ctranslate2.py, and the command's ratio beside it

LINES is text in the model's source language, one sentence a line. The last part needs what compare_ctranslate2.py needs.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

TEXT = "The weather is nice today."
HERE = pathlib.Path(__file__).resolve().parent


def shown(name, found, unit, bound, kept):
    print(f"{name:<44}{found:>9.3f} {unit:<4}{bound:<18}{'yes' if kept else 'NO'}", flush=True)


def seconds_of(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def part_import(a):
    code = "import time; a = time.perf_counter(); import headscope; print(1e3 * (time.perf_counter() - a))"
    found = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(a.rounds + 1)][1:]
    median = statistics.median(found)
    shown("import headscope", median, "ms", "at most 30", median <= 30)


def part_start(a):
    code = f"import headscope as hs; print(hs.open({a.model!r}, devices='cpu').translate({TEXT!r}))"
    ours, command = [], []
    for _ in range(a.rounds + 1):
        ours.append(seconds_of([sys.executable, "-c", code]))
        command.append(seconds_of([a.headscope, "translate", "--model", a.model, "--device", "cpu", "--text", TEXT]))
    median = statistics.median(ours[1:])
    shown("start to the first translation", median, "s", "at most 0.25", median <= 0.25)
    print(f"{'  of the command':<44}{statistics.median(command[1:]):>9.3f} s")


def part_sentence(a):
    import headscope as hs

    library = pathlib.Path(os.environ["HEADSCOPE_LIBRARY"]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "one_sentence")
        subprocess.run([os.environ.get("CC", "cc"), "-std=gnu99", "-O2", f"-I{HERE.parents[1] / 'include'}",
                        HERE / "one_sentence.c", library, f"-Wl,-rpath,{library.parent}", "-o", program], check=True)
        c = subprocess.Popen([program, a.model, TEXT, str(a.threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True)
        model = hs.open(a.model, devices="cpu", threads=a.threads)

        def in_c(count):
            c.stdin.write(f"{count}\n")
            c.stdin.flush()
            return [float(each) for each in c.stdout.readline().split()]

        def in_python(count):
            found = []
            for _ in range(count):
                start = time.perf_counter()
                model.translate(TEXT, beam=1).text
                found.append(1e3 * (time.perf_counter() - start))
            return found

        sides = ([], [])
        in_c(20), in_python(20)
        for _ in range(a.rounds * 5):
            sides[0].extend(in_c(10))
            sides[1].extend(in_python(10))
        c.stdin.close()
        c.wait()
    engine, python = map(statistics.median, sides)
    shown("one sentence, more than in C", python - engine, "ms", "at most 0.2", python - engine <= 0.2)
    print(f"{'  in C, from Python':<44}{engine:>9.3f} ms, {python:.3f} ms")


def package(a, lines, options):
    """Output, seconds of translate() of all lines, target tokens and peak memory, of a new process."""
    import compare_ctranslate2 as peers

    out, said, memory = peers.run([sys.executable, __file__, "--translate", a.model, json.dumps(options)], lines)
    return out, *json.loads(said.strip().split("\n")[-1]), memory


def translate(model, options):
    import headscope as hs

    options = json.loads(options)
    lines = [line.rstrip("\n") for line in sys.stdin]
    with hs.open(model, devices="cpu", precision=options.pop("precision"), threads=options.pop("threads")) as opened:
        start = time.perf_counter()
        found = opened.translate(lines, **options)
        texts = [each.text for each in found]
        seconds = time.perf_counter() - start
    print(*texts, sep="\n")
    print(json.dumps([seconds, sum(len(each.ids) for each in found)]), file=sys.stderr)


def part_lines(a):
    import compare_ctranslate2 as peers

    command, ours = [], []
    for _ in range(a.rounds):
        out, said, _memory = peers.run([a.headscope, "translate", "--model", a.model, "--device", "cpu", "--stats"],
                                       a.lines, {"HEADSCOPE_THREADS": str(a.threads)})
        command.append(float(re.search(r"target tokens in ([\d.]+) s", said).group(1)))
        found, seconds, *_ = package(a, a.lines, {"precision": "f32", "threads": a.threads})
        ours.append(seconds)
        assert found == out, "the command says something else"
    ratio = statistics.median(command) / statistics.median(ours)
    shown(f"{len(out)} lines, of the command's speed", ratio, "", "at least 0.97", ratio >= 0.97)
    print(f"{'  command, Python':<44}{statistics.median(command):>9.3f} s, {statistics.median(ours):.3f} s")


def part_ctranslate2(a):
    import compare_ctranslate2 as peers

    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w", suffix=".txt") as lines:
        count = peers.choose(a, lines)
        for precision in peers.PRECISIONS:
            subprocess.run([sys.executable, peers.PEER, "convert", a.model, os.path.join(folder, precision)] +
                           (["--i8"] if precision == "i8" else []), check=True)
        print(f"{count} lines, {a.threads} threads, target tokens/s\n{'':<6}{'beam':>4}{'batch':>6}{'python':>10}{'command':>10}"
              f"{'ctranslate2':>13}{'ratio':>8}{'of command':>12}{'memory':>11}{'ctranslate2':>13}")
        for precision in peers.PRECISIONS:
            for beam in (1, 4):
                for batch in peers.BATCHES:
                    options = {"precision": precision, "threads": a.threads, "beam": beam, "length_penalty": 0.0,
                               "no_repeat_ngram": 0, "split_longer_than": 0, "batch_tokens": int(peers.BATCHES[batch])}
                    speeds, command, theirs, memories = [], [], [], []
                    for _ in range(a.rounds):
                        out, speed, _memory = peers.headscope(a, lines.name, precision, beam, batch)
                        found, seconds, tokens, memory = package(a, lines.name, options)
                        assert found == out, "the command says something else"
                        command.append(speed)
                        speeds.append(tokens / seconds)
                        _out, speed, other = peers.ctranslate2(a, lines.name, os.path.join(folder, precision), precision,
                                                               beam, batch)
                        theirs.append(speed)
                        memories.append((memory, other))
                    ours, command, theirs = map(statistics.median, (speeds, command, theirs))
                    print(f"{precision:<6}{beam:>4}{batch:>6}{ours:>10.0f}{command:>10.0f}{theirs:>13.0f}"
                          f"{ours / theirs:>8.2f}{command / theirs:>12.2f}{memories[0][0]:>8.0f}MiB"
                          f"{memories[0][1]:>10.0f}MiB", flush=True)


def main():
    parts = {name[5:]: function for name, function in globals().items() if name.startswith("part_")}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("headscope", "model", "lines"):
        parser.add_argument(name)
    parser.add_argument("parts", nargs="*", metavar="PART", help="default: all")
    for name, default in (("rounds", 7), ("threads", 2), ("count", 500)):
        parser.add_argument("--" + name, type=int, default=default)
    a = parser.parse_args()
    a.translators = 1
    for name in a.parts or parts:
        parts[name](a)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--translate"]:
        translate(*sys.argv[2:])
    else:
        main()
