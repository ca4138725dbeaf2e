#!/usr/bin/env python3
"""Supervised fine-tuning of a model of SmolLM2-135M's shape in `headscope train --task sft` and in TRL, by turns.

    sft_peer.py [--headscope PATH] [--threads N] [--steps N] [--rows N] [--repeats N]

Needs trl (PyPI). The model has random weights, and its tokenizer is trained on the examples, so nothing is downloaded.
Examples have about 250 tokens, and a step has `rows` of them. Both train in F32 on the CPU, with AdamW, without dropout and
without recomputing activations (TRL's default is to recompute them; "trl_checkpointing" does). Prints one JSON object:
seconds a step, the median of all but the first; the largest memory of the process, in MB, of `headscope` with that of
reading and writing models, and beside it that of its steps; and the loss of each step.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

SHAPE = dict(vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
             num_key_value_heads=3, max_position_embeddings=2048, rope_theta=100000.0, tie_word_embeddings=True)
WORDS = "the old king gave a ring to his daughter who had asked for nothing but key of garden every evening she walked " \
        "between apple trees and counted stars that came out over hills".split()
PROMPT, RESPONSE = 50, 200  # words
LONGEST = 280

# Runs a program and writes how much memory it took at most, in KB.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""


def write_inputs(folder, examples):
    import tokenizers
    import transformers
    rng = random.Random(1)
    rows = [{"prompt": " ".join(rng.choices(WORDS, k=PROMPT)), "response": " " + " ".join(rng.choices(WORDS, k=RESPONSE))}
            for _ in range(examples)]
    (folder / "sft.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    bpe.train_from_iterator((row["prompt"] + row["response"] for row in rows), tokenizers.trainers.BpeTrainer(
        vocab_size=600, special_tokens=["<|endoftext|>"], initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False))
    bpe.add_tokens([f"<unused{i}>" for i in range(SHAPE["vocab_size"] - bpe.get_vocab_size())])
    model = folder / "model"
    transformers.PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|endoftext|>").save_pretrained(model)
    transformers.set_seed(1)
    config = transformers.LlamaConfig(**SHAPE, bos_token_id=None, eos_token_id=0, pad_token_id=0)
    transformers.LlamaForCausalLM(config).save_pretrained(model)


def measured(folder, name, command, threads):
    report = folder / f"{name}.memory"
    environment = {**os.environ, "HEADSCOPE_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    with open(folder / f"{name}.log", "w") as log:
        code = subprocess.run([sys.executable, "-c", MEASURE, str(report), *command], env=environment, stdout=log,
                              stderr=log).returncode
    if code != 0:
        sys.exit(f"{name} failed:\n" + (folder / f"{name}.log").read_text()[-2000:])
    return int(report.read_text()) / 1000


def headscope(folder, options):
    base = [options.headscope, "train", "--device", "cpu", "--precision", "f32", "--from", str(folder / "model")]
    out = tempfile.mkdtemp(dir=folder)
    first = pathlib.Path(out) / "first"
    subprocess.run([*base, "--task", "sft", "--text", str(folder / "sft.jsonl"), "--output", str(first), "--steps", "1"],
                   check=True, stderr=subprocess.DEVNULL)
    config = json.loads((first / "training.json").read_text())
    tokens = options.rows * LONGEST
    config["training"].update(source_tokens=tokens, target_tokens=tokens, max_length=LONGEST, micro_batch_tokens=0, report_every=1, ema_decay=0.0,
                              validate_every=0, checkpoint_every=10**6, patience=0, keep_powers_of_two=False, steps=options.steps,
                              average_last=1)
    config["training"].pop("epochs", None)
    (folder / "sft.json").write_text(json.dumps(config))
    megabytes = measured(folder, "headscope", [*base, str(folder / "sft.json"), "--output", f"{out}/run"], options.threads)
    log = [json.loads(line) for line in open(f"{out}/run/log.jsonl")]
    reports = [row for row in log if row["kind"] == "train"]
    return {"seconds": [row["target_tokens"] / row["tokens_per_second"] for row in reports], "megabytes": megabytes,
            "training_megabytes": max(row["memory_bytes"] for row in reports) / 1e6,
            "losses": [row["loss"] for row in reports], "tokens": [row["target_tokens"] for row in reports]}


def trl(folder, options, checkpointing):
    out = folder / "trl.json"
    megabytes = measured(folder, "trl", [sys.executable, __file__, "--child", str(folder), "--rows", str(options.rows), "--steps",
                                         str(options.steps), *(["--checkpointing"] if checkpointing else [])],
                         options.threads)
    return {**json.loads(out.read_text()), "megabytes": megabytes}


def child(options):
    """Writes trl.json."""
    import time

    import datasets
    import torch
    import transformers
    from trl import SFTConfig, SFTTrainer
    folder = pathlib.Path(options.child)

    class Clock(transformers.TrainerCallback):
        def __init__(self):
            self.times, self.losses = [], []

        def on_step_begin(self, *_, **__):
            self.times.append(-time.perf_counter())

        def on_step_end(self, *_, **__):
            self.times[-1] += time.perf_counter()

        def on_log(self, *_, logs=None, **__):
            if "loss" in logs:
                self.losses.append(logs["loss"])

    clock = Clock()
    rows = [json.loads(line) for line in open(folder / "sft.jsonl")]
    config = SFTConfig(output_dir=str(folder / "trl"), per_device_train_batch_size=options.rows, max_steps=options.steps,
                       logging_steps=1, save_strategy="no", report_to=[], use_cpu=True, bf16=False, fp16=False,
                       gradient_checkpointing=options.checkpointing, max_length=LONGEST * 2, learning_rate=2e-5,
                       completion_only_loss=True, packing=False, disable_tqdm=True)
    trainer = SFTTrainer(
        model=transformers.AutoModelForCausalLM.from_pretrained(folder / "model", dtype=torch.float32), args=config,
        train_dataset=datasets.Dataset.from_list([{"prompt": row["prompt"], "completion": row["response"]} for row in rows]),
        processing_class=transformers.AutoTokenizer.from_pretrained(folder / "model"), callbacks=[clock])
    trainer.train()
    (folder / "trl.json").write_text(json.dumps({"seconds": clock.times, "losses": clock.losses}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--headscope", default="build/release/headscope")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--checkpointing", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_inputs(folder, max(64, options.rows * (options.steps + 1)))
        runs = {"headscope": [], "trl": [], "trl_checkpointing": []}
        for _ in range(options.repeats):
            runs["headscope"].append(headscope(folder, options))
            runs["trl"].append(trl(folder, options, False))
            runs["trl_checkpointing"].append(trl(folder, options, True))
        print(json.dumps({name: {"seconds_per_step": statistics.median(s for run in of for s in run["seconds"][1:]),
                                 "megabytes": max(run["megabytes"] for run in of), "losses": of[0]["losses"],
                                 **{key: of[0][key] for key in ("tokens", "training_megabytes") if key in of[0]}}
                          for name, of in runs.items()}, indent=2))


if __name__ == "__main__":
    main()
