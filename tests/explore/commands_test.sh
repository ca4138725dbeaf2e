#!/usr/bin/env bash
# headscope embed: vectors, arrays, cosines, neighbours and pictures, and what has none.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
bert=$repository/tests/import/models/hf-bert
gpt2=$repository/tests/import/models/hf-gpt2
holds() { [ -s out ] && jq -es "$1" out >/dev/null; } # of all lines
cat >text <<'END'
The cat sleeps.
The dog sleeps.
She bought a new car yesterday.
They sold their old house.
END

run embed text
expect "a line has a vector" ended_with 0
columns=$(awk '{ print NF }' out | sort -u)
expect "all have as many numbers" [ "$columns" -gt 100 ]
expect "and there are as many vectors as lines" [ "$(wc -l <out)" -eq 4 ]
cp out usual
run embed --batch-tokens 1 --device cpu,cpu text
expect "batches and devices do not change them" ended_with 0
near() { paste -d ' ' "$1" "$2" | awk '{ for (i = 1; i <= NF / 2; ++i) if (($i - $(i + NF / 2)) ^ 2 > 1e-10) exit 1 }'; }
expect "but for rounding" near out usual
run embed -o out.txt text
expect "-o writes what is printed" same out.txt usual
run embed --json text
expect "--json has text and numbers" holds "length == 4 and (.[1] | .line == 2 and .text == \"The dog sleeps.\" and (.vector | length) == $columns)"
run embed --unit word --pooling first --json text
expect "words have vectors" holds '[.[0].words[].word] == ["The", "cat", "sleeps", "."]'
run embed --unit piece text
expect "pieces stand before their numbers" grep -qP '^1\t\S+\t-?[0-9.]' out
run embed --layer 0 --unit piece --text 'dog dog' --json
expect "embeddings of one piece differ by their positions" holds '.[0].pieces | length >= 2 and .[0].vector != .[1].vector'

run embed --unit word text -o words.npy --json
expect "an array has a row for each word" holds '[.[].words[].row] == [range([.[].words[]] | length)]'
rows=$(jq -s '[.[].words[]] | length' out)
expect "its header says so" grep -qaF "{'descr': '<f4', 'fortran_order': False, 'shape': ($rows, $columns), }" words.npy
expect "and it has nothing else" [ "$(stat -c %s words.npy)" -eq $((128 + 4 * rows * columns)) ]

run embed --cosine --json text
expect "cosines of a vector with itself are 1" holds '[range(4) as $i | .[$i].cosines[$i] - 1 | fabs < 1e-6] | all'
expect "and like sentences are near" holds '.[0].cosines | .[1] > .[2] and .[1] > .[3]'
run embed --cosine text
expect "a table has four columns" [ "$(awk -F '\t' '{ print NF }' out | sort -u)" = 4 ]
run embed --nearest 2 --among text --text 'The dog slept.' --json
expect "the nearest come first" holds '.[0].nearest | length == 2 and .[0].line == 2 and .[0].cosine >= .[1].cosine'
run embed --nearest 2 --among text --text 'The dog slept.'
expect "and are listed below the line" says $'\t2\tThe dog sleeps.'
run embed --unit word --nearest 1 --among text --text 'The dog sleeps.' --json
expect "words have the nearest words" holds '.[0].words[1].nearest[0] | .word == "dog" and .line == 2 and .cosine > 0.9999'

run embed --unit word text -o words.svg --json
expect "a picture has all words" holds '[.[].words[] | .x, .y] | all(isnormal or . == 0)'
expect "and their labels" grep -q '>yesterday<' words.svg
cp words.svg first.svg
run embed --unit word text -o words.svg
expect "pictures are the same every time" same words.svg first.svg
run embed text -o lines.png
expect "PNG is written" grep -qa PNG lines.png

# The encoder of a translation model reads the language of its text.
mbart=$repository/tests/import/models/hf-mbart50
run embed --model "$mbart" --source-language en_XX --target-language de_DE --precision f32 --text 'mo Kaleb'
expect "a text has a vector in its language" ended_with 0
cp out english
run embed --model "$mbart" --source-language de_DE --target-language en_XX --text 'mo Kaleb'
expect "and another one in another language" not near out english

t5=$repository/tests/import/models/hf-t5
run embed --model "$t5" --text 'mo Kaleb rito'
cp out plain
run embed --model "$t5" --task-prefix 'mo Kaleb: ' --text 'mo Kaleb rito'
cp out prefixed
run embed --model "$t5" --text 'mo Kaleb: mo Kaleb rito'
expect "a task's prefix stands before a text" eval 'near out prefixed && not near plain prefixed'
run embed --model "$t5" --task-prefix 'mo Kaleb: ' --unit word --json --text 'rito'
expect "and is no word of it" holds '[.[0].words[].word] == ["rito"]'
run embed --task-prefix 'mo: ' --text 'rito'
expect "of a model that reads no source it is refused" misused "--task-prefix is for translation models"

# Texts without a vector.
printf 'The cat sleeps.\n\nGood.\n' >gaps
run embed gaps
expect "an empty line is reported" ended_with 1
expect "with its number" complains "line 2: the text is empty"
expect "and its line in the output is empty" [ "$(sed -n 2p out)" = "" ]
expect "the last line says how many" complains "1 of 3 lines have no vector"
run embed gaps -o gaps.npy
expect "an array has all rows nevertheless" ended_with 1
expect "of which one is zeros" [ "$(tail -c +$((129 + 4 * columns)) gaps.npy | head -c $((4 * columns)) | tr -d '\0' | wc -c)" -eq 0 ]
run embed --cosine gaps --json
expect "JSON has the problem" holds '.[1] | has("problem") and (has("cosines") | not)'
yes dog | head -n 600 | tr '\n' ' ' >long
run embed long
expect "a text that is too long is reported" complains "the model takes at most"
: >empty
run embed empty
expect "a file without lines is refused" refused "has no line"

# What a model or a file cannot give.
run embed --model "$bert" --layer 3 text
expect "a layer that does not exist is refused" refused "no vector after layer 3" "to 2"
run embed --model "$gpt2" --pooling first --text 'mo Kaleb'
expect "a model without a class token is named" refused "causal language model has no class token"
run embed --nearest 9 --among text --text 'The dog.'
expect "more neighbours than lines are refused" refused "--nearest 9" "has only 4 vectors"
run embed --nearest 1 text
expect "neighbours need lines" misused "--among"
run embed --cosine text -o x.npy
expect "cosines are no array" misused "x.npy"
run embed --unit piece --pooling last text
expect "pieces are not pooled" misused "--pooling"
run embed text -o text
expect "the input is not overwritten" refused "text"
run embed text -o no/such/folder.npy
expect "an output that cannot be written is refused" refused "no/such/folder.npy"
run embed text -o no/such/folder.svg
expect "so is a picture" refused "no/such/folder.svg"
seq 500 >many
run embed many -o many.svg
expect "a picture of too many lines is refused" refused "at most 400 vectors"
expect "and nothing is written" [ ! -e many.svg ]
run embed - --nearest 1 --among - <text
expect "standard input is read once" misused "standard input"

finish "vectors are as expected"
