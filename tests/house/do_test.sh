#!/usr/bin/env bash
# ./do's own decisions, with stand-ins for the system's tools: nothing is installed, built or fetched.
# shellcheck disable=SC2317 # the conditions are called through expect
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
    for tool in bash env cat grep dirname mkdir rm tail awk date sed nproc; do
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

[ "$failures" -eq 0 ] && echo "all of ./do's decisions are as expected"
exit "$((failures > 0))"
