# Sourced by the tests of the commands: each runs the program, its first argument, in its own empty folder and prints
# its expectations.
# shellcheck shell=bash disable=SC2034,SC2317 # used by those who source this, through expect
set -uo pipefail
headscope=$(realpath "$1")
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
export HEADSCOPE_DEVICE=cpu
unset HEADSCOPE_MODEL

run() { # ARGS..: passes standard input on; leaves out, err and code
    "$headscope" "$@" >out 2>err
    code=$?
}
# Whether --json has printed a schema, and these files with their sizes.
wrote() { # FILE..
    local file
    jq -e '.schema == 1' out >/dev/null || return 1
    for file in "$@"; do
        [ "$(jq --arg file "$file" '.files[] | select(.path == $file).bytes' out)" = "$(stat -c %s "$file")" ] || return 1
    done
}
show() {
    sed 's/^/    out: /' out | head -n 12
    sed 's/^/    err: /' err | head -n 12
}
says() { grep -qF -- "$1" out; }
complains() { grep -qF -- "$1" err; }
quiet() { [ ! -s out ]; }
same() { cmp -s "$1" "$2"; }
# No standard output, and one message that begins with the program's name, contains all of the words, and is not a
# report of a bug.
declined() { # EXIT-CODE WORD..
    ended_with "$1" && quiet && [ "$(grep -c '^headscope: ' err)" -eq 1 ] && ! complains "internal error" || return 1
    local word
    for word in "${@:2}"; do complains "$word" || return 1; done
}
refused() { declined 1 "$@"; }
misused() { declined 2 "$@"; }  # because the command line is wrong
# Whether two devices share the work of a command, each with this op, and print what one prints, to the last digit.
shares() { # OP ARGS..
    local results='del(.date, .command, .model.device, .model.devices)'
    run "${@:2}" --json --device cpu
    jq -c "$results" out >alone
    rm -f trace.json
    HEADSCOPE_TRACE=trace.json run "${@:2}" --json --device cpu,cpu
    jq -c "$results" out >together
    ended_with 0 && [ -s alone ] && same together alone &&
        [ "$(jq --arg op "$1" '[.traceEvents[] | select(.name == $op) | .pid] | unique | length' trace.json)" -eq 2 ]
}
# Trains a model of the digits task in trained/, with its texts in data/; without them nothing else can be tested.
train_digits() { # CONFIGURATION
    run make-task digits --output data --pairs 300 --valid 4 --test 6
    [ "$code" -ne 0 ] || run train "$1" --data data --output trained
    expect "a model to translate with is trained" ended_with 0
    [ "$code" -eq 0 ] || exit 1
}
