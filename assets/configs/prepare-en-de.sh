#!/bin/sh
# Prepares English-German text for en-de.json in OUTPUT_FOLDER:
# - tatoeba: deu-eng.zip of manythings.org/anki (CC BY 2.0 France), without the held-out pairs of en-de-test.tsv and
#   en-de-valid.tsv.
# - europarl, optional: the first 20,000 German-English pairs of Europarl v7, in two files; the last 1,000 are held out.
# - bible, optional: the Berean Standard Bible (CC0) and the Elberfelder of 1905 (public domain), one verse per line in two
#   files (github.com/scrollmapper/bible_databases).
# - names, optional: Tatoeba's sentences about Tom, Mary and John with names from WORDS, one word per line
#   (/usr/share/dict/american-english of Debian's wamerican), so that the model learns to copy names.
# The input files may be compressed with gzip. No training pair shares a side with a held-out pair of Tatoeba or Europarl.
set -eu
if [ $# -ne 3 ] && [ $# -ne 5 ] && [ $# -ne 7 ] && [ $# -ne 8 ]; then
    echo "usage: $0 HEADSCOPE_PROGRAM DEU_ENG_ZIP OUTPUT_FOLDER [EUROPARL_EN EUROPARL_DE [BIBLE_EN BIBLE_DE [WORDS]]]" >&2
    exit 2
fi
headscope=$1
output=$3
configs=$(dirname "$0")
# From the German spelling before 1996 to today's, for the most frequent changes: ss after a short vowel. Also removes
# Europarl's spaces before closing quotation marks.
modernise() {
    case $1 in *.gz) gzip -dc "$1" ;; *) cat "$1" ;; esac | LC_ALL=C.UTF-8 sed -E \
        -e 's/\b([Dd]a|[Gg]ewi|[Bb]i|[Ii]|[Ff]ri|[Nn]a|[Bb]la)ß/\1ss/g' \
        -e 's/(\b|ver|er|ent|Er|Ver)([Ll]a|[Ll]ä|[Ww]u|[Mm]u|[Mm]ü|[Kk]u|[Kk]ü|[Hh]a|[Ff]a)ß(t|te|ten|tet|test|lich|licher)?\b/\1\2ss\3/g' \
        -e 's/(ewu|eha|efa|mfa|nla|[Vv]ermi|[Mm]i|erge|ergi|[Ss]chlu|[Ff]lu|[Rr]i|[Ss]chu|oze|ongre|enu|[Ss]tre)ß/\1ss/g' \
        -e 's/Rußl/Russl/g' -e 's/"([^" ][^"]*[^" ]) "( |$)/"\1"\2/g'
}

prepare() { # FOLDER OPTION..
    folder=$output/$1
    shift
    "$headscope" data --output "$folder" --last --valid 0 --exclude "$output/held-out.tsv" "$@"
}
mkdir -p "$output"
cp "$configs/en-de-valid.tsv" "$output/valid.tsv"
cat "$configs/en-de-test.tsv" "$configs/en-de-valid.tsv" >"$output/held-out.tsv"
if [ $# -ge 5 ]; then
    modernise "$5" >"$output/europarl.de"
    prepare europarl --source "$4" --target "$output/europarl.de" --test 1000 --most-words 0 --keep-identical --keep-duplicates
    cat "$output/europarl/test.tsv" >>"$output/held-out.tsv"
fi
# Keeps every pair: people translated them one by one.
unzip -p "$2" deu.txt >"$output/deu.txt"
prepare tatoeba --tsv "$output/deu.txt" --test 0 --most-words 0 --most-ratio 0 --keep-identical --keep-duplicates
if [ $# -ge 7 ]; then
    modernise "$7" >"$output/bible.de"
    prepare bible --source "$6" --target "$output/bible.de" --test 0 --most-words 120 --most-ratio 2
fi
if [ $# -eq 8 ]; then
    perl "$configs/other-names.pl" "$8" "$output/tatoeba/train.tsv" "$output/europarl/train.tsv" "$output/bible/train.tsv" \
        >"$output/names.tsv"
    prepare names --tsv "$output/names.tsv" --test 0 --most-words 0 --most-ratio 0 --keep-identical --keep-duplicates
fi
