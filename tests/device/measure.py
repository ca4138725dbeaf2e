#!/usr/bin/env python3
"""What run.sh works out from files: how far two trainings are apart, and the summary of a whole run.

  measure.py vulkan [--software]     of `headscope devices --json` on standard input, the first usable Vulkan GPU
  measure.py config FILE tiny|whole  a training configuration for comparing, made from a shipped one
  measure.py curves A B PRECISION    the greatest difference of two runs' losses; fails where it is above the bound
  measure.py alike A B               whether two runs are the same bit for bit: losses, checkpoints, model
  measure.py summary WORK COMMIT SECONDS [dry]
"""
import datetime
import glob
import json
import os
import platform
import re
import sys

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
        made["model"].update(encoder_layers=1, decoder_layers=1, d_model=32, d_ff=64, heads=2)
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


# ------------------------------------------------------------------------------------------------- summary


def read_json(file):
    try:
        with open(file) as stream:
            text = stream.read()
        return json.loads(text[text.index("{"):])
    except (OSError, ValueError):
        return None


def commands_of(work, part):
    try:
        with open(os.path.join(work, "logs", part + ".log"), errors="replace") as stream:
            return [line[2:].strip() for line in stream if line.startswith("+ ")]
    except OSError:
        return []


def device_lines(work):
    try:
        with open(os.path.join(work, "devices.json")) as stream:
            text = stream.read()
        devices = json.loads(text[text.index("["):])
    except (OSError, ValueError):
        return ["The devices are not known."]
    return [f"- {d['id']}: " + (f"{d['name']}; {d['driver']}; {d['memory_bytes'] / 2**30:.0f} GiB" if d["usable"] else
                                f"cannot be used: {d['rejected']}") for d in devices]


def memory(result):
    return f"{result['peak_device_bytes'] / 2**30:.2f} GiB" if "peak_device_bytes" in result else "unknown"


def speed_rows(work):
    benches = {}
    for file in sorted(glob.glob(os.path.join(work, "bench", "*-*-*-*.json"))):
        who, work_name, precision, how = os.path.basename(file)[:-5].split("-")
        result = read_json(file)
        if result:
            benches[work_name, precision, who, how] = result
    for (work_name, precision, who, _), ours in sorted(benches.items()):
        if who != "headscope":
            continue
        peers = [benches.get((work_name, precision, "pytorch", how)) for how in ("eager", "compiled")]
        speed = ours["target_tokens_per_second"]
        share = ours.get("share_of_peak")
        row = [f"{work_name}, {precision}", f"{ours['milliseconds_per_step']:.2f} ms", f"{speed:,.0f}",
               f"{ours['teraflops_per_second']:.3g}" if "teraflops_per_second" in ours else "",
               f"{100 * share:.1f} %" if share else "", memory(ours)]
        for peer in peers:
            row.append(f"{peer['target_tokens_per_second']:,.0f} ({memory(peer)})" if peer else "")
        row += [f"{speed / peer['target_tokens_per_second']:.2f}" if peer else "" for peer in peers]
        yield row


def table(head, alignment, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(alignment) + "|"]
    return lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def summary(work, commit, seconds, dry=""):
    with open(os.path.join(work, "outcomes")) as stream:
        outcomes = [line.rstrip("\n").split("\t") for line in stream]
    counts = {}
    for _, outcome, *_ in outcomes:
        counts[outcome] = counts.get(outcome, 0) + 1
    title = "Dry run, without a GPU" if dry else "The device tests"
    lines = [f"# {title}", "", f"{datetime.date.today()}. {platform.platform()}, {os.cpu_count()} cores; {seconds} s in "
             "all: " + ", ".join(f"{number} {outcome}" for outcome, number in counts.items()) + ".", "", "Commit "
             + commit.replace("\n", "; ") + ".", ""]
    lines += device_lines(work)
    with_words = [[f"`{part}`", what, outcome, took + " s", note] for part, outcome, took, what, note in outcomes]
    lines += ["", "## What was run", ""] + table(["part", "what", "outcome", "time", ""],
                                               ["---", "---", "---", "---:", "---"], with_words)
    rows = list(speed_rows(work))
    if rows:
        lines += ["", "## Speed", ""]
        lines += table(["work", "a step", "target tokens/s", "TFLOP/s", "of the peak", "memory", "PyTorch eager",
                        "compiled", "ratio", "compiled"], ["---"] + ["---:"] * 9, rows)
        lines += ["", "A ratio above 1 is Headscope's advantage. The peak is what a large product reaches in the same run."]
    profile = read_json(os.path.join(work, "bench", "profile.json"))
    if profile and "profile" in profile:
        lines += ["", "## Where a step's time goes (" + profile.get("profile_clock", "every op waited for") + ")", ""]
        lines += table(["op", "calls", "ms", "share"], ["---", "---:", "---:", "---:"],
                       [[op["op"], str(op["calls"]), f"{op['milliseconds']:.2f}", f"{100 * op['share']:.1f} %"]
                        for op in profile["profile"]])
    lines += ["", "## Commands", ""]
    for part, *_ in outcomes:
        commands = commands_of(work, part)
        if commands:
            lines += [f"`{part}`", ""] + [f"    {command}" for command in commands] + [""]
    print(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)))


if __name__ == "__main__":
    parts = {"vulkan": vulkan, "config": config, "curves": curves, "alike": alike, "summary": summary}
    if len(sys.argv) < 2 or sys.argv[1] not in parts:
        sys.exit(__doc__)
    parts[sys.argv[1]](*sys.argv[2:])
