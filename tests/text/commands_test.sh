#!/usr/bin/env bash
# headscope tokenize with tokenizers of every type.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
shipped=$repository/assets/models/en-de
line_is() { [ "$(sed -n "$1p" out)" = "$2" ]; }
lines() { [ "$(wc -l <out)" -eq "$1" ]; }

# ------------------------------------------------------------------------------------- the shipped model, BPE
export HEADSCOPE_MODEL=$shipped
run tokenize --text "The cat sleeps."
expect "a text becomes a line of pieces" lines 1
expect "with the default model" grep -qE '^▁The ▁cat ▁.*\.$' out
cp out pieces
printf 'The cat sleeps.\n\nΩ?\n' >text.en
run tokenize text.en
expect "a file gives one line for each of its lines" lines 3
expect "which are its pieces" line_is 1 "$(cat pieces)"
expect "or empty" line_is 2 ""
cp out all
gzip -k text.en
run tokenize text.en.gz
expect "a compressed file, too" same out all
run tokenize <text.en
expect "and standard input" same out all
run tokenize - <text.en
expect "which is -" same out all
run tokenize --model "$shipped" text.en
expect "--model is the default model" same out all
run tokenize --tokenizer "$shipped/sentencepiece.model" text.en
expect "--tokenizer is a file of its own" same out all
run tokenize --side target text.en
expect "both languages share the vocabulary" same out all
run tokenize --ids text.en
expect "--ids prints ids" grep -qxE '[0-9]+( [0-9]+)+' out
expect "as many as pieces" [ "$(head -n 1 out | wc -w)" -eq "$(wc -w <pieces)" ]
cp out ids
run tokenize --decode <ids
expect "--decode returns the text" line_is 1 "The cat sleeps."
expect "line by line" line_is 2 ""
expect "an unknown character has a sign of its own" line_is 3 " ⁇ ?"
run tokenize --decode --text "1 $(head -n 1 ids) 2"
expect "control pieces become nothing" line_is 1 "The cat sleeps."
run tokenize --offsets --text "Ω The"
expect "--offsets prints bytes, id and piece" grep -qP '^0\t2\t3\tΩ$' out
expect "of every piece" grep -qP '^2\t6\t\d+\t▁The$' out
expect "and an empty line" [ -z "$(tail -n 1 out)" ]
run tokenize --json text.en
expect "--json prints an object for each line" [ "$(grep -c '"line":' out)" -eq 3 ]
expect "with text, pieces and offsets" grep -q '"text":"The cat sleeps.","pieces":\[{"piece":"▁The","id":[0-9]*,"begin":0,"end":3}' out
expect "that marks what is unknown" grep -q '"piece":"Ω","id":3,.*"unknown":true' out
run tokenize --json --decode ids
expect "and for ids the same" grep -q '"text":"The cat sleeps.","pieces":\[{"piece":"▁The","id":[0-9]*,"begin":0,"end":3}' out
run tokenize --explain --text "The cat"
expect "--explain shows a word and its pieces" grep -qxF '▁cat = ▁cat' out
expect "from its characters" grep -qxF '    ▁ c a t' out
expect "over each merge" grep -qE '^    ▁cat    ▁c \+ at, score -[0-9]+$' out

# ---------------------------------------------------------------------------- trained WordPiece and unigram
config() { # TYPE PIECES SHARED TYING
    cat <<JSON
{
  "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 32, "d_ff": 64, "heads": 2, "max_length": 64,
            "tying": "$4"},
  "data": {"train": {"tsv": "train.tsv"}},
  "tokenizer": {"type": "$1", "vocabulary": $2, "shared": $3},
  "training": {"steps": 2, "max_length": 64, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 3}
}
JSON
}
config wordpiece 48 true all >wordpiece.json
train_digits wordpiece.json
mv trained words
expect "a WordPiece vocabulary is text" [ "$(head -n 4 words/model/sentencepiece.model | tr '\n' ' ')" = "<pad> <s> </s> <unk> " ]
run tokenize --model words --ids --text "7 4"
cp out ids
run tokenize --model words --decode ids
expect "its ids become text again" line_is 1 "7 4"
run tokenize --model words --explain --text "7 x"
expect "it is explained by matches" grep -qxF '    the longest piece that begins 7: 7' out
expect "or by what is missing" grep -qxF '    unknown: no piece begins x' out
echo "1 7" | run translate --model words --max-extra 2
expect "a model with it translates" ended_with 0
run train wordpiece.json --data data --output words --resume
expect "and its training resumes" ended_with 0
sed 's/"data": {/"data": {"bpe_dropout": 0.1, /' wordpiece.json >dropout.json
run train dropout.json --data data --output dropout
expect "BPE-dropout needs BPE" complains "BPE-dropout needs a BPE tokenizer"

