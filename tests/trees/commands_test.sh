#!/usr/bin/env bash
# headscope trees: what it reads, writes, repairs and rejects.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"

line_is() { [ "$(sed -n "$1p" out)" = "$2" ]; } # NUMBER TEXT

# ----------------------------------------------------------------------------------------------- linearise
cat >raw.trees <<'TEXT'
( (S (NP-SBJ-1 (DT The) (NN cat))
     (VP (VBZ is) (VP (VBN seen) (NP (-NONE- *-1))))
     (. .)))
( (NP (-NONE- *)) )
( (FRAG (ADVP=2 (RB Here))))
TEXT
gzip -k raw.trees
run trees linearise raw.trees.gz
expect "trees become pairs" line_is 1 $'The cat is seen .\t(S (NP XX XX )NP (VP XX (VP XX )VP )VP . )S'
expect "without traces and functional tags" line_is 2 $'Here\t(FRAG (ADVP XX )ADVP )FRAG'
expect "and nothing else" [ "$(wc -l <out)" -eq 2 ]
expect "a tree without words is reported" complains "left out 1 tree without words"
run trees linearise --json raw.trees
expect "JSON has all of a tree" \
    eval 'jq -se "length == 2 and .[0].schema == 1 and .[0].words == \"The cat is seen .\" and .[1].tree == \"(FRAG (ADVP (RB Here)))\"" out'
run trees linearise --print words raw.trees
cp out words.txt
expect "words alone" line_is 1 "The cat is seen ."
run trees linearise --print tags raw.trees raw.trees
expect "tags of several files" [ "$(grep -cx 'DT NN VBZ VBN .' out)" -eq 2 ]
run trees linearise --print tags raw.trees
cp out tags.txt
run trees linearise --print trees <raw.trees
cp out bare.trees
expect "the trees themselves" line_is 2 "(FRAG (ADVP (RB Here)))"
run trees linearise --print words --terminals words raw.trees
expect "which words alone have not" misused "--terminals is only for --print pairs and sequences"
run trees linearise --print sequences --terminals words raw.trees
expect "with words as terminals" line_is 2 "(FRAG (ADVP Here )ADVP )FRAG"
run trees linearise --print sequences --terminals levels raw.trees
expect "or as a symbol for each word" line_is 1 "DT)2(NP NN)-1(S VBZ)1(VP VBN(VP)-1(S .)"

# ------------------------------------------------------------------------------------------------- restore
for terminals in normalised tags words; do
    run trees linearise --print sequences --terminals $terminals raw.trees
    cp out sequences.txt
    run trees restore --words words.txt --tags tags.txt <sequences.txt
    expect "the same trees come back from $terminals" same out bare.trees
    expect "without repairs" complains "repaired 0 of 2 sequences"
done
printf '(S (NP XX )NP )VP\n\n' >broken.txt
run trees restore --words words.txt broken.txt
expect "a malformed sequence is repaired" line_is 1 "(S (NP (XX The)) (XX cat) (XX is) (XX seen) (. .))"
expect "an empty one, too" line_is 2 "(XX Here)"
expect "repairs are counted" complains "repaired 2 of 2 sequences: 0 misplaced symbols, 1 closing symbol and 0 terminals left out, 1 closing symbol and 5 words added"
printf '( (FRAG Here) XX )FRAG )\n' >bare.txt
echo Here >here.txt
run trees restore --words here.txt bare.txt
expect "misplaced brackets are left out" line_is 1 "(FRAG (XX Here))"
expect "and counted" complains "repaired 1 of 1 sequence: 3 misplaced symbols,"
printf 'The cat is seen .\n\n' >gap.txt
run trees restore --words gap.txt broken.txt
expect "no words, no tree" line_is 2 ""
run trees restore --words gap.txt --json broken.txt
expect "JSON counts the repairs of each, and has no tree without words" \
    eval 'jq -se ".[0].repairs.added_words == 4 and .[0].repaired and .[1].tree == null and .[1].line == 2" out'
run trees restore --words words.txt --pretty broken.txt
expect "a tree over several lines" line_is 2 "  (NP (XX The))"

