#!/bin/sh
# The data of en-de-tatoeba.json: deu-eng.zip of manythings.org/anki (Tatoeba, CC BY 2.0) to train.tsv, valid.tsv and
# test.tsv. The test's English sentences, normalised, are not in the other parts.
set -eu
if [ $# -ne 3 ]; then
    echo "usage: $0 HEADSCOPE_PROGRAM DEU_ENG_ZIP OUTPUT_FOLDER" >&2
    exit 2
fi
unzip -p "$2" deu.txt | "$1" prepare - --output "$3" --valid 1000 --test 2000 --seed 1
