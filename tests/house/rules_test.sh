#!/usr/bin/env bash
# Each family of kernels opens with its rule: what is overwritten, added to, done in place, and how sums are ordered. The
# three backends state it in the same words. Each CUDA kernel waits for those in front before anything else, which no
# emulator shows: without it a GPU reads what is not yet written (backends/cuda/dependent_launch.h). Families of models are
# asked for facts, not named.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"

# Of the comment that a file begins with.
rule_of() {
    awk '!/^\/\//{exit} /^\/\/ Rule: /{inside = 1} inside' "$1"
}

families=0
for header in src/backend/ops/*.h; do
    family=$(basename "$header" .h)
    families=$((families + 1))
    model=backends/vulkan/ops/$family.cpp
    expected=$(rule_of "$model")
    [ -n "$expected" ] || { echo "FAILED: $model does not open with a line \"// Rule: ..\""; exit 1; }
    for file in "backends/cuda/$family.cu" "backends/cpu/$family.cpp"; do
        [ -e "$file" ] || [ "$file" = "backends/cuda/$family.cu" ] || continue  # without it the CPU runs the oracle
        [ "$(rule_of "$file")" = "$expected" ] || {
            echo "FAILED: $file states another rule than $model:"
            diff <(echo "$expected") <(rule_of "$file") || true
            exit 1
        }
    done
done
[ "$families" -ge 9 ] || { echo "FAILED: only $families families found"; exit 1; }
echo "$families families of kernels state the same rule in each backend"

# Of a CUDA file: its kernels, and complaints of bodies that begin otherwise. A body follows a line that ends with "{".
kernels_of() {
    awk '!/^ *\/\// && /__global__/ {
             if (sought) complain()
             sought = 1
             place = FILENAME ":" FNR
         }
         function complain() { print "FAILED: the kernel at " place " does not begin with after_previous();"; sought = 0 }
         body { if ($0 !~ /^ *after_previous\(\);$/) complain(); else print "kernel"; body = sought = 0 }
         sought && /[{]$/ { body = 1 }
         END { if (sought) complain() }' "$1"
}

kernels=$(find backends/cuda -name '*.cu' -o -name '*.h' | sort | while read -r file; do kernels_of "$file"; done)
! grep '^FAILED' <<<"$kernels" || exit 1
count=$(grep -c '^kernel' <<<"$kernels")
[ "$count" -ge 50 ] || { echo "FAILED: only $count CUDA kernels found"; exit 1; }
echo "$count CUDA kernels begin by waiting for those in front"

# What a family of models does is asked of its row in src/model/family.cpp, so that a new family is a row.
naming=$(grep -rlE 'Architecture::[A-Z]' src backends viewer | grep -cvE '^src/(model|import)/' || true)
[ "$naming" -le 15 ] || { echo "FAILED: $naming files outside of src/model and src/import name a family: ask traits()"; exit 1; }
echo "$naming files outside of src/model and src/import name a family of models"

# The same of tasks, whose rows are in src/data/task.cpp; others name the one that they begin with.
naming=$(grep -rlE '(^|[^A-Za-z])Task::[A-Z]' src backends viewer | wc -l)
[ "$naming" -le 4 ] || { echo "FAILED: $naming files name a task: ask traits()"; exit 1; }
echo "$naming files name a task"
