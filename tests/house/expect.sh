# Sourced by shell tests: expectations and the final result. Each test sets `code` to the exit code of its command and
# defines a function `show` that prints the other output.
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

finish() { # MESSAGE
    [ "$failures" -eq 0 ] && echo "$1"
    exit "$((failures > 0))"
}
