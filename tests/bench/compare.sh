#!/bin/sh
# Headscope and PyTorch on the same work, one after the other, several rounds, so that whatever else the machine does
# meets both: median tokens/s, peak memory and their ratios.
#
#   tests/bench/compare.sh build/headscope                 everything, 3 rounds
#   ROUNDS=5 tests/bench/compare.sh build/headscope train  one of the works below
#   ROUNDS=1 REPEAT=2 tests/bench/compare.sh build/headscope   a quick look
#   PYTHON=/path/to/venv/bin/python DEVICE=vulkan tests/bench/compare.sh build/headscope
#
#   train      steps of the shipped model's shape, 64 sentences of 32 + 32 tokens
#   multi30k   steps of the shape and the batch of assets/configs/multi30k.json, 2.6 M parameters
#   batch1     greedy decoding, 4+4 layers, 1 sentence
#   batch32    the same, 32 sentences
#   causal     steps of a causal language model, 6 layers, d_model 256, 16 texts of 256 tokens
#   masked     the same of a masked one
#   complete1  that causal model generates with a cache, 1 prompt of 32 tokens, 224 new tokens
#   complete32 the same, 32 prompts
#
# Needs a Python with PyTorch (PYTHON, default python3). DEVICE is headscope's, default cpu.
set -eu

if [ $# -lt 1 ]; then
    sed -n '2,19s/^# \{0,1\}//p' "$0"
    exit 2
fi
headscope=$1
shift
[ $# -gt 0 ] || set -- train multi30k batch1 batch32 causal masked complete1 complete32
python=${PYTHON:-python3}
device=${DEVICE:-cpu}
rounds=${ROUNDS:-3}
repeat=${REPEAT:-5}
folder=$(cd "$(dirname "$0")" && pwd)
model=$folder/../../assets/models/en-de

[ -x "$headscope" ] || { echo "compare.sh: no program '$headscope': build it first, and name it" >&2; exit 1; }
"$python" -c 'import torch' 2>/dev/null ||
    { echo "compare.sh: $python has no PyTorch: name one that has, PYTHON=... $0" >&2; exit 1; }

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
load=$(cut -d ' ' -f 1 /proc/loadavg)

shipped_model() {
    for key in encoder_layers decoder_layers d_model feed_forward.d_ff attention.heads; do
        printf -- '--%s %s ' "$(echo "${key#*.}" | tr _ -)" "$("$headscope" inspect "$model" --key "$key")"
    done
    printf -- '--vocabulary %s' "$("$headscope" inspect "$model" --key target_vocabulary)"
}

shape_of() {
    case $1 in
        train) echo "train $(shipped_model) --sentences 64 --source-length 32 --target-length 32" ;;
        # Captions have some 14 pieces; a step has 8,192 tokens of each side.
        multi30k) echo "train --encoder-layers 4 --decoder-layers 4 --d-model 128 --d-ff 256 --heads 4 --vocabulary 9700" \
            "--dropout 0.3 --sentences 512 --source-length 16 --target-length 16" ;;
        batch1) echo "translate --encoder-layers 4 --decoder-layers 4 --sentences 1 --source-length 32 --target-length 64" ;;
        batch32) echo "translate --encoder-layers 4 --decoder-layers 4 --sentences 32 --source-length 32 --target-length 64" ;;
        causal | masked) echo "train --config $1" ;;
        complete1) echo "complete --sentences 1 --source-length 32 --target-length 224" ;;
        complete32) echo "complete --sentences 32 --source-length 32 --target-length 224" ;;
        *) echo "compare.sh: unknown work '$1', see $0 without arguments" >&2; return 1 ;;
    esac
}

for work in "$@"; do
    shape=$(shape_of "$work")
    shape="$shape --repeat $repeat"
    round=1
    while [ "$round" -le "$rounds" ]; do
        # shellcheck disable=SC2086  # the shape is several words
        "$headscope" bench $shape --device "$device" --json > "$results/$work.$round.headscope"
        # shellcheck disable=SC2086
        "$python" "$folder/pytorch_peer.py" $shape > "$results/$work.$round.pytorch"
        round=$((round + 1))
    done
done

"$python" - "$results" "$load" "$@" <<'PYTHON'
import glob
import json
import os
import statistics
import sys

folder, load, works = sys.argv[1], float(sys.argv[2]), sys.argv[3:]


def results(work, who):
    files = sorted(glob.glob(os.path.join(folder, f"{work}.*.{who}")))
    return [json.load(open(file)) for file in files]


print(f"{'work':<11}{'headscope':>12}{'pytorch':>12}{'ratio':>8}   {'memory':>9}{'pytorch':>9}{'ratio':>8}")
for work in works:
    ours, theirs = results(work, "headscope"), results(work, "pytorch")
    speed = [statistics.median(r["target_tokens_per_second"] for r in side) for side in (ours, theirs)]
    memory = [max(r["peak_resident_bytes"] for r in side) / 2**20 for side in (ours, theirs)]
    print(f"{work:<11}{speed[0]:>10.0f}/s{speed[1]:>10.0f}/s{speed[0] / speed[1]:>8.2f}   "
          f"{memory[0]:>6.0f}MiB{memory[1]:>6.0f}MiB{memory[0] / memory[1]:>8.2f}")
print(f"target tokens per second (median of {len(ours)} rounds) and peak resident memory; headscope on "
      f"{ours[0]['device']} ({ours[0]['device_name']}), PyTorch {theirs[0]['pytorch']} with "
      f"{theirs[0]['threads']} threads, both F32")
if load > 0.5:
    print(f"other programs were running (load {load} at the start): neither side's numbers are this machine's best, and the "
          "ratios are those of a busy machine")
PYTHON
