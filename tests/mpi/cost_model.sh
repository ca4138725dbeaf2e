#!/usr/bin/env bash
# Trains on two hosts whose cable is as slow as asked: the weights of one rank, and the time of a step beside half of one
# rank's and the exchange that `train --dry-run --network` predicts from `bench all-reduce`. A measurement for an idle
# machine, without --dry-run's own estimate of the computing, which of slow steps comes from small ones; it says
# how far the prediction is off, and fails only if weights differ or something does not run.
# usage: cost_model.sh HEADSCOPE-PROGRAM MBIT-PER-SECOND FOLDER-OF-MODULES
# shellcheck disable=SC2154,SC2317 # assigned by what is sourced; the conditions are called through expect
# shellcheck source=tests/mpi/hosts.sh
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"
headscope=$(realpath "$1") megabits=$2 seconds=300
ranked=$(realpath "$here/../train/ranked.json")
cd "$work" || exit 1
if [ "$megabits" -gt 0 ]; then
    tc qdisc add dev cable root tbf rate "${megabits}mbit" burst 64kb latency 400ms || exit 77
    on_other tc qdisc add dev cable root tbf rate "${megabits}mbit" burst 64kb latency 400ms || exit 77
fi
show() { cat "$work/out" "$work/err"; }
same() { cmp -s "$1" "$2"; }
"$headscope" make-task digits --output data --pairs 3000 --valid 30 --test 1 >/dev/null
jq '.model = {encoder_layers: 3, decoder_layers: 3, d_model: 256, d_ff: 1024, heads: 4} | .training.steps = 24 |
    .training.source_tokens = 4096 | .training.target_tokens = 4096 | .training.shards = 2 | .training.report_every = 4 |
    .training.validate_every = 0 | .training.checkpoint_every = 24' "$ranked" >data/two.json
step_seconds() { # RUN: the median over reports of four steps but the first
    jq -s '[.[] | select(.kind == "train") | .minutes] | [.[1:], .[:-1]] | transpose | map((.[0] - .[1]) * 15) | sort |
        .[length / 2 | floor]' "$1/log.jsonl"
}
"$headscope" train data/two.json --output one --device cpu >out 2>err || { show; exit 1; }
for mpi in "${mpis[@]}"; do
    start_on_hosts "$mpi" 2 "$headscope" bench all-reduce --device cpu --json --megabytes 17 --repeat 3
    network=$(jq -r '"\(.bytes_per_second / 1e9),\(.latency_seconds * 1e6)"' out)
    predicted=$("$headscope" train data/two.json --output no --device cpu --dry-run --ranks 2 --network "$network" --json 2>err |
        jq --argjson one "$(step_seconds one)" '$one / 2 + .exchange_seconds')
    start_on_hosts "$mpi" 2 "$headscope" train data/two.json --output "$mpi" --device cpu
    expect "$mpi: two hosts train the weights of one rank" same one/model/model.safetensors "$mpi/model/model.safetensors"
    measured=$(step_seconds "$mpi")
    awk -v mpi="$mpi" -v network="$network" -v predicted="$predicted" -v measured="$measured" 'BEGIN {
        printf "%s: %s GB/s,us; predicted %.3f s a step, measured %.3f s: off by %+.0f %%\n", mpi, network, predicted,
               measured, 100 * (measured / predicted - 1) }'
done
finish "two hosts train the weights of one rank under ${mpis[*]}"
