#!/usr/bin/env bash
# Everything that waits for a GPU, on a bare machine: from the kits of pack.sh and a checkout of this repository, with
# no compiler, package or network. It is divided into calls, for machines that are lent for minutes.
#
#   tests/device/run.sh [OPTIONS] KITS RESULTS
#
# KITS is the folder that pack.sh filled. RESULTS gets, again after every part, so that a call that is ended from
# outside leaves what it has measured:
#
#   summary.md      devices, outcomes, speeds, predictions beside measurements, every command
#   results.md      what assets/results has of a card
#   logs.tar.gz     what every part printed, and the numbers of every benchmark
#
#   --call LETTERS    A: whether the kernels are right and as fast as predicted; B: what is variable, the P100's kernels
#                     and Vulkan; C: the rest, for a machine of one's own (default A; ABC is everything)
#   --budget SECONDS  for everything (default 400 for A, 240 for B, 1200 for C, together for several; on a dry run 3600)
#   --only PATTERN    only the parts whose names match this regular expression
#   --list            print the parts, when they start and end at the latest, and stop
#   --dry-run         on a machine without a GPU, at sizes that it can do, with a kit of pack.sh --dry-run
#
# A part has twice the time that it is expected to take, is left out with a line where the whole time is nearly spent,
# and stops no other. What checks runs side by side; what measures runs alone.
#
# The exit status: 0 everything passed; 1 something failed or was cut off; 77 nothing failed, but something was left out
# that this machine should have run.
# shellcheck disable=SC2317 # functions are called by name
set -uo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$tests/../.." && pwd)
# shellcheck source=tests/device/machine.sh
. "$tests/machine.sh"
# shellcheck source=tests/device/commands.sh
. "$tests/commands.sh"
# shellcheck source=tests/device/calls.sh
. "$tests/calls.sh"
# shellcheck source=tests/device/test_parts.sh
. "$tests/test_parts.sh"
# shellcheck source=tests/device/speed_parts.sh
. "$tests/speed_parts.sh"

fail() {
    printf 'run.sh: %s\n' "$*" >&2
    exit 2
}
usage() {
    sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p'
    exit 2
}

# A part runs in a process of its own, which `timeout` can end: run.sh --part NAME, with the variables below exported.
if [ "${1:-}" = --part ]; then
    cd "$DEVICE_WORK" || exit 1
    "part_$2" "${@:3}"
    exit
fi

declare -rA BUDGETS=([A]=400 [B]=240 [C]=1200) # seconds
budget="" only=. dry="" calls=A list=""
while [[ ${1:-} == --* ]]; do
    case $1 in
        --call) calls=${2:?--call needs letters} && shift ;;
        --budget) budget=${2:?--budget needs seconds} && shift ;;
        --only) only=${2:?--only needs a pattern} && shift ;;
        --list) list=yes ;;
        --dry-run) dry=yes ;;
        *) usage ;;
    esac
    shift
