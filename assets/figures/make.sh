#!/usr/bin/env bash
# Draws the paper's Figures 3, 4 and 5 for its own sentences with the bundled model. The heads are found by rules
# (headscope attention --help, docs/figures.md), not picked by hand, and reported on standard error.
# usage: assets/figures/make.sh [HEADSCOPE-PROGRAM [FOLDER]]
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
headscope=${1:-headscope}
folder=${2:-$repository/assets/figures}
model=${HEADSCOPE_MODEL:-$repository/assets/models/en-de}
mapfile -t sentences <"$repository/assets/examples/paper.en"

figure() { # NAME SENTENCE OPTION..
    local name=$1 sentence=$2
    shift 2
    echo "$name: $*" >&2
    for format in svg png; do
        "$headscope" attention --model "$model" --device cpu --text "$sentence" "$@" -o "$folder/$name.$format" \
            2>"$folder/found.tmp"
    done
    sed 's/^/    /' "$folder/found.tmp" >&2
    rm "$folder/found.tmp"
}

# Distant words that "making" looks at: every head of the layer with the strongest such head.
figure figure3 "${sentences[0]}" --find long-distance=making --best 8 --word making
# The head that looks from "its" to what it refers to, for every word; it and the second best, as the paper has two heads,
# for "its" alone.
figure figure4-above "${sentences[1]}" --find link=its,Law
figure figure4-below "${sentences[1]}" --find link=its,Law --best 2 --word its
# Two heads that learned different tasks: the two sharpest that follow neither position nor the end of the sentence.
figure figure5-left "${sentences[1]}" --find structure
figure figure5-right "${sentences[1]}" --find structure --rank 2
# Words on the plane in which their vectors differ the most.
"$headscope" embed --model "$repository/assets/models/en-masked" --device cpu --unit word --layer 3 \
    "$repository/assets/examples/words.en" -o "$folder/words.svg"
