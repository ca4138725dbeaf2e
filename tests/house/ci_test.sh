#!/usr/bin/env bash
# What .ci/run lets pass and what it does not, with a stand-in for ./do: nothing is installed, built or tested.
# shellcheck disable=SC2016,SC2317 # changes expand later, in ./do; conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
output=
mkdir "$sandbox/.ci"

# ./do as it prints and leaves things when all is well. A test changes what it sources: variables, or a part anew.
cat >"$sandbox/do" <<'DO'
#!/usr/bin/env bash
packages() { :; }
build() { :; }
tests() {
    printf '27/60 Test #26: viewer_window_shown ..............   %s    9.81 sec\n' "$window"
    printf '100%% tests passed, 0 tests failed out of 3\nTotal Test time (real) =   1.00 sec\n'
}
demo() {
    echo "$build"
    printf '  %-12s %9s %12s %13s\n' device seconds tokens/s 'as the CPU'
    printf '  %-12s %9.2f %12.0f %11s %%\n' vulkan:0 4.42 131 "$vulkan" cpu 1.02 602 "$cpu"
    mkdir -p out
    for name in 3 4-above 4-below 5-left 5-right; do
        printf '<svg>\n%s\n' "$end" >"out/figure$name.svg"
        printf '  out/figure%s.svg\n' "$name"
    done
}
window=Passed vulkan=100 cpu=100 end='</svg>' build='ninja: no work to do.'
. ./changes
case $1 in test) tests ;; *) "$1" ;; esac
DO
chmod +x "$sandbox/do"

# run CHANGES [SED-EXPRESSION]: CI with a changed ./do, and itself changed where a test cannot wait for minutes.
run() {
    printf '%s\n' "$1" >"$sandbox/changes"
    rm -rf "$sandbox/out"
    sed "${2:-}" "$repository/.ci/run" >"$sandbox/.ci/run"
    chmod +x "$sandbox/.ci/run"
    output=$("$sandbox/.ci/run" 2>&1)
    code=$?
}
show() { printf '    output: %s\n' "$output"; }
says() { [[ $output == *"$1"* ]]; }

run ''
expect "where all is well, it passes" ended_with 0
expect "and ends with what ctest counted" says "100% tests passed, 0 tests failed out of 3"
seconds=$(awk '$1 == "part" { seconds += $3 } END { print seconds }' "$repository/.ci/run")
expect "the parts' budgets are the 25 minutes after which all is cut off" [ "$seconds" -eq 1500 ]

run 'build() { sleep 1.2; }' 's/^part build [0-9]* /part build 0 /'
expect "a part over its budget fails the run" ended_with 1
expect "and is named" says "ci: build is over its budget"
expect "once all has been reported" says "100% tests passed"
run 'demo() { sleep 20; }' 's/ 25m / 1s /'
expect "what goes on after the last minute is cut off" ended_with 124
expect "and that is said" says "ci: stopped, 25 minutes are over"

run 'build() { return 1; }'
expect "a build that fails fails the run" ended_with 1
expect "and is named" says "ci: build FAILED"
expect "and nothing follows" not says "ci: tests"
run 'tests() { return 8; }'
expect "so do tests" says "ci: tests FAILED"
expect "with its code" ended_with 1

run 'window="***Skipped"'
expect "a window that was not tested fails the run" ended_with 1
expect "and that is said" says "ci: the real window was not tested"

run 'vulkan=93'
expect "one line of 14 that is another than the CPU's fails the run" ended_with 1
expect "and the device is named" says "the demo's table has no vulkan, or another translation than the CPU's"
run 'cpu=93'
expect "the CPU is no exception" ended_with 1
run 'demo() { echo "$build"; echo "  cpu  1.02  602  100 %"; }'
expect "a device that is missing from the table fails it" says "the demo's table has no vulkan"
run 'build="[1/64] Shader adam"'
expect "so does building again what was built" says "ci: the demo built again what was built"
run 'end="<path"'
expect "a figure cut short fails it" says "is no whole figure"

finish "CI decides as expected"
