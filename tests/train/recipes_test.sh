#!/usr/bin/env bash
# The paper's recipes: preparing WMT14's files, here tiny ones of the same names, and what training with them would take.
# usage: recipes_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2317,SC2329 # conditions expand later, called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
prepare() { # ARGS..
    "$repository/assets/configs/paper/prepare-wmt14.sh" "$headscope" "$@" >out 2>err
    code=$?
}
failed_with() { # WORD..
    local word
    ended_with 1 || return 1
    for word in "$@"; do complains "$word" || return 1; done
}

# ------------------------------------------------------------------------------------------ WMT14's files
# As the archives unpack them.
mkdir -p wmt/training wmt/un wmt/dev wmt/test-full
corpus() { # FILE LANGUAGE: five pairs
    for i in 1 2 3 4 5; do
        echo "Sentence $i of $(basename "$1")." >>"$1.en"
        echo "Other side $i of $(basename "$1") in $2." >>"$1.$2"
    done
}
corpus wmt/commoncrawl.de-en de
corpus wmt/training/europarl-v7.de-en de
corpus wmt/training/news-commentary-v9.de-en de
corpus wmt/commoncrawl.fr-en fr
corpus wmt/training/europarl-v7.fr-en fr
corpus wmt/training/news-commentary-v9.fr-en fr
corpus wmt/un/undoc.2000.fr-en fr
corpus wmt/giga-fren.release2.fixed fr
gzip wmt/giga-fren.release2.fixed.*
printf 'First of dev.\nSecond of dev.\nSentence 2 of europarl-v7.de-en.\n' >wmt/dev/newstest2013.en
printf 'Erster.\nZweiter.\nDritter.\n' >wmt/dev/newstest2013.de
printf 'Premier.\nDeuxieme.\nTroisieme.\n' >wmt/dev/newstest2013.fr
sgm() { # FIRST SECOND
    printf '<refset setid="newstest2014">\n<doc docid="a">\n<p>\n<seg id="1">%s</seg>\n</p>\n' "$1"
    printf '<p>\n<seg id="2"> %s </seg>\n</p>\n</doc>\n</refset>\n' "$2"
}
for pair in deen fren; do
    sgm 'Peter &amp; Paul said &quot;no&quot;.' 'Last of test.' >"wmt/test-full/newstest2014-$pair-src.en.sgm"
done
sgm 'Peter &amp; Paul sagten &quot;nein&quot;.' 'Letzter.' >wmt/test-full/newstest2014-deen-ref.de.sgm
sgm 'Pierre &amp; Paul.' 'Dernier.' >wmt/test-full/newstest2014-fren-ref.fr.sgm

prepare de wmt prepared
expect "the number of lines is compared with the publisher's" failed_with "newstest2013.en has 3 lines, expected 3000" "--any-count"
prepare de wmt prepared --any-count
expect "German is prepared" ended_with 0
expect "training pairs are those of three corpora, without dev's" eval '[ "$(wc -l <prepared/wmt14/train.tsv)" -eq 14 ] && ! grep -q "Sentence 2 of europarl" prepared/wmt14/train.tsv'
expect "dev is newstest2013" eval '[ "$(cat prepared/valid.tsv)" = "$(paste wmt/dev/newstest2013.en wmt/dev/newstest2013.de)" ]'
expect "test is newstest2014, as plain text" eval '[ "$(head -n 1 prepared/test.tsv)" = "$(printf "Peter & Paul said \"no\".\tPeter & Paul sagten \"nein\".")" ] && [ "$(tail -n 1 prepared/test.tsv)" = "$(printf "Last of test.\tLetzter.")" ]'
cp -r prepared before
prepare de wmt prepared --any-count
expect "preparing again gives the same" eval 'ended_with 0 && diff -r -x '.headscope*' prepared before'
prepare fr wmt prepared-fr --any-count
expect "French is prepared from five corpora, packed or not" eval 'ended_with 0 && [ "$(wc -l <prepared-fr/wmt14/train.tsv)" -eq 25 ] && grep -q giga-fren prepared-fr/wmt14/train.tsv && grep -q Dernier prepared-fr/test.tsv'
mkdir counted && cp -r wmt/training counted && for part in 2013:3000 2014:3003; do
    for side in en fr; do seq "${part#*:}" >"counted/newstest${part%:*}.$side"; done
done
prepare fr counted missing
expect "the French corpora have the publisher's numbers, too" failed_with "europarl-v7.fr-en.en has 5 lines, expected 2007723"
mv wmt/un/undoc.2000.fr-en.fr kept
prepare fr wmt missing --any-count
expect "a missing file is named" failed_with "wmt holds no undoc.2000.fr-en.fr"
head -n 4 kept >wmt/un/undoc.2000.fr-en.fr
prepare fr wmt missing --any-count
expect "sides of different length are an error" failed_with "undoc.2000.fr-en.en has 5 lines, but wmt/un/undoc.2000.fr-en.fr has 4"
mkdir wmt/again && cp wmt/commoncrawl.de-en.en wmt/again/
prepare de wmt missing --any-count
expect "a file that is there twice is an error" failed_with "commoncrawl.de-en.en is there more than once" wmt/again
prepare it wmt missing
expect "only German and French are known" eval 'ended_with 2 && complains "usage: "'
prepare de nowhere missing
expect "a missing folder is named" failed_with "'nowhere' is not a folder"

# ------------------------------------------------------------------------------------------ the configurations
jq '.model += {encoder_layers: 1, decoder_layers: 1, d_model: 16} | .model.feed_forward.d_ff = 32 | .model.attention.heads = 2 | .tokenizer.vocabulary = 80 | .training.steps = 2' \
    "$repository/assets/configs/paper/base-en-de.json" >tiny.json
run train --config tiny.json --data prepared --output small
expect "the prepared text is what the recipe asks for" eval 'ended_with 0 && [ -s small/model/model.safetensors ]'
mkdir empty && sed 's/"average_always": true/"average_always": true, "length_multiple": 1/' tiny.json >empty/tiny.json
run train --config empty/tiny.json --output none --dry-run
expect "a dry run needs no data" eval 'ended_with 0 && complains "none of the files of empty/tiny.json is there" && says "FLOPs per step" && says "sentences of 30 pieces" && ! [ -e none ]'
run train --config empty/tiny.json --data nowhere --output none --dry-run
expect "but a wrong folder is an error" refused "nowhere/wmt14/train.tsv"
run train --config empty/tiny.json --output none --dry-run --batch auto
expect "and so is a batch that depends on the data" refused "empty/wmt14/train.tsv"
run inspect small
expect "a model says what its training cost" eval 'ended_with 0 && grep -q "training_flops " out && grep -q "training_steps  *2$" out'
flops=$(jq .flops small/model/training.json)
run inspect small --key training_flops
expect "also by key" [ "$(jq . out)" = "$flops" ]
run import small/model --output smaller --precision f16
expect "which import copies" same small/model/training.json smaller/training.json
run train paper/big-en-fr --data nowhere --output none
expect "a recipe is found by its name" refused "nowhere/wmt14/train.tsv" "paper/big-en-fr.json"
run train paper/big-en-it --data prepared --output none
expect "an unknown name is an error that lists the others" refused "'paper/big-en-it'" "paper/base-en-fr, " multi30k "did you mean"

finish "the paper's recipes work"
