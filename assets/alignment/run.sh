#!/usr/bin/env bash
# The chain from a base model to one that follows instructions, on a made task whose rules are known: base, sft, reward,
# dpo, ppo, and ppo without a price for leaving the reference. Prints one table. Goes on where it was stopped.
#
#   assets/alignment/run.sh [FOLDER]      default: out/alignment
#   HEADSCOPE=PROGRAM                     default: build/release/headscope
#   SEED=N                                of the task and the samples; default: 1
set -euo pipefail

readonly HEADSCOPE=${HEADSCOPE:-build/release/headscope}
readonly FOLDER=${1:-out/alignment}
readonly SEED=${SEED:-1}
HERE=$(dirname "${BASH_SOURCE[0]}")
readonly HERE
readonly DATA=$FOLDER/data
command -v jq >/dev/null || { echo 'run.sh: jq is missing' >&2; exit 1; }

stage() {  # NAME OPTIONS..: a training, unless it has ended
    local name=$1 begin=$SECONDS before
    shift
    if [ -e "$FOLDER/$name/model/config.json" ]; then
        return
    fi
    echo "== $name"
    if compgen -G "$FOLDER/$name/checkpoints/step-*" >/dev/null; then
        set -- --resume
    fi
    if ! "$HEADSCOPE" train --output "$FOLDER/$name" "$@" 2>&1 | tee "$FOLDER/$name.txt"; then
        grep -q 'the model has collapsed' "$FOLDER/$name.txt" || exit 1
        "$HEADSCOPE" train --output "$FOLDER/$name" --finish
    fi
    before=$(cat "$FOLDER/$name.seconds" 2>/dev/null || echo 0)
    echo $((before + SECONDS - begin)) >"$FOLDER/$name.seconds"
}

# A sample to each test question, at temperature 1. The divergence is the mean of log P - log P of the SFT model over
# the responses; those that are empty or did not end have no log-probability there and are left out.
row() {  # NAME
    local name=$1 answers=$FOLDER/$1.answers.jsonl kl=-
    "$HEADSCOPE" complete --model "$FOLDER/$name" --sample --seed "$SEED" --max-tokens 40 --json \
        --file "$DATA/test-prompts.txt" --output "$answers"
    if [ "$name" != base ]; then
        jq -c 'select(.end == "end" and (.completion | test("[^ ]")))' "$answers" >"$FOLDER/$name.ended.jsonl"
        if [ -s "$FOLDER/$name.ended.jsonl" ]; then
            jq -c '{prompt, response: (.completion | ltrimstr(" "))}' "$FOLDER/$name.ended.jsonl" \
                >"$FOLDER/$name.responses.jsonl"
            "$HEADSCOPE" score --model "$FOLDER/sft" --json --responses "$FOLDER/$name.responses.jsonl" \
                >"$FOLDER/$name.scores.jsonl"
            kl=$(paste -d ' ' <(jq .log_probability "$FOLDER/$name.ended.jsonl") \
                <(jq '.log_probabilities[0]' "$FOLDER/$name.scores.jsonl") |
                awk '{ sum += $1 - $2 } END { printf "%.2f", sum / NR }')
        fi
    fi
    "$HEADSCOPE" make-task preferences --rate "$answers" --json | jq -r --arg name "$name" --arg kl "${kl/#-0.00/0.00}" \
        --arg seconds "$(cat "$FOLDER/$name.seconds")" 'def percent: . * 1000 | round / 10;
        "| \($name) | \($seconds) | \(.all_rules | percent) | \(.polite | percent) | \(.clean | percent) | "
        + "\(.brief | percent) | \(.distinct | percent) | \($kl) |"'
}

mkdir -p "$FOLDER"
[ -e "$DATA/test.jsonl" ] || "$HEADSCOPE" make-task preferences --output "$DATA" --seed "$SEED"
stage base "$HERE/base.json" --data "$DATA"
stage sft --task sft --from "$FOLDER/base" --text "$DATA/sft.jsonl"
stage reward --task reward --from "$FOLDER/sft" --text "$DATA/ranked.jsonl" --epochs 1
stage dpo --task dpo --from "$FOLDER/sft" --text "$DATA/ranked.jsonl" --epochs 3 --learning-rate 1e-4 --beta 1
readonly PPO=(--task ppo --from "$FOLDER/sft" --reward "$FOLDER/reward" --text "$DATA/prompts.jsonl" --epochs 6
    --learning-rate 1e-4)
stage ppo "${PPO[@]}" --kl 0.15
stage ppo-without-kl "${PPO[@]}" --kl 0

echo
"$HEADSCOPE" evaluate --ranked "$DATA/test.jsonl" --model "$FOLDER/reward"
echo
echo '| model | seconds | all rules, % | polite | clean | brief | distinct, % | KL to sft, nats |'
echo '|---|---:|---:|---:|---:|---:|---:|---:|'
for name in base sft dpo ppo ppo-without-kl; do
    row "$name"
done