cut -f 2 data/train.tsv >words.de
tr '[:lower:]' '[:upper:]' <words.de >capitals.de
paste capitals.de words.de >train.tsv
config unigram 36 false none >unigram.json
run train unigram.json --output unigrams
expect "a model with two unigram tokenizers is trained" ended_with 0
run tokenize --model unigrams --explain --text "7 4"
expect "it is explained by likelihood" grep -qE '^    ▁ ?7    log P -[0-9.]+ = -' out
run tokenize --model unigrams --side target --offsets data/test.tsv
cp out target
run tokenize --model unigrams --side source --offsets data/test.tsv
expect "--side chooses one of two" not same out target

# ------------------------------------------------------------------------------------------- words as pieces
config bpe 40 false none | sed 's/"shared": false/&, "target": {"type": "words", "vocabulary": 30, "minimum": 2}/; s/"data": {/&"bpe_dropout": 0.1, /' >apart.json
run train apart.json --output apart
expect "a source of BPE and a target of words are trained, BPE-dropout on one" ended_with 0
run tokenize --model apart --side target --text "eins undtausend"
expect "words have ids" line_is 1 "eins undtausend"
run tokenize --model apart --side target --ids --text "undtausend"
expect "or none" line_is 1 3
run train apart.json --output apart --resume
expect "their training resumes" ended_with 0
run tokenize --explain --model apart --side target --text "eins"
expect "there is nothing to explain" refused "only BPE, unigram and WordPiece"

# ------------------------------------------------------------------------------------------------- bad input
run tokenize --decode --text "5 The"
expect "words are not ids" refused '--text: "The" is not an id: --decode reads whole numbers'
run tokenize --decode --text "5 -3"
expect "nor are negative numbers" refused "--text: the id -3 is outside the"
printf '5\n6 99999999\n' >ids
run tokenize --decode ids
expect "an unknown id is an error" complains "'ids' line 2: the id 99999999 is outside the"
run tokenize --decode --text 99999999999999999999
expect "however large" refused '"99999999999999999999" is not an id'
printf 'good\ncaf\xe9\n' >latin.txt
run tokenize latin.txt
expect "text that is not UTF-8 is an error" complains "latin.txt' line 2"
run tokenize --text "$(printf 'caf\xe9')"
expect "also as an argument" refused "--text: the text is not UTF-8: byte 4"
run tokenize --text a text.en
expect "a text and a file" misused "FILE excludes --text"
run tokenize --decode --ids text.en
expect "ids to ids" misused "--ids excludes --decode"
run tokenize --json --explain text.en
expect "two kinds of output" misused "excludes"
run tokenize --side middle
expect "an unknown side" misused "--side"
run tokenize --side target --tokenizer words/model/sentencepiece.model
expect "a side of one file" misused "excludes"
run tokenize --tokenizer words/model/sentencepiece.model --model words
expect "a tokenizer and a model" misused "excludes"
run tokenize no-such-file
expect "a missing text is named" refused "'no-such-file'"
run export "$shipped" --format ctranslate2 --output ct2
jq -c reverse ct2/shared_vocabulary.json >vocab.json
run tokenize --ids --tokenizer "$shipped/sentencepiece.model" --text 'The weather'
read -ra own <out
run tokenize --ids --tokenizer "$shipped/sentencepiece.model" --vocabulary vocab.json --text 'The weather'
counts_down() { [ "$(cat out)" = "$((7999 - own[0])) $((7999 - own[1]))" ]; }
expect "--vocabulary numbers the pieces" counts_down
printf '{"</s>": 0, "<unk>": 1, "\u2581The": 2, "<pad>": 3}' >other.json
run tokenize --tokenizer "$shipped/sentencepiece.model" --vocabulary other.json text.en
expect "a vocabulary of another model" refused "pieces have no id in other.json"
run tokenize --vocabulary vocab.json text.en
expect "a vocabulary without a tokenizer" misused "--tokenizer"
run tokenize --tokenizer no-such-file text.en
expect "a missing tokenizer is named" refused "no-such-file"
run tokenize --tokenizer text.en text.en
expect "what is not a tokenizer is named" refused "'text.en' is not a SentencePiece model"
run tokenize --model nowhere text.en
expect "a missing model is named" refused "nowhere"
cp text.en both.en
# shellcheck disable=SC2094 # intended
"$headscope" tokenize both.en >>both.en 2>err
code=$?
expect "the text is not overwritten" ended_with 1
expect "but kept" same both.en text.en
"$headscope" tokenize text.en >/dev/full 2>err
code=$?
expect "a full disk is an error" refused "standard output"
finish "tokenize behaves as expected"
