#!/usr/bin/env bash
# What headscope attention shows of heads, by its options, with the model that ships.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
export HEADSCOPE_MODEL=$repository/assets/models/en-de
holds() { [ -s out ] && jq -e "$1" out >/dev/null; } # jq is content with nothing
look() { run attention --text 'The unbelievably small cat sleeps.' --layer 2 --heads 1 "$@" -o - --format json; }

look
expect "a head has a column for each word" holds '.queries == ["The", "unbelievably", "small", "cat", "sleeps", ".", "<EOS>"]'
expect "and weights that add up to 1" holds 'all(.heads[0].weights[]; add - 1 | fabs < 1e-4)'
cp out usual
look --words
expect "words are what is shown anyway" same out usual
look --precision f32
expect "and so are float32's weights" same out usual
look --pieces
expect "or a column for each piece" holds '(.queries | length) > 7 and .queries[-1] == "<EOS>"'
look --no-special
expect "or none for the end of sentence" holds '.queries | index("<EOS>") == null'
expect "and still weights that add up to 1" holds '.renormalised and all(.heads[0].weights[]; add - 1 | fabs < 1e-4)'
look --position 2,4
expect "words are chosen by their column" holds '.chosen_queries == [1, 3]'
look --word cat
expect "as they are by name" holds '.chosen_queries == [3]'
price() { run attention --text $'The caf\u00e9 costs 1,000 euros.' --layer 2 "$@" -o - --format json; }
for name in $'caf\u00e9' $'cafe\u0301' $'\uff43\uff41\uff46e\u0301'; do
    price --word "$name"
    expect "and in any normal form" holds '.chosen_queries == [1]'
done
price --word '1,000'
expect "with a comma in it" holds '.chosen_queries == [3]'
run attention --text 'It costs a\\b euros.' --layer 2 --word 'a\\b' -o - --format json
expect "and backslashes as they are" holds '.chosen_queries == [2]'
price --find 'link=1\,000,'$'cafe\u0301' --rank 1
expect "and for a search" complains "1,000 → cafe"
price --find 'link=1,000,euros'
expect "where a comma that may part words is asked about" refused "names 3 words" 'link=1\,000,euros'
look --words --pieces
expect "words or pieces, not both" refused "--pieces"

matrix() { run attention --text 'The cat sleeps.' --layer 2 --heads 1 --matrix "$@" -o -; }
matrix
expect "a head's map is drawn" says "<svg"
cp out linear
matrix --log
expect "in other colours by the logarithm" not same out linear
run attention --text 'The cat sleeps.' --log
expect "which is for a map alone" refused "--matrix"

run view --text 'The cat sleeps.' --panel heads --precision f32 --render heads.json
expect "a panel is written without a window" [ -s heads.json ]

finish "the commands do as expected"
