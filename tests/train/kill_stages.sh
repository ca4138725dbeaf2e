#!/usr/bin/env bash
# Kills trainings of each task of alignment at random moments: each goes on, and ends with the weights of one that was
# not killed, bit for bit.
# usage: kill_stages.sh HEADSCOPE-PROGRAM KILLS
# shellcheck disable=SC2154,SC2317 # assigned by what is sourced; the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
kills=$2
run make-task preferences --output data --questions 60 --test 0
cat >base.json <<'JSON'
{
  "task": "causal",
  "model": {"decoder_layers": 1, "d_model": 64, "d_ff": 128, "heads": 2, "max_length": 96, "norm": "pre"},
  "data": {"train": {"text": "text.txt"}},
  "tokenizer": {"type": "bpe", "vocabulary": 96},
  "training": {"steps": 30, "max_length": 96, "source_tokens": 512, "target_tokens": 512, "warmup_steps": 20}
}
JSON
run train base.json --data data --output base
run train --task reward --from base --text data/ranked.jsonl --output reward-model --steps 20
expect "models to begin with are trained" ended_with 0

# Many checkpoints, so that a killed training has moved on.
begin() { # TASK OUTPUT STEPS
    local text=ranked more=()
    case $1 in
        sft) text=sft ;;
        ppo) text=prompts more=(--reward reward-model) ;;
    esac
    "$headscope" train --task "$1" --from base --text "data/$text.jsonl" --output "$2" --steps "$3" "${more[@]}"
}
again() { "$headscope" train "$1.json" --from base --output "$2"; }  # TASK OUTPUT
killed=0
for task in sft reward dpo ppo; do
    begin $task first-$task 1 >out 2>err
    jq '.training.checkpoint_every = 8 | .training.steps = 800' first-$task/training.json >$task.json
    start=$(date +%s%N)
    again $task whole-$task >out 2>err
    code=$?
    expect "$task ends" ended_with 0
    took=$((($(date +%s%N) - start) / 1000000))
    for ((kill = 0; kill < (kills + 3) / 4; ++kill)); do
        if compgen -G "killed-$task/checkpoints/step-*.safetensors" >/dev/null; then
            "$headscope" train --output killed-$task --resume >out 2>err &
        else
            rm -rf killed-$task
            "$headscope" train $task.json --from base --output killed-$task >out 2>err &  # its own process, to kill
        fi
        training=$!
        sleep "$(awk -v all=$took -v kills="$kills" -v share=$RANDOM 'BEGIN { printf "%.3f", all / 1000 * share / 32768 * 5 / kills }')"
        kill -KILL $training 2>/dev/null && killed=$((killed + 1))
        wait $training 2>/dev/null
        [ ! -e killed-$task/model/model.safetensors ] || break
    done
    if [ ! -e killed-$task/model/model.safetensors ]; then
        "$headscope" train --output killed-$task --resume >out 2>err || again $task killed-$task >out 2>err
    fi
    expect "$task has the same weights" same whole-$task/model/model.safetensors killed-$task/model/model.safetensors
done
expect "trainings were killed" [ "$killed" -gt 0 ]
finish "$killed kills, and the same weights"