done
[[ $calls =~ ^[ABC]+$ ]] || fail "--call takes letters out of A, B and C, not '$calls'"
each_call() { # FUNCTION: with the letter
    local at
    for ((at = 0; at < ${#calls}; ++at)); do "$1" "${calls:at:1}"; done
}

# ------------------------------------------------------------------------------------------------- the list

if [ -n "$list" ]; then
    clock=0 longest=0 beside=""
    part() { # as below
        printf '%5d %5d s %5d s  %-26s %s\n' "$clock" "$1" "$((2 * $1))" "$2" "$3"
        if [ -z "$beside" ]; then clock=$((clock + $1)); elif [ "$1" -gt "$longest" ]; then longest=$1; fi
    }
    together() { beside=yes longest=0; }
    apart() { beside="" && clock=$((clock + longest)); }
    show() {
        clock=0
        printf '%s\n' "call $1" " from takes at most  part                       what"
        "call_$1"
        printf '%5d\n' "$clock"
    }
    each_call show
    exit
fi

[ $# -eq 2 ] || usage
if [ -z "$budget" ]; then
    budget=0
    add_budget() { budget=$((budget + BUDGETS[$1])); }
    each_call add_budget
    [ -z "$dry" ] || budget=3600
fi
command -v python3 >/dev/null || fail "there is no python3, which compares the results"

# ------------------------------------------------------------------------------------------------- setting up

[ -f "$1/kit-speed.tar.xz" ] || fail "there is no $1/kit-speed.tar.xz: make it with tests/device/pack.sh"
mkdir -p "$2" || exit 2
results=$(cd "$2" && pwd)
DEVICE_WORK=$(realpath "$(mktemp -d)")
mkdir "$DEVICE_WORK/logs" "$DEVICE_WORK/bench" "$DEVICE_WORK/running"
for file in "$1"/kit-*.tar.xz; do
    tar -C "$DEVICE_WORK" -xJf "$file" || fail "$file cannot be unpacked"
done
DEVICE_KIT=$DEVICE_WORK/kit
DEVICE_DRY=$dry
export DEVICE_WORK DEVICE_KIT DEVICE_DRY PYTHONDONTWRITEBYTECODE=1
: >"$DEVICE_WORK/outcomes"
set_up_machine
clocks="" # what the card's clocks and power were all the while
if command -v nvidia-smi >/dev/null; then
    nvidia-smi dmon -s pucm -o T >"$DEVICE_WORK/logs/clocks.log" 2>&1 &
    clocks=$!
fi
clean_up() {
    [ -z "$clocks" ] || kill "$clocks" 2>/dev/null
    rm -rf "$DEVICE_WORK"
}
trap clean_up EXIT

# ------------------------------------------------------------------------------------------------- parts

# Writes everything that is known by now, the summary last. Several parts may end at once.
publish() {
    (
        flock 9
        cd "$DEVICE_WORK" || exit
        tar -czf logs.tar.gz logs bench outcomes && mv logs.tar.gz "$results/logs.tar.gz"
        for file in results summary; do
            python3 "$tests/summary.py" "$file" "$DEVICE_WORK" "$SECONDS" "${dry:+dry}" >"$file.md" &&
                mv "$file.md" "$results/$file.md"
        done
    ) 9>"$DEVICE_WORK/lock"
}

outcome() { # NAME OUTCOME SECONDS WHAT [NOTE]: one line, which is short enough to be written at once
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5:-}" >>"$DEVICE_WORK/outcomes"
    printf '%4d s  %-26s %s%s\n' "$SECONDS" "$1" "$2" "${5:+: $5}"
    rm -f "$DEVICE_WORK/running/$1"
    publish
}

# Runs a part and says how it went.
run_part() { # EXPECTED-SECONDS NAME WHAT [FUNCTION ARGUMENT..]
    local limit=$((2 * $1)) name=$2 what=$3 started=$SECONDS code reason note log=$DEVICE_WORK/logs/$2.log
    shift 3
    [ $# -gt 0 ] || set -- "$name"
    if reason=$(left_out "$@"); then
        outcome "$name" "left out" 0 "$what" "$reason"
        return
    fi
    [ -z "$dry" ] || limit=$((limit * 10))
    [ "$limit" -lt $((budget - SECONDS)) ] || limit=$((budget - SECONDS))
    if [ "$limit" -lt 3 ]; then
        outcome "$name" "NOT RUN" 0 "$what" "the time was up"
        return
    fi
    printf '%s\n' "$what" >"$DEVICE_WORK/running/$name"
    timeout -k 5 "$limit" "$BASH" "$tests/run.sh" --part "$@" >"$log" 2>&1
    code=$?
    note=$(awk 'sub(/^NOTE: /, "") { printf "%s%s", between, $0; between = "; " }' "$log")
    case $code in
        0) outcome "$name" pass $((SECONDS - started)) "$what" "$note" ;;
        124 | 137) outcome "$name" "CUT OFF" $((SECONDS - started)) "$what" "after $limit s${note:+; $note}" ;;
        *) outcome "$name" FAIL $((SECONDS - started)) "$what" "exit status $code; ${note:-$(last_words "$log")}" ;;
    esac
}
last_words() { grep -v '^$' "$1" | tail -n 1 | tr '\t' ' ' | cut -c 1-200; }

# How many parts run beside one another between `together` and `apart`; 0: one after the other, in this process.
at_once=0
most_at_once=$(($(nproc) / 2))
[ "$most_at_once" -ge 1 ] || most_at_once=1
parts=()
wait_for_parts() { # UNTIL-HOW-MANY-RUN; the log of clocks runs on
    local left=() each
    while [ "${#parts[@]}" -gt "$1" ]; do
        left=()
        for each in "${parts[@]}"; do
            if kill -0 "$each" 2>/dev/null; then left+=("$each"); fi
        done
        parts=("${left[@]}")
        [ "${#parts[@]}" -le "$1" ] || sleep 0.05
    done
}
part() { # EXPECTED-SECONDS NAME WHAT [FUNCTION ARGUMENT..]
    [[ $2 =~ $only ]] || return 0
    if cut -f 1 "$DEVICE_WORK/outcomes" | grep -qx "$2"; then return; fi # in an earlier call
    if [ "$at_once" -eq 0 ]; then
        run_part "$@"
        return
    fi
    wait_for_parts $((at_once - 1))
    HEADSCOPE_THREADS=2 run_part "$@" &
    parts+=($!)
}
together() { at_once=$most_at_once; }
apart() { wait_for_parts 0 && at_once=0; }

each_call_of() { "call_$1"; }
each_call each_call_of

# ------------------------------------------------------------------------------------------------- results

publish
[ -s "$results/summary.md" ] || fail "the summary could not be written"
printf '%s, results.md and logs.tar.gz\n' "$results/summary.md"
if cut -f 2 "$DEVICE_WORK/outcomes" | grep -qE '^(FAIL|CUT OFF)$'; then exit 1; fi
if cut -f 2 "$DEVICE_WORK/outcomes" | grep -q '^NOT RUN$'; then exit 77; fi
if [ -z "$dry" ] && cut -f 2 "$DEVICE_WORK/outcomes" | grep -q '^left out$'; then exit 77; fi
exit 0
