#!/bin/sh
# Prepares English text for en-causal.json and en-masked.json in OUTPUT_FOLDER, one document a line:
# - tatoeba.txt: the English sentences of deu-eng.zip and fra-eng.zip of manythings.org/anki (CC BY 2.0 France), each
#   once, without those of en-de-test.tsv and en-de-valid.tsv (whatever their case and punctuation).
# - europarl.txt: the English side of Europarl v7's first 20,000 pairs without the last 1,000 (held out for en-de), four
#   sentences a line.
# - bible.txt: the Berean Standard Bible (CC0), one verse a line in BIBLE_EN, eight verses a line here.
# - valid.txt: 1,000 lines of the first, 60 of each of the others, which are left out there.
# The last two input files may be compressed with gzip.
set -eu
if [ $# -ne 5 ]; then
    echo "usage: $0 DEU_ENG_ZIP FRA_ENG_ZIP EUROPARL_EN BIBLE_EN OUTPUT_FOLDER" >&2
    exit 2
fi
output=$5
configs=$(dirname "$0")
mkdir -p "$output"

text_of() { case $1 in *.gz) gzip -dc "$1" ;; *) cat "$1" ;; esac; }
joined() { # LINES: of each document
    awk -v lines="$1" 'NF { printf "%s%s", text, $0; text = " " } NR % lines == 0 { print ""; text = "" } END { print "" }' |
        grep .
}
split_off() { # NAME DOCUMENTS: those for validation, spread over the text
    awk -v wanted="$2" -v text="$output/$1" -v valid="$output/valid.txt" '
        { lines[NR] = $0 }
        END {
            every = int(NR / wanted)
            for (i = 1; i <= NR; ++i)
                if (every && i % every == 0 && i / every <= wanted) print lines[i] >>valid; else print lines[i] >text
        }'
}

: >"$output/valid.txt"
cat "$configs/en-de-test.tsv" "$configs/en-de-valid.tsv" | cut -f 1 >"$output/held-out.txt"
{ unzip -p "$1" deu.txt; unzip -p "$2" '*fra.txt'; } | cut -f 1 | sort -u | LC_ALL=C.UTF-8 awk '
    function key(text) { text = tolower(text); gsub(/[^[:alnum:]]+/, " ", text); return text }
    NR == FNR { held_out[key($0)]; next }
    !(key($0) in held_out)' "$output/held-out.txt" - | split_off tatoeba.txt 1000
text_of "$3" | head -n 19000 | joined 4 | split_off europarl.txt 60
text_of "$4" | joined 8 | split_off bible.txt 60
