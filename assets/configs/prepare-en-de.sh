#!/bin/sh
# English-German text to train on, in OUTPUT/tatoeba, OUTPUT/europarl, OUTPUT/bible and OUTPUT/names: deu-eng.zip of
# manythings.org/anki (Tatoeba, CC BY 2.0 FR); if they are given the first 20,000 German-English pairs of Europarl v7 as two
# files; if they are given the Berean Standard Bible (CC0) and the Elberfelder of 1905 (public domain), verse by verse, as two
# files, plain or gzip (github.com/scrollmapper/bible_databases has both); and if it is given a list of words, one a line
# (/usr/share/dict/american-english of Debian's wamerican): Tatoeba's sentences of Tom, Mary and John once more with names of
# that list, so that names are learned to be copied. What is held out shares no side, compared without case and punctuation,
# with a training pair.
set -eu
if [ $# -ne 3 ] && [ $# -ne 5 ] && [ $# -ne 7 ] && [ $# -ne 8 ]; then
    echo "usage: $0 HEADSCOPE_PROGRAM DEU_ENG_ZIP OUTPUT_FOLDER [EUROPARL_EN EUROPARL_DE [BIBLE_EN BIBLE_DE [WORDS]]]" >&2
    exit 2
fi
names=$(dirname "$0")/other-names.pl
# German of the spelling before 1996 to today's, in what changes most: ss after a short vowel, in common words. And Europarl
# has blanks before closing quotation marks.
modernise() {
    case $1 in *.gz) gzip -dc "$1" ;; *) cat "$1" ;; esac | LC_ALL=C.UTF-8 sed -E \
        -e 's/\b([Dd]a|[Gg]ewi|[Bb]i|[Ii]|[Ff]ri|[Nn]a|[Bb]la)ß/\1ss/g' \
        -e 's/(\b|ver|er|ent|Er|Ver)([Ll]a|[Ll]ä|[Ww]u|[Mm]u|[Mm]ü|[Kk]u|[Kk]ü|[Hh]a|[Ff]a)ß(t|te|ten|tet|test|lich|licher)?\b/\1\2ss\3/g' \
        -e 's/(ewu|eha|efa|mfa|nla|[Vv]ermi|[Mm]i|erge|ergi|[Ss]chlu|[Ff]lu|[Rr]i|[Ss]chu|oze|ongre|enu|[Ss]tre)ß/\1ss/g' \
        -e 's/Rußl/Russl/g' -e 's/"([^" ][^"]*[^" ]) "( |$)/"\1"\2/g'
}
mkdir -p "$3"
unzip -p "$2" deu.txt >"$3/deu.txt"
# Every pair that is there: people translated them one by one.
"$1" data --tsv "$3/deu.txt" --output "$3/tatoeba" --valid 1000 --test 2000 --seed 1 \
    --most-words 0 --most-ratio 0 --keep-identical --keep-duplicates
if [ $# -ge 5 ]; then
    modernise "$5" >"$3/europarl.de"
    "$1" data --source "$4" --target "$3/europarl.de" --output "$3/europarl" --last --valid 0 --test 1000 --most-words 0 \
        --keep-identical --keep-duplicates --exclude "$3/tatoeba/test.tsv" --exclude "$3/tatoeba/valid.tsv"
fi
if [ $# -ge 7 ]; then
    modernise "$7" >"$3/bible.de"
    "$1" data --source "$6" --target "$3/bible.de" --output "$3/bible" --last --valid 0 --test 0 --most-words 120 \
        --most-ratio 2 --exclude "$3/tatoeba/test.tsv" --exclude "$3/tatoeba/valid.tsv" --exclude "$3/europarl/test.tsv"
fi
if [ $# -eq 8 ]; then
    perl "$names" "$8" "$3/tatoeba/train.tsv" "$3/europarl/train.tsv" "$3/bible/train.tsv" >"$3/names.tsv"
    "$1" data --tsv "$3/names.tsv" --output "$3/names" --last --valid 0 --test 0 --most-words 0 --most-ratio 0 \
        --keep-identical --keep-duplicates --exclude "$3/tatoeba/test.tsv" --exclude "$3/tatoeba/valid.tsv"
fi
