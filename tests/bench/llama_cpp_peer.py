#!/usr/bin/env python3
"""Decoding of a GGUF file by `headscope complete` and by llama.cpp (`pip install xllamacpp`), one after the other.

    llama_cpp_peer.py MODEL.gguf [--headscope PATH] [--threads N] [--tokens N] [--repeats N]

Greedy, one sentence, on the CPU. Tokens a second are those of the tokens behind the first ones, so that starting, reading
the file and the prompt do not count; of several repeats the best counts, and both programs take turns. Prints one JSON
object, with the most memory that `headscope` held and whether the texts begin alike.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

PROMPT = "The history of the steam engine begins"
SHORT = 8  # tokens, of the run whose time is taken off


def complete(options, tokens):
    """The text, seconds, and the most memory in MB."""
    with tempfile.NamedTemporaryFile("r") as report:
        command = ["/usr/bin/env", "python3", "-c", MEASURE, report.name, options.headscope, "complete", "--device", "cpu",
                   "--model", options.model, "--max-tokens", str(tokens), "--min-length", str(tokens), PROMPT]
        start = time.perf_counter()
        run = subprocess.run(command, env={**os.environ, "HEADSCOPE_THREADS": str(options.threads)}, check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return run.stdout, time.perf_counter() - start, int(report.read()) / 1000


# Starts a program and writes how much memory it took at most, in KB.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""


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

    def complete(self, tokens):
        """The text, and tokens a second as llama.cpp takes them: without the prompt."""
        answer = self.server.handle_completions({"prompt": PROMPT, "max_tokens": tokens, "temperature": 0.0,
                                                 "ignore_eos": True, "cache_prompt": False})
        return answer["choices"][0]["text"], answer["timings"]["predicted_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--headscope", default="headscope")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    llama = Llama(options)
    ours, theirs, megabytes = [], [], 0.0
    for _ in range(options.repeats):
        their_text, speed = llama.complete(options.tokens)
        theirs.append(speed)
        _, short, _ = complete(options, SHORT)
        our_text, long, held = complete(options, options.tokens)
        ours.append((options.tokens - SHORT) / (long - short))
        megabytes = max(megabytes, held)
    same = os.path.commonprefix([our_text.removeprefix(PROMPT).strip(), their_text.strip()])
    print(json.dumps({"threads": options.threads, "tokens": options.tokens, "headscope": round(max(ours), 1),
                      "llama_cpp": round(max(theirs), 1), "ratio": round(max(ours) / max(theirs), 2),
                      "megabytes": round(megabytes), "same_characters": len(same)}))


main()
