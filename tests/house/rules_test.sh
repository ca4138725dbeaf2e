#!/usr/bin/env bash
# Each family of kernels opens with its rule: what is overwritten, added to, done in place, and how sums are ordered. The
# three backends state it in the same words.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"

# Of the comment that a file begins with.
rule_of() {
    awk '!/^\/\//{exit} /^\/\/ Rule: /{inside = 1} inside' "$1"
}

families=0
for header in src/backend/ops/*.h; do
    family=$(basename "$header" .h)
    [ "$family" = common ] && continue
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
