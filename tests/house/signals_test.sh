#!/usr/bin/env bash
# No signal handler may run on the stack of a computing thread, where oneDNN's AVX-512 products keep data
# (uxlfoundation/oneDNN#4845). Checks the signal masks in /proc, so it works on every processor.
# usage: signals_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
run make-task digits --output data --pairs 300 --valid 4 --test 6
cat >endless.json <<'JSON'
{
  "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 64, "d_ff": 128, "heads": 2},
  "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
  "tokenizer": {"type": "bpe", "vocabulary": 80, "shared": true},
  "training": {"steps": 10000000, "source_tokens": 500, "target_tokens": 500, "report_every": 1, "validate_every": 0}
}
JSON

signal_bit() { echo $((1 << ($1 - 1))); }
readonly STOP=$(($(signal_bit 1) | $(signal_bit 2) | $(signal_bit 15)))                                     # HUP INT TERM
readonly CRASH=$(($(signal_bit 4) | $(signal_bit 6) | $(signal_bit 7) | $(signal_bit 8) | $(signal_bit 11))) # of crash_note
readonly LIBC=$(($(signal_bit 32) | $(signal_bit 33)))
mask() { echo $((0x$(awk -v name="$2:" '$1 == name { print $2 }' "$1"))); } # STATUS-FILE FIELD

# PROCESS has handlers only for ALLOWED signals.
handles_only() { # PROCESS ALLOWED
    local caught
    caught=$(mask "/proc/$1/status" SigCgt)
    [ $((caught & ~$2 & ~LIBC)) -eq 0 ]
}
# All threads except the one that waits for signals block those that stop the program.
blocked_but_in_one_thread() { # PROCESS
    local status text open=0 threads=0
    for status in "/proc/$1/task/"*/status; do
        text=$(cat "$status" 2>/dev/null) || continue # the thread has ended
        threads=$((threads + 1))
        [ $(($(mask /dev/stdin SigBlk <<<"$text") & STOP)) -eq "$STOP" ] || open=$((open + 1))
    done
    [ "$threads" -gt 2 ] && [ "$open" -eq 1 ]
}

export HEADSCOPE_THREADS=3 # so that other threads compute, too
"$headscope" train endless.json --data data --output run >out 2>err &
training=$!
until [ -s run/log.jsonl ] || ! kill -0 "$training" 2>/dev/null; do sleep 0.05; done
expect "training has no signal handler" handles_only "$training" 0
expect "and every computing thread blocks the signals that stop it" blocked_but_in_one_thread "$training"
kill -TERM "$training"
wait "$training"
code=$?
expect "it stops with a checkpoint" refused "stopped after step" "--resume"

reports=$(wc -l <run/log.jsonl)
goes_on() { [ "$(wc -l <run/log.jsonl)" -gt "$reports" ]; }
"$headscope" train endless.json --data data --output run --resume >out 2>err &
training=$!
until goes_on || ! kill -0 "$training" 2>/dev/null; do sleep 0.05; done
expect "it resumes from there" goes_on
kill -STOP "$training" # so that the second signal arrives before the first is handled
kill -INT "$training"
kill -TERM "$training"
kill -CONT "$training"
wait "$training"
code=$?
expect "the second of two simultaneous signals, in either order, ends it" eval '[ "$code" -eq 143 ] || [ "$code" -eq 130 ]'

"$headscope" conform --device cpu >out 2>err &
conforming=$!
until [ "$(find "/proc/$conforming/task" -mindepth 1 -maxdepth 1 | wc -l)" -gt 3 ] || ! kill -0 "$conforming"; do
    sleep 0.05 # wait until it computes
done
expect "conform has only crash handlers" handles_only "$conforming" "$CRASH"
expect "and its threads block the signals that stop it" blocked_but_in_one_thread "$conforming"
kill -INT "$conforming"
wait "$conforming"
code=$?
expect "it prints its results and ends with the signal" ended_with 130

mkfifo lines
"$headscope" translate --model "$repository/assets/models/en-de" <lines >out 2>err &
translating=$!
exec 7>lines
echo "Hello." >&7
until [ -s out ] || ! kill -0 "$translating" 2>/dev/null; do sleep 0.05; done
expect "translate has no signal handler" handles_only "$translating" 0
exec 7>&-
wait "$translating"
code=$?
expect "and ends at the end of its input" ended_with 0
finish "signals are received in one thread"
