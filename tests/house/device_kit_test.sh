#!/usr/bin/env bash
# What of tests/device needs neither a GPU nor a build: calls that fit their seconds, a tree that becomes small without
# losing work, and the numbers that are read from documents and outputs. ./do check kit runs the rest.
# shellcheck disable=SC2317 # conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
export PYTHONDONTWRITEBYTECODE=1
output=
show() { printf '    output: %s\n' "$output"; }
says() { [[ $output == *"$1"* ]]; }

# ------------------------------------------------------------------------------------------------- calls

run() { # COMMAND..
    output=$("$@" 2>&1)
    code=$?
}
fits() { # SECONDS
    [ "$(tail -n 1 <<<"$output")" -le "$1" ]
}
for call in A:400 B:240 C:1200; do
    run "$repository/tests/device/run.sh" --list --call "${call%:*}"
    expect "the parts of call ${call%:*} fit ${call#*:} seconds" fits "${call#*:}"
done
run "$repository/tests/device/run.sh" --list --call ABC
awk '/ s / { print $6 }' <<<"$output" | grep -v -x -e machine -e data | sort | uniq -d >"$sandbox/twice"
expect "no part is in two calls, or twice in one" [ ! -s "$sandbox/twice" ]
run "$repository/tests/device/run.sh" --call D out out
expect "a call that does not exist is an error" says "out of A, B and C"

# ------------------------------------------------------------------------------------------------- numbers

run python3 "$repository/tests/device/measure.py" tests <<'CATCH'
All tests passed (12 assertions in 2 test cases)
===============================================================================
test cases:  3 |  2 passed | 1 failed
assertions: 40 | 39 passed | 1 failed
CATCH
expect "what several processes of Catch2 report is added up" says "NOTE: 5 test cases (1 failed), 52 assertions (1 failed)"
run python3 "$repository/tests/device/measure.py" switches <<'JSON'
[{"rejected": "HEADSCOPE_CUDA_DISABLE names \"?\"; expected words out of attention, top_k, separated by commas"}]
JSON
expect "the program's own words are read" [ "$output" = $'attention train\ntop_k decode' ]
run python3 -c "import sys; sys.path.insert(0, '$repository/tests/device'); import predictions as p
print(*(p.of_op(op) is not None for op in [*p.OPS_AT_MOST, 'the whole step']), all(p.gain_of(w) for w in p.OP_OF_SWITCH))"
expect "docs/cuda.md predicts every op that has a limit" [ "$output" = "True True True True True True" ]

while read -r _ kernel; do
    expect "there is a kernel whose name has $kernel" grep -q "[ _]$kernel" "$repository"/backends/cuda/*.cu
done < <(sed -n "/<<'OPS'/,/^OPS/p" "$repository/tests/device/speed_parts.sh" | sed '1d; $d')

# ------------------------------------------------------------------------------------------------- the tree

if ! command -v git >/dev/null; then
    finish "the kit's calls fit (there is no git to try tree.sh with)"
fi
tree=$sandbox/tree/tests/device/tree.sh
in_tree() { git -C "$sandbox/tree" -c user.name=a -c user.email=a@b "$@"; }
git init --quiet "$sandbox/tree"
install -D "$repository/tests/device/tree.sh" "$tree"
for file in assets/models/m/model.safetensors assets/figures/f.svg assets/pictures/p.png assets/configs/c.json \
    tests/viewer_window/goldens/g.png README.md; do
    install -D -m 644 "$repository/LICENSE" "$sandbox/tree/$file"
done
in_tree add -A
in_tree commit --quiet -m all
whole=$("$tree" size)

echo changed >>"$sandbox/tree/README.md"
run "$tree" small
expect "a change that is not committed is not put at risk" says "README.md"
expect "and nothing is left out" [ -e "$sandbox/tree/assets/models/m/model.safetensors" ]
in_tree checkout --quiet README.md
echo new >"$sandbox/tree/assets/models/new"
run "$tree" small
expect "nor is a file that git does not know" says "assets/models/new"
rm "$sandbox/tree/assets/models/new"

run "$tree" small
expect "a clean tree becomes small" [ ! -e "$sandbox/tree/assets/models" ]
expect "and keeps what parts need" [ -e "$sandbox/tree/assets/configs/c.json" ]
expect "its size is that of the files that are there" [ "$("$tree" size)" -lt "$whole" ]
run "$tree" small
expect "once is enough" says "already"
echo changed >>"$sandbox/tree/README.md"
run "$tree" whole
expect "what was left out comes back" [ -e "$sandbox/tree/tests/viewer_window/goldens/g.png" ]
expect "a change made meanwhile stays" grep -qx changed "$sandbox/tree/README.md"
in_tree checkout --quiet README.md
expect "and git sees no difference" [ -z "$(in_tree status --porcelain)" ]
expect "the tree has its size again" [ "$("$tree" size)" -eq "$whole" ]

in_tree sparse-checkout set --no-cone '/*' '!/README.md'
run "$tree" small
expect "a tree that leaves out other files stays as it is" says "leaves out other files already"
run "$tree" whole
expect "in either direction" says "did not make this checkout small"

finish "the kit's calls fit, and a tree becomes small and whole again"
