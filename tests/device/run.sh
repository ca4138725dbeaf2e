#!/usr/bin/env bash
# Everything that waits for a GPU, in one call of less than 8 minutes, on a bare machine: from the kit of pack.sh and a
# checkout of this repository, with no compiler, package or network.
#
#   tests/device/run.sh [OPTIONS] KIT RESULTS
#
# KIT is the folder that pack.sh filled, or its kit.tar.gz. RESULTS gets summary.md and logs.tar.gz. What can run side by
# side does (conformance, sanitizers, training beside the CPU), then the benchmarks run alone. Each part has a time limit
# of its own, is left out with a line where the whole time is nearly spent, and stops no other.
#
#   --budget SECONDS  for everything (default 460; 1500 on a dry run, which takes its time)
#   --only PATTERN    only the parts whose names match this regular expression
#   --dry-run         on a machine without a GPU, at sizes that it can do: HEADSCOPE_CUDA_DRIVER names the tests' driver
#                     and HEADSCOPE_CUDA_MODULES the folder of the emulated module (see README.md)
#
# The exit status: 0 everything passed; 1 something failed or was cut off; 77 nothing failed, but something was left out
# that this machine should have run.
set -uo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$tests/../.." && pwd)
# shellcheck source=tests/device/parts.sh
. "$tests/parts.sh"

fail() {
    printf 'run.sh: %s\n' "$*" >&2
    exit 2
}

# A part runs in a process of its own, which `timeout` can end: run.sh --part NAME, with the variables below exported.
if [ "${1:-}" = --part ]; then
    cd "$DEVICE_WORK" || exit 1
    "part_$2" "${@:3}"
    exit
fi

budget="" only=. dry=""
while [[ ${1:-} == --* ]]; do
    case $1 in
        --budget) budget=${2:?--budget needs seconds} && shift ;;
        --only) only=${2:?--only needs a pattern} && shift ;;
        --dry-run) dry=yes ;;
        *) sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p' && exit 2 ;;
    esac
    shift
done
[ $# -eq 2 ] || { sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p' && exit 2; }
if [ -n "$dry" ] && { [ -z "${HEADSCOPE_CUDA_DRIVER:-}" ] || [ -z "${HEADSCOPE_CUDA_MODULES:-}" ]; }; then
    fail "--dry-run needs HEADSCOPE_CUDA_DRIVER and HEADSCOPE_CUDA_MODULES (tests/device/README.md)"
fi
[ -n "$budget" ] || budget=$(if [ -n "$dry" ]; then echo 1500; else echo 460; fi)
command -v python3 >/dev/null || fail "there is no python3, which compares the results"

# ------------------------------------------------------------------------------------------------- setting up

archive=$1
[ ! -d "$1" ] || archive=$1/kit.tar.gz
[ -f "$archive" ] || fail "there is no $archive: make it with tests/device/pack.sh"
mkdir -p "$2" || exit 2
results=$(cd "$2" && pwd)
DEVICE_WORK=$(mktemp -d)
trap 'rm -rf "$DEVICE_WORK"' EXIT
mkdir "$DEVICE_WORK/logs" "$DEVICE_WORK/bench"
tar -C "$DEVICE_WORK" -xzf "$archive" || fail "$archive cannot be unpacked"
DEVICE_KIT=$DEVICE_WORK/kit
DEVICE_DRY=$dry
export DEVICE_WORK DEVICE_KIT DEVICE_DRY
export HEADSCOPE_SOURCE_DIR=$repository HEADSCOPE_MODEL=$repository/assets/models/en-de
export HEADSCOPE_FAKE_VULKAN=$DEVICE_KIT/bin/libheadscope_fake_vulkan.so
: >"$DEVICE_WORK/outcomes"
set_up_machine

# ------------------------------------------------------------------------------------------------- parts

outcome() { # NAME OUTCOME SECONDS WHAT [NOTE]: one line, which is short enough to be written at once
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5:-}" >>"$DEVICE_WORK/outcomes"
    printf '%4d s  %-22s %s%s\n' "$SECONDS" "$1" "$2" "${5:+: $5}"
}

# Runs a part and says how it went. `end`: when it has to be over, in seconds since the start.
part() { # END LIMIT NAME WHAT [FUNCTION ARGUMENT..]
    local end=$1 limit=$2 name=$3 what=$4 started=$SECONDS code reason note log=$DEVICE_WORK/logs/$3.log
    shift 4
    [ $# -gt 0 ] || set -- "$name"
    [[ $name =~ $only ]] || return 0
    if reason=$(left_out "$@"); then
        outcome "$name" "left out" 0 "$what" "$reason"
        return
    fi
    [ -z "$dry" ] || limit=$((limit * 4))
    [ "$limit" -lt $((end - SECONDS)) ] || limit=$((end - SECONDS))
    if [ "$limit" -lt 5 ]; then
        outcome "$name" "NOT RUN" 0 "$what" "the time was up"
        return
    fi
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

jobs_at_once=$(($(nproc) / 2))
[ "$jobs_at_once" -ge 1 ] || jobs_at_once=1
# shellcheck disable=SC2317 # called through each_correct_part
beside() { # as part, beside others
    while [ "$(jobs -rp | wc -l)" -ge "$jobs_at_once" ]; do wait -n; done
    HEADSCOPE_THREADS=2 part "$@" &
}

correct=$((budget * 55 / 100)) # what is measured needs the rest
part $correct 40 machine "the machine, its devices and what the kit says of them"
part $correct 30 data "the data of the trainings"
each_correct_part beside $correct
wait
each_measured_part part "$budget"
wait

# ------------------------------------------------------------------------------------------------- results

summary=$results/summary.md
python3 "$tests/measure.py" summary "$DEVICE_WORK" "$(cat "$DEVICE_KIT/commit")" "$SECONDS" "${dry:+dry}" >"$summary" ||
    fail "the summary could not be written"
tar -C "$DEVICE_WORK" -czf "$results/logs.tar.gz" logs bench outcomes
printf '%s and %s\n' "$summary" "$results/logs.tar.gz"
if cut -f 2 "$DEVICE_WORK/outcomes" | grep -qE '^(FAIL|CUT OFF)$'; then exit 1; fi
if cut -f 2 "$DEVICE_WORK/outcomes" | grep -q '^NOT RUN$'; then exit 77; fi
if [ -z "$dry" ] && cut -f 2 "$DEVICE_WORK/outcomes" | grep -q '^left out$'; then exit 77; fi
exit 0
