#!/usr/bin/env python3
"""A GGUF file in `headscope complete` and in llama.cpp (`pip install xllamacpp`), by turns.

    llama_cpp_peer.py MODEL.gguf [--headscope PATH] [--threads N] [--tokens N] [--repeats N] [--native LLAMA_BENCH]

Greedy, on the CPU. "decoding" is of the tokens behind the first ones, so that starting, reading the file and the
prompt do not count; "prompt" is of a long prompt without what a short one takes. Both in tokens a second, by the
clock, and by the processors' time ("cpu"), which counts on a busy machine; medians of the repeats. "native" is
llama.cpp's own `llama-bench`, compiled for this machine, on as many pieces; by the clock only. "two_at_once" is what
each of two `headscope` keeps of its speed alone when both decode at the same time. Prints one JSON object, with the
most memory that `headscope` held and how many characters of the texts are the same.
"""
import argparse
import concurrent.futures
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time

PROMPT = "The history of the steam engine begins"
LONG = ("The old king gave a ring to his daughter, who had asked for nothing but the key of the garden. Every evening she "
        "walked between the apple trees and counted the stars that came out over the hills. ") * 9
SHORT = 8  # tokens, of the run whose time is taken off

# Starts a program and writes how much memory it took at most, in KB.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""


def timed(who, run):
    """What it returns, and seconds by the clock and of the processors."""
    before, start = resource.getrusage(who).ru_utime, time.perf_counter()
    result = run()
    return result, (time.perf_counter() - start, resource.getrusage(who).ru_utime - before)


class Headscope:
    def __init__(self, options):
        self.options = options
        self.megabytes = 0.0

    def complete(self, prompt, tokens):
        with tempfile.NamedTemporaryFile("r") as report:
            command = ["/usr/bin/env", "python3", "-c", MEASURE, report.name, self.options.headscope, "complete",
                       "--device", "cpu", "--model", self.options.model, "--max-tokens", str(tokens), "--min-length",
                       str(tokens), prompt]
            environment = {**os.environ, "HEADSCOPE_THREADS": str(self.options.threads)}
            done, seconds = timed(resource.RUSAGE_CHILDREN,
                                  lambda: subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE,
                                                         stderr=subprocess.DEVNULL, text=True))
            self.megabytes = max(self.megabytes, int(report.read()) / 1000)
            return done.stdout.removeprefix(prompt), seconds

    def pieces(self, text):
        return len(subprocess.run([self.options.headscope, "tokenize", "--model", self.options.model, "--ids", "--text",
                                   text], check=True, capture_output=True, text=True).stdout.split())


class Llama:
    def __init__(self, options):
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = options.model
        parameters.n_ctx = 1024
        parameters.n_parallel = 1
        parameters.cpuparams.n_threads = options.threads
        parameters.cpuparams_batch.n_threads = options.threads
        self.server = xllamacpp.Server(parameters)

    def complete(self, prompt, tokens):
        answer, seconds = timed(resource.RUSAGE_SELF, lambda: self.server.handle_completions(
            {"prompt": prompt, "max_tokens": tokens, "temperature": 0.0, "ignore_eos": True, "cache_prompt": False}))
        return answer["choices"][0]["text"], seconds


class Native:
    """llama-bench: pieces a second of a prompt and of decoding."""

    def __init__(self, options, prompt):
        self.command = [options.native, "-m", options.model, "-t", str(options.threads), "-p", str(prompt), "-n",
                        str(options.tokens), "-r", "1", "-o", "json"]

    def speeds(self):
        rows = json.loads(subprocess.run(self.command, check=True, capture_output=True, text=True).stdout)
        return {"prompt" if row["n_prompt"] else "decoding": row["avg_ts"] for row in rows}


def at_once(program, tokens):
    """The seconds that each of two decodings takes beside the other."""
    def seconds(count):
        return program.complete(PROMPT, count)[1][0]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        short = list(pool.map(seconds, [SHORT] * 2))
        long = list(pool.map(seconds, [tokens] * 2))
    return difference(long, short)


def difference(longer, shorter):
    return [one - other for one, other in zip(longer, shorter)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--headscope", default="headscope")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--native", help="llama-bench of a llama.cpp compiled for this machine")
    options = parser.parse_args()
    ours = Headscope(options)
    programs = {"headscope": ours, "llama_cpp": Llama(options)}
    decoding = {name: [] for name in programs}
    reading = {name: [] for name in programs}
    prompt_tokens = ours.pieces(LONG) - ours.pieces(PROMPT)
    native = Native(options, prompt_tokens) if options.native else None
    texts, native_speeds, beside = {}, [], []
    for _ in range(options.repeats):
        for name, program in programs.items():
            _, short = program.complete(PROMPT, SHORT)
            texts[name], long = program.complete(PROMPT, options.tokens)
            _, prompt = program.complete(LONG, SHORT)
            decoding[name].append(difference(long, short))
            reading[name].append(difference(prompt, short))
        beside += at_once(ours, options.tokens)
        if native:
            native_speeds.append(native.speeds())
    report = {"threads": options.threads, "tokens": options.tokens,
              "prompt_tokens": prompt_tokens, "megabytes": round(ours.megabytes)}
    for what, seconds, tokens in (("decoding", decoding, options.tokens - SHORT),
                                  ("prompt", reading, report["prompt_tokens"])):
        for place, clock in enumerate(("", "_cpu")):
            speeds = {name: tokens / statistics.median(one[place] for one in seconds[name]) for name in programs}
            report[what + clock] = {name: round(speed, 1) for name, speed in speeds.items()}
            report[what + clock]["ratio"] = round(speeds["headscope"] / speeds["llama_cpp"], 2)
            if native and not clock:
                fastest = statistics.median(one[what] for one in native_speeds)
                report[what] |= {"native": round(fastest, 1), "ratio_native": round(speeds["headscope"] / fastest, 2)}
    alone = statistics.median(seconds[0] for seconds in decoding["headscope"])
    report["two_at_once"] = [round(alone / max(beside), 2), round(alone / min(beside), 2)]
    same = os.path.commonprefix([text.strip() for text in texts.values()])
    print(json.dumps({**report, "same_characters": len(same)}))


main()
