#!/usr/bin/env python3
"""A GGUF file in `headscope complete` and in llama.cpp (`pip install xllamacpp`), by turns.

    llama_cpp_peer.py MODEL.gguf [--headscope PATH] [--threads N] [--tokens N] [--repeats N]

Greedy, on the CPU. "decoding" is of the tokens behind the first ones, so that starting, reading the file and the prompt do
not count; "prompt" is of a long prompt without what a short one takes. Both in tokens a second, by the clock, and by the
processors' time ("cpu"), which counts on a busy machine; medians of the repeats. Prints one JSON object, with the most
memory that `headscope` held and how many characters of the texts are the same.
"""
import argparse
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


def difference(longer, shorter):
    return [one - other for one, other in zip(longer, shorter)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--headscope", default="headscope")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    ours = Headscope(options)
    programs = {"headscope": ours, "llama_cpp": Llama(options)}
    decoding = {name: [] for name in programs}
    reading = {name: [] for name in programs}
    texts = {}
    for _ in range(options.repeats):
        for name, program in programs.items():
            _, short = program.complete(PROMPT, SHORT)
            texts[name], long = program.complete(PROMPT, options.tokens)
            _, prompt = program.complete(LONG, SHORT)
            decoding[name].append(difference(long, short))
            reading[name].append(difference(prompt, short))
    report = {"threads": options.threads, "tokens": options.tokens,
              "prompt_tokens": ours.pieces(LONG) - ours.pieces(PROMPT), "megabytes": round(ours.megabytes)}
    for what, seconds, tokens in (("decoding", decoding, options.tokens - SHORT),
                                  ("prompt", reading, report["prompt_tokens"])):
        for place, clock in enumerate(("", "_cpu")):
            speeds = {name: tokens / statistics.median(one[place] for one in seconds[name]) for name in programs}
            report[what + clock] = {name: round(speed, 1) for name, speed in speeds.items()}
            report[what + clock]["ratio"] = round(speeds["headscope"] / speeds["llama_cpp"], 2)
    same = os.path.commonprefix([text.strip() for text in texts.values()])
    print(json.dumps({**report, "same_characters": len(same)}))


main()
