#!/usr/bin/env bash
# Several tasks in one model, beside a model for each: both directions of a pair of languages, then translation and
# parsing. The shared model takes as many steps as the others together. Prints two tables. Goes on where it was stopped.
#
#   assets/tasks/run.sh PAIRS TREES [FOLDER]      default: out/tasks
#   HEADSCOPE=PROGRAM     default: build/release/headscope
#   STEPS=N               of a model for one task; default: 400
#
# PAIRS: train.tsv, valid.tsv and test.tsv, "English TAB German". TREES: train.trees and dev.trees, one tree a line.
set -euo pipefail

readonly HEADSCOPE=${HEADSCOPE:-build/release/headscope}
readonly PAIRS=$1 TREES=$2 FOLDER=${3:-out/tasks} STEPS=${STEPS:-400}
HERE=$(dirname "${BASH_SOURCE[0]}")
readonly HERE
readonly DATA=$FOLDER/data
command -v jq >/dev/null || { echo 'run.sh: jq is missing' >&2; exit 1; }

corpora() {  # NAME..: of data/NAME.train.tsv and data/NAME.valid.tsv, by the language that they end in
    jq -n --args '[$ARGS.positional[] | {name: ., language: split("-")[-1]}]
        | {train: map({tsv: (.name + ".train.tsv"), target_language: .language}),
           valid: map({tsv: (.name + ".valid.tsv"), target_language: .language})}' "$@"
}

train() {  # NAME STEPS FILTER CORPUS..: a training, unless it has ended
    local name=$1 steps=$2 filter=$3 resume=()
    shift 3
    if [ -e "$FOLDER/$name/model/config.json" ]; then
        return
    fi
    echo "== $name" >&2
    jq --argjson data "$(corpora "$@")" ".data = \$data | $filter" "$HERE/pairs.json" >"$FOLDER/$name.json"
    if compgen -G "$FOLDER/$name/checkpoints/step-*" >/dev/null; then
        resume=(--resume)
    fi
    "$HEADSCOPE" train "$FOLDER/$name.json" --data "$DATA" --steps "$steps" --output "$FOLDER/$name" "${resume[@]}" >&2
}

bleu() {  # MODEL TEST
    "$HEADSCOPE" evaluate --model "$FOLDER/$1" --tsv "$DATA/$2.test.tsv" --target-language "${2##*-}" --json |
        jq '.bleu * 10 | round / 10'
}

# F1 and exact trees, in per cent.
parsed() {  # MODEL
    cut -f 1 "$DATA/en-trees.test.tsv" >"$FOLDER/words.txt"
    "$HEADSCOPE" translate --model "$FOLDER/$1" --target-language trees --beam 4 --length-penalty 0.3 --n-best 4 \
        "$FOLDER/words.txt" |
        "$HEADSCOPE" trees restore --terminals levels --n-best --words "$FOLDER/words.txt" --tags "$DATA/test.tags" \
            >"$FOLDER/$1.trees"
    "$HEADSCOPE" trees score "$DATA/test.trees" "$FOLDER/$1.trees" --json |
        jq -r '.all | "\(.f1 * 10 | round / 10) | \(.exact * 10 | round / 10)"'
}

mkdir -p "$DATA"
for part in train valid test; do
    cp "$PAIRS/$part.tsv" "$DATA/en-de.$part.tsv"
    awk -F '\t' '{ print $2 "\t" $1 }' "$PAIRS/$part.tsv" >"$DATA/de-en.$part.tsv"
done
"$HEADSCOPE" trees linearise --terminals levels "$TREES/train.trees" >"$DATA/en-trees.train.tsv"
awk 'NR % 7 == 0' "$TREES/dev.trees" >"$DATA/valid.trees"
awk 'NR % 7 == 1' "$TREES/dev.trees" >"$DATA/test.gold"
"$HEADSCOPE" trees linearise --terminals levels "$DATA/valid.trees" >"$DATA/en-trees.valid.tsv"
"$HEADSCOPE" trees linearise --terminals levels "$DATA/test.gold" >"$DATA/en-trees.test.tsv"
"$HEADSCOPE" trees linearise --print trees "$DATA/test.gold" >"$DATA/test.trees"
"$HEADSCOPE" trees linearise --print tags "$DATA/test.gold" >"$DATA/test.tags"

train en-de "$STEPS" . en-de
train de-en "$STEPS" . de-en
train both $((2 * STEPS)) . en-de de-en
# Words of their own: a symbol of a tree is one, and the n-th is that of the n-th word.
readonly WORDS='.tokenizer = {type: "words", vocabulary: 8000, minimum: 3, endings: 10, shared: false,
    target: {type: "words", vocabulary: 8000, minimum: 3}} | .model.embedding = {tying: "target_output"}'
train words-de "$STEPS" "$WORDS" en-de
train words-trees "$STEPS" "$WORDS" en-trees
train words-both $((2 * STEPS)) "$WORDS" en-de en-trees

echo '| model | steps | en-de, BLEU | de-en, BLEU |'
echo '|---|---:|---:|---:|'
echo "| one for each direction | 2 x $STEPS | $(bleu en-de en-de) | $(bleu de-en de-en) |"
echo "| one for both | $((2 * STEPS)) | $(bleu both en-de) | $(bleu both de-en) |"
echo
echo '| model, of words | steps | en-de, BLEU | trees, F1 | exact, % |'
echo '|---|---:|---:|---:|---:|'
echo "| one for each task | 2 x $STEPS | $(bleu words-de en-de) | $(parsed words-trees) |"
echo "| one for both | $((2 * STEPS)) | $(bleu words-both en-de) | $(parsed words-both) |"
