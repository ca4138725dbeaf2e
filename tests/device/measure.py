#!/usr/bin/env python3
"""What the parts of run.sh work out from files and outputs. Lines that begin with NOTE: are for the summary.

  measure.py vulkan [--software]     of `headscope devices --json` on standard input, the first usable Vulkan GPU
  measure.py config FILE tiny|whole  a training configuration for comparing, made from a shipped one
  measure.py curves A B PRECISION    the greatest difference of two runs' losses; fails where it is above the bound
  measure.py alike A B               whether two runs are the same bit for bit: losses, checkpoints, model
  measure.py tests                   of outputs of Catch2 on standard input, the sum of what was tested
  measure.py switches                of `headscope devices --json` on standard input with an unknown word in
                                     HEADSCOPE_CUDA_DISABLE, the words that the program knows, one a line, each with the
                                     work that it is measured with
  measure.py ablation ALL WORD FILE  what a step gains by the kernels of a word, beside the prediction
  measure.py variant ALL NAME FILE   how fast a variant of the module is
  measure.py profile FILE [dry]      the ops of a profile that are to be fast enough; fails where one is not
  measure.py ops FILE                a line for each op and shape of `headscope bench ops --json`
"""
import glob
import json
import os
import re
import statistics
import sys

import predictions

# Of a step's loss per token, over its size. F32: rounding alone, which training makes grow. 16 bits: what storing
# activations in 8 or 11 significant bits costs; a wrong gradient shows in the first digits.
BOUNDS = {"f32": 1e-3, "bf16": 5e-2, "f16": 2e-2}


def vulkan(*options):
    for device in json.load(sys.stdin):
        if device["backend"] == "vulkan" and device["usable"] and (device["gpu"] or "--software" in options):
            print(device["id"])
            return


def config(file, size):
    with open(file) as stream:
        made = json.load(stream)
    training = made["training"]
    for key in ("cooldown_steps", "compute", "precision", "minutes"):
        training.pop(key, None)
    training.update(report_every=1, validate_every=0, checkpoint_every=10, keep_last=100, residual_dropout=0.1,
                    attention_dropout=0.1, embedding_dropout=0.1, length_multiple=8)
    if size == "tiny":
        made["model"].update(encoder_layers=1, decoder_layers=1, d_model=32)
        made["model"]["feed_forward"]["d_ff"] = 64
        made["model"]["attention"]["heads"] = 2
        training.update(source_tokens=128, target_tokens=128, checkpoint_every=2)
    print(json.dumps(made, indent=2))


def log_of(folder):
    with open(os.path.join(folder, "log.jsonl")) as stream:
        lines = [json.loads(line) for line in stream]
    return {line["step"]: line for line in lines if line["kind"] == "train"}


def curves(a, b, precision):
    first, second = log_of(a), log_of(b)
    if not first or first.keys() != second.keys():
        sys.exit(f"{a} has steps {sorted(first)}, {b} has {sorted(second)}")
    skipped = [step for step, line in first.items() if line["skipped"]]
    apart = {step: abs(first[step]["loss"] - second[step]["loss"]) / abs(second[step]["loss"])
             for step in first if step not in skipped}
    worst = max(apart, key=apart.get)
    last = max(first)
    print(f"NOTE: {a} and {b}: over {last} steps the losses differ by {apart[worst]:.2g} at most (step {worst}; bound "
          f"{BOUNDS[precision]:g}), {first[1]['loss']:.4f} to {first[last]['loss']:.4f}")
    if skipped:
        print(f"NOTE: {a} skipped the steps {skipped}, whose gradients were not finite")
    if not apart[worst] <= BOUNDS[precision]:
        sys.exit("which is more than rounding")


def tensors_of(file):
    """Names, shapes and values: not the metadata, which tells how long the training took."""
    with open(file, "rb") as stream:
        content = stream.read()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    return header, content[start:]


