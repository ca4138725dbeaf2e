#!/bin/sh
# English-German text to train on, in OUTPUT/tatoeba and OUTPUT/europarl: deu-eng.zip of manythings.org/anki
# (Tatoeba, CC BY 2.0 FR), and the first 20,000 German-English pairs of Europarl v7 as two files, if they are given.
# What is held out shares no side, compared without case and punctuation, with a training pair.
set -eu
if [ $# -ne 3 ] && [ $# -ne 5 ]; then
    echo "usage: $0 HEADSCOPE_PROGRAM DEU_ENG_ZIP OUTPUT_FOLDER [EUROPARL_EN EUROPARL_DE]" >&2
    exit 2
fi
mkdir -p "$3"
unzip -p "$2" deu.txt >"$3/deu.txt"
# Every pair that is there: people translated them one by one.
"$1" data --tsv "$3/deu.txt" --output "$3/tatoeba" --valid 1000 --test 2000 --seed 1 \
    --most-words 0 --most-ratio 0 --keep-identical --keep-duplicates
if [ $# -eq 5 ]; then
    "$1" data --source "$4" --target "$5" --output "$3/europarl" --last --valid 0 --test 1000 --most-words 0 \
        --keep-identical --keep-duplicates --exclude "$3/tatoeba/test.tsv" --exclude "$3/tatoeba/valid.tsv"
fi
