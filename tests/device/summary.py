#!/usr/bin/env python3
"""The documents that run.sh leaves after every part.

  summary.py summary|results WORK SECONDS [dry]    on standard output; `results` is what assets/results has of a card
"""
import datetime
import glob
import json
import os
import platform
import re
import sys

import predictions
from measure import milliseconds_of_ops, read_json

NO_MEASUREMENT = ["left out", "NOT RUN"]


def table(head, alignment, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(alignment) + "|"]
    return lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def outcomes_of(work):
    """Name, outcome, seconds, what, note; those that have begun and not ended last."""
    with open(os.path.join(work, "outcomes")) as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream]
    for name in sorted(os.listdir(os.path.join(work, "running"))):
        with open(os.path.join(work, "running", name)) as stream:
            rows.append([name, "RUNNING", "", stream.read().strip(), "when this was written"])
    return rows


def commands_of(work, part):
    try:
        with open(os.path.join(work, "logs", part + ".log"), errors="replace") as stream:
            return [line[2:].strip() for line in stream if line.startswith("+ ")]
    except OSError:
        return []


def devices_of(work):
    try:
        with open(os.path.join(work, "devices.json")) as stream:
            text = stream.read()
        return json.loads(text[text.index("["):])
    except (OSError, ValueError):
        return []


def device_lines(work):
    return [f"- {d['id']}: " + (f"{d['name']}; {d['driver']}; {d['memory_bytes'] / 2**30:.0f} GiB" if d["usable"] else
                                f"cannot be used: {d['rejected']}") for d in devices_of(work)] or \
        ["The devices are not known."]


# ------------------------------------------------------------------------------------------------- speed


def benches_of(work):
    """By who, work, precision and how."""
    found = {}
    for file in sorted(glob.glob(os.path.join(work, "bench", "*-*-*-*.json"))):
        result = read_json(file)
        if result:
            found[tuple(os.path.basename(file)[:-5].split("-", 3))] = result
    return found


def memory(result):
    return f"{result['peak_device_bytes'] / 2**30:.2f} GiB" if "peak_device_bytes" in result else "unknown"


def speed_table(work):
    benches = benches_of(work)
    ceilings = read_json(os.path.join(work, "bench", "ceilings.json")) or {}
    rows = []
    for (who, what, precision, how), ours in sorted(benches.items(), key=lambda each: each[0][1:]):
        if who != "headscope":
            continue
        has_peak = precision in ("bf16", "f16") and how != "vulkan"
        peak = ceilings.get("product_teraflops_per_second") if has_peak else None
        rate = ours["teraflops_per_second"]
        row = [f"{what}, {precision}{', ' + how.replace('_', ' ') if how else ''}",
               f"{ours['milliseconds_per_step']:.2f} ms", f"{ours['target_tokens_per_second']:,.0f}", f"{rate:.3g}",
               f"{100 * rate / peak:.1f} %" if peak else "", memory(ours)]
        for peer in ("eager", "compiled"):
            other = None if how else benches.get(("pytorch", what, precision, peer))
            row.append("" if other is None else
                       f"{other['target_tokens_per_second']:,.0f} ({memory(other)}), ratio "
                       f"{ours['target_tokens_per_second'] / other['target_tokens_per_second']:.2f}")
        rows.append(row)
    if not rows:
        return []
    return ["## Speed", ""] + table(["work", "a step", "target tokens/s", "TFLOP/s", "of the peak", "memory",
                                    "PyTorch eager", "compiled"], ["---"] + ["---:"] * 7, rows) + \
        ["", "A ratio above 1 is Headscope's advantage. The peak is that of a large product in BF16 by PyTorch.", ""]


def verdict(found, most, comparable):
    return "" if most is None or not comparable else "as wanted" if found <= most else "TOO SLOW"


def prediction_table(work, dry):
    """Each prediction with what was measured, or an empty cell."""
    before = predictions.table()
    benches = benches_of(work)
    step = benches.get(("headscope", "train", "bf16", ""))
    profile = read_json(os.path.join(work, "bench", "profile.json"))
    ops = milliseconds_of_ops(profile) if profile and "profile" in profile else {}
    whole = step["milliseconds_per_step"] if step else None
    rows = []
    for name, (was, predicted) in before.items():
        found = whole if name == "the whole step" else ops.get(name)
        most = predictions.STEP_AT_MOST if name == "the whole step" else predictions.OPS_AT_MOST.get(name)
        rows.append([name, f"{was:.2f}", f"{predicted:.2f}", f"{most:.2f}" if most else "",
                     "" if found is None else f"{found:.2f}", "" if found is None else verdict(found, most, not dry)])
    compiled = benches.get(("pytorch", "train", "bf16", "compiled"))
    if step and compiled:
        ratio = step["target_tokens_per_second"] / compiled["target_tokens_per_second"]
        rows.append(["speed over compiled PyTorch", "0.79", "1.8", f"at least {predictions.RATIO_AT_LEAST}",
                     f"{ratio:.2f}", "" if dry else "as wanted" if ratio >= predictions.RATIO_AT_LEAST else "TOO SLOW"])
    lines = ["## Predictions", "", "A training step of the base model in BF16 on an H200, in milliseconds (docs/cuda.md)."
             + (" The measurements are of a small model on an emulator: they compare with nothing." if dry else
                " Another card has other bounds: of an H100, what memory limits takes 1.43 times as long."), ""]
    lines += table(["what", "before", "predicted", "wanted at most", "measured", ""],
                   ["---"] + ["---:"] * 4 + ["---"], rows)
    return lines + [""] + ablation_table(work)