cat >lists.txt <<'TEXT'
0 ||| (S XX )S ||| LogP= -1 ||| -1
0 ||| (S XX XX XX XX XX )S ||| LogP= -2 ||| -2
0 ||| (NP XX XX XX XX XX )NP ||| LogP= -2 ||| -2
1 ||| (FRAG XX ||| LogP= -3 ||| -3
TEXT
run trees restore --n-best --words words.txt --tags tags.txt lists.txt
expect "the first of a list that is a tree" line_is 1 "(S (DT The) (NN cat) (VBZ is) (VBN seen) (. .))"
expect "or the first, repaired" line_is 2 "(FRAG (RB Here))"
expect "and counted" complains "repaired 1 of 2 sequences"
grep '^1' lists.txt >gap.lists
run trees restore --n-best --words words.txt gap.lists
expect "a list is missing" refused "'gap.lists' line 1: expected list 0, found 1"
run trees restore --n-best --words words.txt sequences.txt
expect "only lists" refused "'sequences.txt' line 1: expected \"number ||| sequence ||| ...\""

run trees linearise --print sequences --terminals levels raw.trees
cp out levels.txt
run trees restore --words words.txt --tags tags.txt --terminals levels levels.txt
expect "the same trees come back from levels" same out bare.trees
run trees restore --words words.txt --terminals levels levels.txt
expect "which have the tags" same out bare.trees
expect "and need no repairs" complains "repaired 0 of 2 sequences"
run trees restore --words words.txt --tags tags.txt --terminals words levels.txt
expect "other terminals are told by tags" misused "--terminals excludes --tags"
run trees restore --words words.txt --terminals levels <<<'DT)2(NP NN)-1(S
NN(X) oh'
expect "malformed levels are repaired" line_is 1 "(S (NP (DT The) (NN cat)) (XX is) (XX seen) (. .))"
expect "and counted" complains "repaired 2 of 2 sequences: 1 misplaced symbol,"

# --------------------------------------------------------------------------------------------------- score
evalb=$repository/tests/trees/evalb
run trees score --rules "$evalb/sample.prm" --evalb "$evalb/sample.gld" "$evalb/sample.tst"
expect "EVALB's report" same out "$evalb/sample.rsl.current"
expect "errors are reported" complains 'line 12: the gold tree has the word "is", the other one "was": left out'
cp bare.trees same.trees
run trees score bare.trees <same.trees
expect "a tree equals itself" grep -qE '^all +2 +0 +0 +100.00 +100.00 +100.00 +100.00' out
sed 's/.*/( & )/' bare.trees >outer.trees
run trees score outer.trees bare.trees
expect "but not one with an outer bracket, as in EVALB" grep -qE '^all +2 +0 +0 +75.00 +100.00' out
run trees score --json bare.trees bare.trees
expect "also in JSON" [ "$(jq .all.f1 out)" = 100 ]
run trees score --max-errors 4 --rules "$evalb/sample.prm" "$evalb/sample.gld" "$evalb/sample.tst"
expect "too many errors" complains "more than 4 trees have other words"
expect "are an error" ended_with 1
head -n 1 bare.trees >one.trees
run trees score bare.trees one.trees
expect "too few trees" refused "'bare.trees' and 'one.trees' must have equally many lines, but one ends after 1 line"
run trees score raw.trees raw.trees
expect "a tree over several lines" refused "'raw.trees' line 1: 2 brackets of this tree are never closed" "one sentence per line"

# --------------------------------------------------------------------------------------------------- parse
cat >parser.json <<'JSON'
{
  "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 32, "d_ff": 64, "heads": 2, "max_length": 64,
            "tying": "target_output"},
  "data": {"train": {"tsv": "train.tsv"}},
  "tokenizer": {"type": "words", "shared": false},
  "training": {"steps": 250, "max_length": 32, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 20,
               "learning_rate_scale": 2, "label_smoothing": 0, "residual_dropout": 0, "embedding_dropout": 0}
}
JSON
for verb in sleeps sits eats; do
    for noun in cat dog cow pig; do echo "(S (NP (DT The) (NN $noun)) (VP (VBZ $verb)) (. .))"; done