def alike(a, b):
    for step, line in log_of(a).items():
        other = log_of(b)[step]
        for key in ("loss", "nll", "gradient_norm"):
            if line[key] != other[key]:
                sys.exit(f"step {step}: {key} is {line[key]!r} in {a} and {other[key]!r} in {b}")
    files = sorted(glob.glob(os.path.join(a, "checkpoints", "step-*.safetensors")))
    files.append(os.path.join(a, "model", "model.safetensors"))
    for file in files:
        if tensors_of(file) != tensors_of(file.replace(a, b, 1)):
            sys.exit(f"{file} has other values in {b}")
    print(f"NOTE: {len(log_of(a))} losses, {len(files) - 1} checkpoints and the model are the same to the bit")


# ------------------------------------------------------------------------------------------------- tests and switches


def tests():
    """Catch2 2 and 3 end with either form."""
    text = sys.stdin.read()
    counts = {"test cases": [0, 0], "assertions": [0, 0]}  # all, failed
    for assertions, cases in re.findall(r"All tests passed \((\d+) assertions? in (\d+) test cases?\)", text):
        counts["test cases"][0] += int(cases)
        counts["assertions"][0] += int(assertions)
    for kind, line in re.findall(r"^(test cases|assertions): +(.*)$", text, re.MULTILINE):
        counts[kind][0] += int(line.split()[0])
        counts[kind][1] += sum(int(number) for number in re.findall(r"(\d+) failed", line))
    print("NOTE: " + ", ".join(f"{every} {kind}" + (f" ({failed} failed)" if failed else "")
                               for kind, (every, failed) in counts.items()))


def switches():
    for device in json.load(sys.stdin):
        words = re.search(r"HEADSCOPE_CUDA_DISABLE names .*; expected words out of ([a-z0-9_, ]+), separated",
                          device.get("rejected", ""))
        if words:
            print("\n".join(f"{word} {predictions.work_of(word)}" for word in words[1].split(", ")))
            return
    sys.exit("no device says what HEADSCOPE_CUDA_DISABLE may name")


# ------------------------------------------------------------------------------------------------- speed


def read_json(file):
    """What a file holds from its first brace on; none if it is missing or was cut off."""
    try:
        with open(file) as stream:
            text = stream.read()
        return json.loads(text[text.index("{"):])
    except (OSError, ValueError):
        return None


def step_of(file):
    return read_json(file)["milliseconds_per_step"]


def ablation(everything, word, file):
    gain = step_of(file) - step_of(everything)
    predicted = predictions.gain_of(word)
    print(f"NOTE: {word} {gain:+.3f} ms (" + ("not predicted" if predicted is None else f"predicted {predicted:+.2f}")
          + ")")


def variant(everything, name, file):
    print(f"NOTE: {name} {step_of(file):.2f} ms a step, {step_of(file) - step_of(everything):+.2f}")


def milliseconds_of_ops(result):
    """Of one step, by op."""
    steps = max(1, round(1e3 * statistics.median(result["run_seconds"]) / result["milliseconds_per_step"]))
    return {op["op"]: op["milliseconds"] / steps for op in result["profile"]}


def profile(file, dry=""):
    found = milliseconds_of_ops(read_json(file))
    slow = []
    for op, most in predictions.OPS_AT_MOST.items():
        if op in found:
            print(f"NOTE: {op} {found[op]:.2f} ms (predicted {predictions.of_op(op)}, at most {most})")
            if found[op] > most:
                slow.append(op)
    if slow and not dry:
        sys.exit("too slow: " + ", ".join(slow))


def ops(file):
    for op in read_json(file)["ops"]:
        for result in op["results"]:
            if "median_seconds" in result:
                rate = result.get("gflops_per_second")
                print(f"{op['op']:<24}{op['shape']:<36}{1e3 * result['median_seconds']:>10.4f} ms"
                      + (f"{rate / 1e3:>10.1f} TFLOP/s" if rate else ""))


if __name__ == "__main__":
    parts = {each.__name__: each for each in (vulkan, config, curves, alike, tests, switches, ablation, variant,
                                              profile, ops)}
    if len(sys.argv) < 2 or sys.argv[1] not in parts:
        sys.exit(__doc__)
    parts[sys.argv[1]](*sys.argv[2:])