def ablation_table(work):
    rows = []
    for file in sorted(glob.glob(os.path.join(work, "bench", "without-*.json"))):
        word = os.path.basename(file)[len("without-"):-len(".json")]
        measured_with = predictions.work_of(word)
        result = read_json(file)
        everything = read_json(os.path.join(work, "bench", f"with-all-{measured_with}.json"))
        if result and everything:
            predicted, whole = predictions.gain_of(word), everything["milliseconds_per_step"]
            rows.append([f"`{word}`", predictions.WORKS[measured_with], f"{whole:.3f}",
                         "" if predicted is None else f"{predicted:.2f}",
                         f"{result['milliseconds_per_step'] - whole:.3f}"])
    if not rows:
        return []
    return ["How much longer a step is without the kernels of a word of `HEADSCOPE_CUDA_DISABLE`, in milliseconds:", ""] + \
        table(["word", "of", "with all", "longer, predicted", "measured"], ["---", "---"] + ["---:"] * 3, rows) + [""]


def profile_table(work):
    profile = read_json(os.path.join(work, "bench", "profile.json"))
    if not profile or "profile" not in profile:
        return []
    ops = milliseconds_of_ops(profile)
    rows = [[op["op"], f"{ops[op['op']]:.2f}", f"{100 * op['share']:.1f} %"] for op in profile["profile"]]
    return ["## Where a step's time goes (" + profile.get("profile_clock", "every op waited for") + ")", ""] + \
        table(["op", "ms", "share"], ["---", "---:", "---:"], rows) + [""]


def peer_table(work):
    lines = []
    for how in ("compiled", "eager"):
        result = read_json(os.path.join(work, "bench", f"pytorch-train-bf16-{how}.json"))
        if result and result.get("kernels"):
            rows = [[f"`{each['kernel'][:90]}`", f"{each['calls']:.0f}", f"{each['milliseconds']:.3f}"]
                    for each in result["kernels"][:25]]
            lines += [f"## PyTorch's kernels in a training step, {how}", ""] + \
                table(["kernel", "calls", "ms"], ["---", "---:", "---:"], rows) + [""]
    return lines


def ceiling_lines(work):
    found = read_json(os.path.join(work, "bench", "ceilings.json"))
    if not found:
        return []
    graph = found.get("launch_in_graph_microseconds")
    return [f"PyTorch {found['pytorch']} copies {found['copy_terabytes_per_second']:.2f} TB/s, multiplies "
            f"{found['product_teraflops_per_second']:.0f} TFLOP/s in BF16 ({found['product_side']} squared), and launches a "
            f"kernel in {found['launch_microseconds']:.1f} us"
            + (f", in a graph in {graph:.1f} us." if graph else "."), ""]


# ------------------------------------------------------------------------------------------------- documents


def summary(work, seconds, dry):
    with open(os.path.join(work, "kit", "commit")) as stream:
        commit = "; ".join(stream.read().split("\n")).strip("; ")
    outcomes = outcomes_of(work)
    counts = {}
    for _, outcome, *_ in outcomes:
        counts[outcome] = counts.get(outcome, 0) + 1
    title = "Dry run, without a GPU" if dry else "The device tests"
    lines = [f"# {title}", "", f"{datetime.date.today()}. {platform.platform()}, {os.cpu_count()} cores; {seconds} s so "
             "far: " + ", ".join(f"{number} {outcome}" for outcome, number in counts.items()) + ".", "",
             f"Commit {commit}.", ""]
    lines += device_lines(work) + ["", "## What was run", ""]
    lines += table(["part", "what", "outcome", "time", ""], ["---", "---", "---", "---:", "---"],
                   [[f"`{part}`", what, outcome, took + " s", note] for part, outcome, took, what, note in outcomes])
    lines += [""] + speed_table(work) + ceiling_lines(work) + prediction_table(work, dry) + profile_table(work)
    lines += peer_table(work) + ["## Commands", ""]
    for part, *_ in outcomes:
        commands = commands_of(work, part)
        if commands:
            lines += [f"`{part}`", ""] + [f"    {command}" for command in commands] + [""]
    return lines


def results(work, seconds, dry):
    cards = [d for d in devices_of(work) if d["usable"] and d["backend"] == "cuda"]
    title = f"{cards[0]['name']}, {cards[0]['driver']}" if cards else "An unknown card"
    lines = [f"# {title}, {os.cpu_count()} cores", "", f"{datetime.date.today()}; {seconds} s."
             + (" A dry run without a GPU: no number means anything." if dry else ""), "",
             "    tests/device/run.sh out/device-kit RESULTS", ""]
    lines += speed_table(work) + ceiling_lines(work) + prediction_table(work, dry) + profile_table(work)
    checked = [row for row in outcomes_of(work) if row[1] not in NO_MEASUREMENT]
    lines += ["## What was run", ""]
    return lines + table(["what", "outcome", ""], ["---", "---", "---"],
                         [[what, outcome, note] for _, outcome, _, what, note in checked])


if __name__ == "__main__":
    documents = {"summary": summary, "results": results}
    if len(sys.argv) < 4 or sys.argv[1] not in documents:
        sys.exit(__doc__)
    made = documents[sys.argv[1]](sys.argv[2], sys.argv[3], "dry" in sys.argv[4:])
    print(re.sub(r"\n{3,}", "\n\n", "\n".join(made)))
