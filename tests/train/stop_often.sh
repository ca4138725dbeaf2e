#!/usr/bin/env bash
# Stops a training at a random moment of its steps, again and again: each stop ends with exit code 1 and a checkpoint.
# usage: stop_often.sh HEADSCOPE-PROGRAM SECONDS
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
limit=$2
run make-task digits --output data --pairs 800 --valid 50 --test 50
# Wide enough for oneDNN's large products.
cat >wide.json <<'JSON'
{
  "model": {"encoder_layers": 2, "decoder_layers": 2, "d_model": 256, "d_ff": 1024, "heads": 4, "max_length": 64},
  "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
  "tokenizer": {"type": "bpe", "vocabulary": 80, "shared": true},
  "training": {
    "steps": 100000, "source_tokens": 2000, "target_tokens": 2000, "length_multiple": 2, "max_length": 64,
    "warmup_steps": 20, "report_every": 1, "validate_every": 0, "checkpoint_every": 1000000, "checkpoint_minutes": 0
  }
}
JSON
holds_checkpoint() { compgen -G 'run/checkpoints/step-*.safetensors' >/dev/null; }
stops=0
signals=(INT TERM HUP)
while [ "$SECONDS" -lt "$limit" ]; do
    rm -rf run
    "$headscope" train wide.json --data data --output run >out 2>err &
    training=$!
    until [ -s run/log.jsonl ] || ! kill -0 "$training" 2>/dev/null; do sleep 0.02; done  # its first step is done
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill "-${signals[stops % 3]}" "$training"
    wait "$training"
    code=$?
    expect "a stop by SIG${signals[stops % 3]} is an error that names --resume" refused "stopped after step" "--resume"
    expect "which leaves a checkpoint" holds_checkpoint
    stops=$((stops + 1))
done
expect "at least one training was stopped" [ "$stops" -gt 0 ]
finish "$stops stops, each with a checkpoint"
