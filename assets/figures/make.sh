#!/usr/bin/env bash
# Draws the paper's Figures 3, 4 and 5 for its own sentences with the model that ships. The heads are found by rules
# (headscope attention --help, docs/figures.md), not picked by hand; what was found is told on standard error.
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

# What "making" is far from and yet looks at: every head of the layer in which one does so most.
figure figure3 "${sentences[0]}" --find long-distance=making --best 8 --word making
# The head that looks from "its" at what it stands for: for every word, and for "its" alone.
figure figure4-above "${sentences[1]}" --find link=its,Law
figure figure4-below "${sentences[1]}" --find link=its,Law --word its
# Two heads that learnt different tasks: the two sharpest that follow neither position nor the end of the sentence.
figure figure5-left "${sentences[1]}" --find structure
figure figure5-right "${sentences[1]}" --find structure --rank 2
