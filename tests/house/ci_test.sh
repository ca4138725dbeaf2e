#!/usr/bin/env bash
# Which outcomes .ci/run accepts and rejects, with a fake ./do: nothing is installed, built or tested.
# shellcheck disable=SC2016,SC2317 # changes expand later, in ./do; conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
output=
mkdir "$sandbox/.ci"

# A fake ./do with the output and files of a successful run. Tests override its variables or functions in ./changes.
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
    printf '  %-12s Could you please %s\n' vulkan:0 go cpu "$completed"
    mkdir -p out
    for name in 3 4-above 4-below 5-left 5-right; do
        printf '<svg>\n%s\n' "$end" >"out/figure$name.svg"
        printf '  %-22s a caption (layer 1, head 2)\n' "out/figure$name.svg"
    done
}
window=Passed completed=go vulkan=100 cpu=100 end='</svg>' build='ninja: no work to do.'
. ./changes
case $1 in test) tests ;; *) "$1" ;; esac
DO
chmod +x "$sandbox/do"

# run CHANGES [SED-EXPRESSION]: runs CI with a changed ./do, and with a changed .ci/run where a test cannot wait.
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
expect "a successful run passes" ended_with 0
expect "and ends with ctest's summary" says "100% tests passed, 0 tests failed out of 3"
seconds=$(awk '$1 == "part" { seconds += $3 } END { print seconds }' "$repository/.ci/run")
expect "the budgets of the parts add up to the limit of 29 minutes" [ "$seconds" -eq 1740 ]

run 'build() { sleep 1.2; }' 's/^part build [0-9]* /part build 0 /'
expect "a run with a part over its budget passes within the limit" ended_with 0
expect "and reports the part" says "ci: build is over its budget"
expect "after the other parts" says "100% tests passed"
run 'demo() { sleep 20; }' 's/ 29m / 1s /'
expect "a run over the limit is stopped" ended_with 124
expect "and that is reported" says "ci: stopped after 29 minutes"

run 'build() { return 1; }'
expect "a failed build fails the run" ended_with 1
expect "and is reported" says "ci: build FAILED"
expect "and stops it" not says "ci: tests"
run 'tests() { return 8; }'
expect "failed tests are reported" says "ci: tests FAILED"
expect "and fail the run" ended_with 1

run 'window="***Skipped"'
expect "an untested window fails the run" ended_with 1
expect "and is reported" says "ci: the real window was not tested"

run 'vulkan=93'
expect "a single line that differs from the CPU's fails the run" ended_with 1
expect "and the device is reported" says "the demo's table lacks vulkan, or its translations differ from the CPU's"
run 'cpu=93'
expect "this applies to the CPU, too" ended_with 1
run 'completed=stop'
expect "a completion that differs between devices is reported" says "the demo's devices complete or fill in differently"
run 'demo() { echo "$build"; echo "  cpu  1.02  602  100 %"; }'
expect "a device that is missing from the table is reported" says "the demo's table lacks vulkan"
run 'build="[1/64] Shader adam"'
expect "rebuilding something is reported" says "ci: the demo rebuilt something"
run 'end="<path"'
expect "a truncated figure is reported" says "is incomplete"

expect "the hosted service runs the same script" grep -qx '      - run: .ci/run' "$repository/.github/workflows/ci.yml"

finish "CI accepts and rejects as expected"