done >farm.trees
"$headscope" trees linearise --terminals tags farm.trees >train.tsv
run train parser.json --output parser
expect "a parser is trained" ended_with 0
run parse --model parser --device cpu --precision f32 "The dog eats."
expect "and parses" line_is 1 "(S (NP (DT The) (NN dog)) (VP (VBZ eats)) (. .))"
expect "without repairs" [ ! -s err ]
HEADSCOPE_MODEL=parser run parse "The dog eats."
expect "as does the model of HEADSCOPE_MODEL" line_is 1 "(S (NP (DT The) (NN dog)) (VP (VBZ eats)) (. .))"
run parse "The cat sleeps."
expect "without a model it is the one that comes along" line_is 1 "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))"
run parse --model parser --tokens --pretty " The  dog eats . "
expect "words, and prints over several lines" line_is 2 "  (NP (DT The) (NN dog))"
run parse --model parser --tokens "The dog(s) eats ."
expect "brackets in words are written as in treebanks" says " dog-LRB-s-RRB-)"
run parse --model parser -o tree.svg "The dog eats."
expect "a tree is drawn" eval 'quiet && grep -qF ">The dog eats .</title>" tree.svg && grep -qF ">NP</text>" tree.svg'
run parse --model parser -o tree.png "The dog eats."
expect "also as PNG" [ "$(head -c 4 tree.png | tail -c 3)" = PNG ]
run view parser --text "The dog eats." --device cpu --panel tree --render view.json
expect "the window has the same tree" [ "$(jq -r .tree view.json)" = "(S (NP (DT The) (NN dog)) (VP (VBZ eats)) (. .))" ]
run parse --model parser -o tree.bmp "The dog eats."
expect "but not in other formats" misused "tree.bmp" "end in .svg, .png, .pdf or .html"
run parse --model parser " "
expect "nothing to parse" misused "TEXT is empty"
printf 'The dog eats .\n\n' >blank.txt
run parse --model parser --file blank.txt
expect "lines without words alone are no error" eval 'ended_with 0 && complains "1 of 2 lines have no tree"'
run parse --model parser "$(printf 'a %.0s' $(seq 100))"
expect "a sentence that is too long" refused "at most 64"
run parse --model "$repository/assets/models/en-de" "The dog eats."
expect "a model that translates" refused "does not write trees"
cut -f 1 train.tsv >farm.txt
run translate --model parser --max-extra 300 farm.txt
cp out sequences.txt
run trees restore --words farm.txt --terminals tags sequences.txt
cp out test.trees
run trees score farm.trees test.trees
expect "whole files are parsed by translating" grep -qE '^all +12 +0 +0 +100.00' out
run parse --model parser --tokens --file farm.txt
expect "or at once" eval 'ended_with 0 && cmp -s out farm.trees'
run trees linearise --print tags farm.trees
sed 's/NN/NNP/' out >tags.txt
run parse --model parser --tokens --file farm.txt --tags tags.txt --beam 2
expect "with given tags" line_is 1 "(S (NP (DT The) (NNP cat)) (VP (VBZ sleeps)) (. .))"
run parse --model parser --tokens "dog dog cow eats pig"
expect "a tree has all words, whatever they are" eval '[ ! -s err ] && says " dog)" && says " pig)"'
run parse --model parser --tokens "The [dog] eats ."
expect "and square brackets stay" says " [dog])"
head -n 3 tags.txt >few.txt
run parse --model parser --tokens --file farm.txt --tags few.txt
expect "too few tags are an error" refused "'few.txt' ends before 'farm.txt'"
{ cat tags.txt && echo NN; } >many.txt
run parse --model parser --tokens --file farm.txt --tags many.txt
expect "and too many" complains "'many.txt' has more lines than 'farm.txt' (12)"
sed '2s/ NNP//' tags.txt >short.txt
run parse --model parser --tokens --file farm.txt --tags short.txt
expect "also in a line" refused "'short.txt' line 2: expected 4 tags, one for each word, found 3"
printf 'The dog eats .\n\n\xc2\xa0 \xe3\x80\x80\n%s\n\xff\nThe dog eats.\n' "$(printf 'a %.0s' {1..200})" >gap.txt
run parse --model parser --file gap.txt
# shellcheck disable=SC2016
expect "an empty line, one that is too long, and one that is no text have empty trees" \
    eval 'ended_with 1 && [ "$(sed "s/(S .*/tree/" out | paste -sd , )" = tree,,,,,tree ]'
expect "which is reported" eval 'complains "'"'gap.txt' line 2: there are no words"'" && complains "4 of 6 lines have no tree"'
expect "for each" eval 'complains "line 3: there are no words" && complains "line 4: " && complains "line 5: it is not UTF-8"'
run parse --model parser "$(printf '\xc2\xa0')"
expect "a no-break space is no sentence" misused "TEXT is empty"
run parse --model parser --file gap.txt "The dog eats."
expect "a sentence and a file" misused "exclude each other"

