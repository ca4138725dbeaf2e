#!/bin/sh
# Prepares WMT14's English-German or English-French text (paper 5.1) for the configurations of this folder. Downloads
# nothing: DOWNLOADS holds the unpacked archives of statmt.org/wmt14/translation-task.html, in any subfolders, each file
# plain or with .gz: europarl-v7, commoncrawl and news-commentary-v9, for French also undoc.2000 and giga-fren; and as dev
# and test newstest2013 and newstest2014 (test-full.tgz; its .sgm files, or text). OUTPUT_FOLDER gets
# - wmt14/train.tsv: all pairs, in the order of the files, but those with an empty side or a TAB, those that are not UTF-8,
#   and those that share a side with dev or test
# - valid.tsv, test.tsv: newstest2013 and newstest2014
# Both sides of a corpus must have as many lines as its publisher's, where that number is known (lines_of):
# - en-de: europarl-v7 1,920,209, commoncrawl 2,399,123 and news-commentary-v9 201,288 (the organisers' tables of corpora,
#   WMT13 and WMT14): together the paper's "about 4.5 million sentence pairs"
# - en-fr: europarl-v7 2,007,723, commoncrawl 3,244,152, news-commentary-v9 183,251, undoc.2000 12,886,831 and giga-fren
#   22,520,376 (Lingvo's wmt14_en_fr): 40.8 million pairs, of which the paper has 36 million
# - newstest2013 3,000; newstest2014 3,003, or German's official 2,737 (sacreBLEU's wmt14/full and wmt14)
# --any-count compares no numbers, for a part of a corpus.
set -eu
case $#:${2:-}:${5:-} in
    4:de: | 4:fr: | 5:de:--any-count | 5:fr:--any-count) ;;
    *)
        echo "usage: $0 HEADSCOPE_PROGRAM de|fr DOWNLOADS OUTPUT_FOLDER [--any-count]" >&2
        exit 2
        ;;
esac
headscope=$1
language=$2
downloads=$3
output=$4
any_count=${5:-}
fail() {
    echo "prepare-wmt14.sh: $*" >&2
    exit 1
}

# The path of one of the files NAME.. in DOWNLOADS, plain or packed.
find_file() { # NAME..
    for name in "$@"; do
        found=$(find "$downloads" -type f \( -name "$name" -o -name "$name.gz" \))
        case $found in
            '') ;;
            *"
"*) fail "$name is there more than once: keep one of $(echo "$found" | tr '\n' ' ')" ;;
            *) echo "$found" && return ;;
        esac
    done
    fail "$downloads holds no $1 (nor $1.gz): unpack the archive that has it there"
}
read_file() { case $1 in *.gz) gzip -dc "$1" ;; *) cat "$1" ;; esac }
# Segments of an .sgm file become lines.
text_of() { # FILE
    case $1 in
        *.sgm | *.sgm.gz)
            read_file "$1" | sed -n 's/^ *<seg[^>]*> *\(.*[^ ]\) *<\/seg>.*/\1/p' |
                sed -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&quot;/"/g' -e "s/&apos;/'/g" -e 's/&amp;/\&/g'
            ;;
        *) read_file "$1" ;;
    esac
}
lines_of() { # CORPUS: how many it has
    case $1 in
        europarl-v7.de-en) echo 1920209 ;;
        commoncrawl.de-en) echo 2399123 ;;
        news-commentary-v9.de-en) echo 201288 ;;
        europarl-v7.fr-en) echo 2007723 ;;
        commoncrawl.fr-en) echo 3244152 ;;
        news-commentary-v9.fr-en) echo 183251 ;;
        undoc.2000.fr-en) echo 12886831 ;;
        giga-fren.release2.fixed) echo 22520376 ;;
        newstest2013) echo 3000 ;;
        newstest2014) [ "$language" = fr ] && echo 3003 || echo '3003 2737' ;;
    esac
}
check_lines() { # CORPUS ENGLISH OTHER
    source=$(text_of "$2" | grep -c '') || fail "$2 holds no line"
    target=$(text_of "$3" | grep -c '') || fail "$3 holds no line"
    [ "$source" = "$target" ] || fail "$2 has $source lines, but $3 has $target: they are not the sides of one corpus"
    expected=$(lines_of "$1")
    case "$any_count $expected " in
        "--any-count "* | "  " | *" $source "*) ;;
        *) fail "$2 has $source lines, expected $expected: download $1 again, or pass --any-count for a part of it" ;;
    esac
}
held_out() { # PART CORPUS ENGLISH OTHER
    check_lines "$2" "$3" "$4"
    text_of "$3" >"$output/$1.en.tmp"
    text_of "$4" >"$output/$1.other.tmp"
    paste "$output/$1.en.tmp" "$output/$1.other.tmp" >"$output/$1.tsv"
    rm "$output/$1.en.tmp" "$output/$1.other.tmp"
    [ "$(cut -f3- "$output/$1.tsv" | grep -c .)" = 0 ] || fail "$3 or $4 holds a TAB"
}

[ -d "$downloads" ] || fail "'$downloads' is not a folder"
pair=$language-en
corpora="europarl-v7.$pair commoncrawl.$pair news-commentary-v9.$pair"
[ "$language" = de ] || corpora="$corpora undoc.2000.$pair giga-fren.release2.fixed"
mkdir -p "$output"
english=$(find_file newstest2013.en)
other=$(find_file "newstest2013.$language")
held_out valid newstest2013 "$english" "$other"
test=newstest2014-$language"en"
english=$(find_file "$test-src.en.sgm" newstest2014.en)
other=$(find_file "$test-ref.$language.sgm" "newstest2014.$language")
held_out test newstest2014 "$english" "$other"
set --
for corpus in $corpora; do
    english=$(find_file "$corpus.en")
    other=$(find_file "$corpus.$language")
    check_lines "$corpus" "$english" "$other"
    set -- "$@" --source "$english" --target "$other"
done
"$headscope" data "$@" --output "$output/wmt14" --valid 0 --test 0 --most-words 0 --most-ratio 0 --keep-identical \
    --keep-duplicates --exclude "$output/valid.tsv" --exclude "$output/test.tsv"
echo "next: $headscope train paper/base-en-$language --data $output --output RUN"
