# Sourced by the tests that are scripts: what they expect, and how they end. Each leaves the exit code of what it ran in
# `code` and has a function `show`, which prints the rest of what came of it.
# shellcheck shell=bash disable=SC2317 # called through expect
failures=0
code=0

expect() { # WHAT CONDITION..
    local what=$1
    shift
    if ! "$@"; then
        echo "FAILED: $what (exit code $code)"
        show
        failures=$((failures + 1))
    fi
}
not() { ! "$@"; }
ended_with() { [ "$code" -eq "$1" ]; }

finish() { # WHAT-IS-SHOWN
    [ "$failures" -eq 0 ] && echo "$1"
    exit "$((failures > 0))"
}
