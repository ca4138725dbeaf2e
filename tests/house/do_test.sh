#!/usr/bin/env bash
# ./do's own decisions, with stand-ins for the system's tools: nothing is installed, built or fetched.
# shellcheck disable=SC2016,SC2317 # stand-ins expand later; conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
failures=0
output=

# A `do` of its own, whose PATH holds the stand-ins and the few tools that it really needs.
reset() {
    rm -rf "${sandbox:?}/bin" "${sandbox:?}/repo"
    mkdir -p "$sandbox/bin" "$sandbox/repo"
    cp "$repository/do" "$sandbox/repo/do"
    local tool
    for tool in bash env cat grep dirname mkdir rm tail awk date sed nproc paste; do
        ln -s "$(command -v "$tool")" "$sandbox/bin/$tool"
    done
    : >"$sandbox/calls"
    stand_in id 'echo 0'
}

stand_in() { # NAME BODY
    printf '#!%s\necho "%s $*" >>"%s"\n%s\n' "$(command -v bash)" "$1" "$sandbox/calls" "$2" >"$sandbox/bin/$1"
    chmod +x "$sandbox/bin/$1"
}

run() { # ARGS..: leaves output and exit code
    output=$(cd / && PATH=$sandbox/bin "$sandbox/repo/do" "$@" 2>&1)
    code=$?
}

expect() { # WHAT CONDITION..
    local what=$1
    shift
    if ! "$@"; then
        echo "FAILED: $what"
        printf '    exit code %s, output: %s\n    calls: %s\n' "$code" "$output" "$(cat "$sandbox/calls")"
        failures=$((failures + 1))
    fi
}
says() { [[ $output == *"$1"* ]]; }
called() { grep -q -- "$1" "$sandbox/calls"; }
not() { ! "$@"; }
ended_with() { [ "$code" -eq "$1" ]; }

# Everything but catch2 is installed.
one_missing() {
    stand_in dpkg-query 'case $* in *catch2*) exit 1 ;; *) echo installed ;; esac'
    stand_in apt-get "${1:-exit 0}"
}

reset
run
expect "alone it succeeds" ended_with 0
for command in demo test check bench build format packages clean; do
    expect "alone it names $command" says "./do $command"
done

reset
run frobnicate
expect "an unknown command fails" ended_with 1
expect "and is named" says "unknown command: frobnicate"
run check frobnicate
expect "an unknown check fails" ended_with 1
expect "and the checks are listed" says "there are: format"
run test --frobnicate
expect "an unknown option of test fails" ended_with 1

reset
stand_in dpkg-query 'echo installed'
stand_in apt-get 'exit 1'
run packages
expect "with nothing missing it succeeds" ended_with 0
expect "without asking apt-get" not called apt-get

reset
one_missing
run packages
expect "a missing package is installed" called 'apt-get install .*catch2'
expect "alone" not called 'install .*cmake'
expect "and named" says catch2
expect "after an update" called 'apt-get update'

# Removed, but its configuration is still there: not installed.
reset
stand_in dpkg-query 'case $* in *catch2*) echo config-files ;; *) echo installed ;; esac'
stand_in apt-get 'exit 0'
run packages
expect "a removed package counts as missing" called 'apt-get install .*catch2'

reset
one_missing
stand_in id 'echo 1000'
run packages
expect "without sudo it stops" ended_with 1
expect "and says what root would do" says "apt-get install catch2"
stand_in sudo '"$@"'
run packages
expect "with sudo it goes on" ended_with 0
expect "through sudo" called 'sudo apt-get update'

reset
one_missing 'exit 100'
run packages
expect "no network is an error" ended_with 1
expect "that says so" says "is there a network"
expect "and what is needed" says catch2

reset
run demo
expect "an unsupported distribution is an error" ended_with 1
expect "that lists the packages" says libsentencepiece-dev
expect "and the way round" says HEADSCOPE_NO_INSTALL=1

# The demo without a model: everything is built, then it says what is missing.
reset
stand_in dpkg-query 'echo installed'
stand_in apt-get 'exit 1'
stand_in cmake 'exit 0'
mkdir -p "$sandbox/repo/build/release"
: >"$sandbox/repo/build/release/build.ninja"
run demo
expect "the demo without a model fails" ended_with 1
expect "after building" called 'cmake --build build/release'
expect "and says what it looked for" says "config.json, model.safetensors"
expect "a configured tree is not configured again" not called 'cmake --preset'

# The demo with a model and two devices, of which one translates one line of two as the CPU does.
reset
stand_in dpkg-query 'echo installed'
stand_in apt-get 'exit 1'
stand_in cmake 'exit 0'
mkdir -p "$sandbox/repo/build/release" "$sandbox/repo/assets/examples" "$sandbox/repo/assets/models/en-de"
: >"$sandbox/repo/build/release/build.ninja"
: >"$sandbox/repo/assets/models/en-de/config.json"
printf 'One.\nTwo.\n' >"$sandbox/repo/assets/examples/paper.en"
stand_in headscope 'case "$*" in
    "devices --usable") printf "vulkan:0\ncpu\n" ;;
    devices) printf "vulkan:1  cannot be used: too old\n" ;;
    translate*vulkan:0*) printf "Eins.\nDrei.\n"; echo "2 lines, 9 target tokens in 1 s: 123.4 target tokens/s on it" >&2 ;;
    translate*) printf "Eins.\nZwei.\n"; echo "2 lines, 9 target tokens in 1 s: 567.8 target tokens/s on it" >&2 ;;
    attention*) for last; do :; done; echo "<svg/>" >"$last" ;;
esac'
mv "$sandbox/bin/headscope" "$sandbox/repo/build/release/headscope"
run demo
row() { [[ $output =~ $1\ +[0-9.]+\ +$2\ +$3\ % ]]; }
expect "the demo succeeds" ended_with 0
expect "it prints source" says "en  Two."
expect "and translation" says "de  Zwei."
expect "half of the one device's lines are like the CPU's" row vulkan:0 123 50
expect "all of the CPU's are" row cpu 568 100
expect "a rejected device is named" says "vulkan:1  cannot be used: too old"
expect "the figures are named" says out/figure4-below.svg
expect "heads 5 and 6 of Figure 4" called 'attention .*--heads 5,6 --word its -o out/figure4-below.svg'
stand_in headscope 'case "$*" in "devices --usable") echo cpu ;; *) echo "no memory" >&2; exit 1 ;; esac'
mv "$sandbox/bin/headscope" "$sandbox/repo/build/release/headscope"
run demo
expect "a device that fails makes the demo fail" ended_with 1
expect "with the device's own words" says "no memory"

[ "$failures" -eq 0 ] && echo "all of ./do's decisions are as expected"
exit "$((failures > 0))"
