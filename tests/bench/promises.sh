#!/bin/sh
# What Headscope promises of its start and of its manners, measured: no network, no Python.
#
#   tests/bench/promises.sh build/release/headscope [MODEL]
#
#   start         seconds from the command's start to the first translation's end, CPU and default device
#   neighbour     a training step beside a busy process for each processor, over one alone
#   second start  Vulkan: the first start compiles its kernels, the second takes them from the cache
set -eu

if [ $# -lt 1 ]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 2
fi
headscope=$1
model=${2:-assets/models/en-de}
rounds=${ROUNDS:-7}

[ -x "$headscope" ] || { echo "promises.sh: no program '$headscope': build it first, and name it" >&2; exit 1; }

folder=$(mktemp -d)
busy=
finish() {
    for process in $busy; do kill "$process" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap finish EXIT

median() { sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

seconds_of() { # COMMAND..
    begin=$(date +%s.%N)
    "$@" >/dev/null 2>"$folder/errors" || { cat "$folder/errors" >&2; exit 1; }
    awk -v from="$begin" -v to="$(date +%s.%N)" 'BEGIN { printf "%.3f\n", to - from }'
}

translate_one() { echo 'The weather is nice today.' | "$headscope" translate --model "$model" "$@"; }

start() { # NAME OPTION..
    name=$1
    shift
    round=0
    while [ "$round" -lt "$rounds" ]; do
        seconds_of translate_one "$@"
        round=$((round + 1))
    done | median | awk -v name="$name" '{ printf "start         %-16s %8.3f s (median)\n", name, $1 }'
}

step_milliseconds() {
    "$headscope" bench train --device cpu --repeat 5 --json | sed -n 's/.*"milliseconds_per_step": *\([0-9.]*\).*/\1/p'
}

neighbour() {
    alone=$(step_milliseconds)
    for _ in $(seq "$(nproc)"); do
        (while :; do :; done) &
        busy="$busy $!"
    done
    beside=$(step_milliseconds)
    for process in $busy; do kill "$process" 2>/dev/null || true; done
    busy=
    awk -v alone="$alone" -v beside="$beside" -v processes="$(nproc)" 'BEGIN {
        printf "neighbour     %d busy processes %7.2f times a step alone (%.0f ms)\n", processes, beside / alone, alone
    }'
}

second_start() {
    "$headscope" devices --usable | grep -q '^vulkan' || { echo "second start  SKIPPED: no Vulkan device"; return; }
    export XDG_CACHE_HOME="$folder/cache"
    first=$(seconds_of translate_one --device vulkan)
    second=$(seconds_of translate_one --device vulkan)
    echo "second start  Vulkan: first $first s, then $second s"
}

start cpu --device cpu
start 'default device'
neighbour
second_start