"$headscope" trees linearise --terminals words farm.trees >train.tsv
run train parser.json --output words
run parse --model words "The dog eats."
expect "words as terminals are no tags" line_is 1 "(S (NP (XX The) (XX dog)) (VP (XX eats)) (. .))"

"$headscope" trees linearise --terminals levels farm.trees >train.tsv
sed 's/"type": "words"/"type": "words", "minimum": 4, "endings": 3, "target": {"type": "words"}/; s/"tsv": "train.tsv"}/&, "word_dropout": 0.2/' parser.json >levels.json
run train levels.json --output levels
expect "a parser by levels is trained, with endings of rare words" ended_with 0
run parse --model levels "The dog eats."
expect "and parses" line_is 1 "(S (NP (DT The) (NN dog)) (VP (VBZ eats)) (. .))"
run tokenize --model levels --text "The frog eats"
expect "by endings of words that it does not know" line_is 1 "The …og eats"
run parse --model levels --tokens --file farm.txt --beam 2
expect "whole files, too" eval 'ended_with 0 && [ ! -s err ]'
run view levels --text "The dog eats." --device cpu --panel tree --render view.json
expect "the window has the same tree" [ "$(jq -r .tree view.json)" = "(S (NP (DT The) (NN dog)) (VP (VBZ eats)) (. .))" ]
sed 's/"endings": 3, //' levels.json >none.json
run train none.json --output none
expect "dropping words needs endings" complains "dropping words needs a tokenizer of words with endings"
sed 's/"word_dropout"/"bpe_dropout": 0.1, &/' levels.json >both.json
run train both.json --output none
expect "and no BPE-dropout" refused "data.word_dropout" "leave one out"

# ------------------------------------------------------------------------------------------------- bad input
run trees linearise <<<'(S (A a)'
expect "brackets that are not balanced" refused "standard input line 1: 1 bracket of this tree is never closed"
printf '(S (A a))\n(S (A (a))\n' >bad.trees
run trees linearise bad.trees
expect "an empty tree, after the good ones" complains "'bad.trees' line 2: the tree (a) is empty"
expect "is an error" ended_with 1
printf '(S (A a))\n(S (A a)\n(S (B b))\n(S (A (b)) (C c))\n(S (D d))\n' >bad.trees
run trees linearise --print words bad.trees
expect "all broken trees are listed at once" eval 'ended_with 1 && complains "2 trees are broken" && complains "line 4"'
# shellcheck disable=SC2016
expect "and the others written" eval '[ "$(paste -sd , out)" = a,b,d ]'
run trees restore --words words.txt <<<'(S XX )S'
expect "more words than sequences" complains "'words.txt' has more lines than standard input (1)"
run trees restore --words words.txt < <(printf '(S )S\n(S )S\n(S )S\n')
expect "more sequences than words" complains "'words.txt' has 2 lines, but standard input has more"
printf 'DT\n\n' >few.txt
run trees restore --words words.txt --tags few.txt broken.txt
expect "too few tags" refused "'broken.txt' line 1: expected one tag for each of 5 words, found 1 tag"
# shellcheck disable=SC2094 # it must not happen
"$headscope" trees linearise raw.trees 2>err >>raw.trees
code=$?
expect "an input is not overwritten" eval 'ended_with 1 && complains "raw.trees"'

# The configuration of en-trees learns from clauses inside sentences, too.
if command -v python3 >/dev/null; then
    run_clauses() { python3 "$repository/assets/configs/clauses.py" "$@" >out 2>err; }
    {
        echo "(S (NP (PRP We)) (VP (VBP know) (SBAR (IN that) (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))))) (. .))"
        echo "(S (NP (PRP We)) (VP (VBP want) (S (NP (DT the) (NN cat)) (VP (TO to) (VP (VB sleep))))) (. .))"
    } >inner.trees
    run_clauses inner.trees
    expect "clauses with a finite verb become sentences" \
        eval 'line_is 1 "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))" && [ "$(wc -l <out)" = 1 ]'
    run_clauses --short inner.trees
    expect "or subjects and verbs of all" \
        eval 'line_is 1 "(S (NP (PRP We)) (VP (VBP know)) (. .))" && [ "$(wc -l <out)" = 3 ]'
else
    echo "SKIPPED: python3 is missing"
fi

finish "trees are read, written and repaired"
