#!/usr/bin/env bash
# The options of headscope translate and score beyond plain translation, with models that were trained for a few steps.
# usage: decoding_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2218,SC2317,SC2329 # conditions are called, and their words expanded, through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
silent() { [ ! -s err ]; }
not() { ! "$@"; }
lines() { [ "$(wc -l <out)" -eq "$1" ]; }
line_is() { [ "$(sed -n "$1p" out)" = "$2" ]; }
json() { jq -es "all(.[]; $1)" "${2:-out}" >/dev/null; } # every line
refused_option() { [ "$code" -ne 0 ] && quiet && complains "$1" && complains "$2"; }

cat >tiny.json <<'JSON'
{
  "model": {"encoder_layers": 1, "decoder_layers": 2, "d_model": 32, "d_ff": 64, "heads": 2, "max_length": 48},
  "data": {"train": {"tsv": "train.tsv"}},
  "tokenizer": {"type": "bpe", "vocabulary": 96, "shared": true},
  "training": {"steps": 250, "max_length": 48, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 60}
}
JSON
sed 's/"steps": 250/"steps": 200/' tiny.json >other.json
sed 's/"vocabulary": 96/"vocabulary": 90/; s/"steps": 250/"steps": 2/' tiny.json >unlike.json
"$headscope" make-task digits --output data --pairs 300 --valid 4 --test 6 >out 2>err
for name in tiny other unlike; do "$headscope" train $name.json --data data --output $name >out 2>err || exit 1; done
model=tiny/model
printf '1 7 4\n\n2 0\n9\n' >input.txt
translate() { run translate --model "$model" --max-extra 8 "$@"; }

# ------------------------------------------------------------------------------------- lists, scores and JSON
translate input.txt
cp out plain
translate --n-best 3 input.txt
expect "a list has N translations for a line with text" lines 10
expect "in Moses' form" grep -qP '^0 \|\|\| .* \|\|\| LogP= -\d+\.\d{4} \|\|\| -\d+\.\d{4}$' out
expect "lines counted from 0, an empty one too" grep -qx '1 |||  ||| LogP= 0.0000 ||| 0.0000' out
firsts() { awk -F ' [|][|][|] ' 'NR == 1 || $1 != last { print $2; last = $1 }' out; }
expect "the first of each is the plain translation" eval 'firsts | cmp -s - plain'
falls() { awk -F ' [|][|][|] ' 'NR > 1 && $1 == last && $4 > score { exit 1 } { last = $1; score = $4 }' out; }
expect "scores fall" falls
translate --json input.txt
expect "JSON is an object for each line" [ "$(jq -c . out | wc -l)" -eq 4 ]
expect "with its number and source" eval '[ "$(jq -r "\"\(.line) \(.source)\"" out | sed -n 3p)" = "3 2 0" ]'
expect "its translation" eval 'jq -r .translation out | cmp -s - plain'
expect "score and log probability" json '.score <= 0 and .log_probability <= .score'
expect "and pieces, which are the translation" eval '[ "$(jq -r ".tokens | join(\"\") | gsub(\"▁+\"; \" \") | ltrimstr(\" \")" out)" = "$(cat plain)" ]'
expect "but no list without --n-best" json 'has("n_best") or has("alignment") or has("problem") | not'
translate --json --n-best 2 input.txt
expect "a list with --n-best" json '.source == "" or (.n_best | length == 2 and (.[0].score >= .[1].score))'
expect "whose first is the line's" json '.n_best[0].translation == .translation'
expect "an empty line's is one empty text, as in Moses' form" json '.source != "" or (.n_best == [{translation: "", score: 0, log_probability: 0, confidence: null, tokens: [], words: []}])'
translate --alignments --n-best 2 < <(printf '\n \t\xc2\xa0\n')
expect "which links nothing" [ "$(cut -d ' ' -f 2- out | sort -u)" = "|||  |||  ||| LogP= 0.0000 ||| 0.0000" ]
expect "of a line of blanks, too" lines 2
translate --json --alignments --n-best 2 < <(printf '\n \t\xc2\xa0\n')
expect "in JSON as well" json '.translation == "" and .score == 0 and .alignment == [] and (.n_best | map(.alignment) == [[]])'
translate --scores < <(printf '\n')
expect "and scores 0" line_is 1 $'0.0000\t'
run translate --model "$model" --max-extra 30 --beam 30 --n-best 30 input.txt
expect "lists contain a text once" [ "$(awk -F ' [|][|][|] ' '{ print $1 "|" $2 }' out | sort | uniq -d | wc -l)" -eq 0 ]
run translate --model "$model" --max-extra 30 --beam 30 --n-best 30 --n-best-duplicates input.txt
expect "or as often as it was found" [ "$(awk -F ' [|][|][|] ' '{ print $1 "|" $2 }' out | sort | uniq -d | wc -l)" -gt 0 ]
translate --n-best-duplicates input.txt
expect "which needs a list" refused_option "--n-best-duplicates" "--n-best"
translate --json < <(printf 'a \xff b\n1 2\n')
expect "a line that is not text makes the exit code 1" ended_with 1
expect "has a problem instead of a translation" json '.line != 1 or (.translation == null and (.problem | contains("UTF-8")))'
expect "and the next is translated" json '.line != 2 or (.translation | type) == "string"'
translate --scores < <(printf 'a \xff b\n1 2\n')
expect "without a score, which would look real" line_is 1 ""
expect "with matching line numbers" lines 2
translate --n-best 2 < <(printf 'a \xff b\n1 2\n')
expect "an n-best list has no entry for such a line" eval 'lines 2 && not grep -qv "^1 |||" out'
expect "which standard error reports" complains "they have no list in the output"
translate --n-best 5 input.txt
expect "a list longer than the beam is rejected" refused "n-best must be between 1 and the beam, 4, got 5"
translate --n-best 2 --greedy input.txt
expect "and a list of a greedy search" refused_option "--n-best" "--greedy"
translate --n-best 2 --scores input.txt
expect "a list has its scores already" refused_option "--n-best" "--scores"
translate --json --scores input.txt
expect "as JSON has" refused_option "--json" "--scores"

# --------------------------------------------------------------------- length penalties, repetitions, batches
translate --scores --length-penalty 1 --length-penalty-form power input.txt
cp out power
translate --json --length-penalty 1 --length-penalty-form power input.txt
expect "a power of 1 scores by the mean" json '.source == "" or .cut == true or (.score * ((.tokens | length) + 1) - .log_probability | fabs) < 1e-6'
translate --scores --length-penalty 1 input.txt
expect "which GNMT's form does not" not same out power
translate --length-penalty-form wu input.txt
expect "there are two forms" refused_option "--length-penalty-form" "gnmt"
run translate --model "$model" --max-extra 40 --no-repeat-ngram 1 --json input.txt
expect "without repetitions no piece comes twice" json '.tokens | length == (unique | length)'
run translate --model "$model" --max-extra 40 --repetition-penalty 1000 --beam 2 --json input.txt
expect "nor if a repeated piece is much less likely" json '.tokens | length == (unique | length)'
run translate --model "$model" --max-extra 8 --early-stopping exact input.txt
expect "our own models search until nothing can win" same out plain
for stopping in true false never; do
    translate --scores --length-penalty 10 --early-stopping "$stopping" input.txt
    expect "or stop as Hugging Face's ($stopping)" lines 4
    cp out "stopped-$stopping"
done
expect "after other numbers of ends" not same stopped-true stopped-false
expect "or with another bound, if the penalty favours long outputs" not same stopped-false stopped-never
translate --early-stopping often input.txt
expect "in no other way" refused_option "--early-stopping" "exact"
translate --greedy input.txt
first=$(head -n 1 out)
translate --greedy --stop "${first:2:1}" --stop "${first:1:1}" input.txt
expect "a translation ends before a text" line_is 1 "${first%%["${first:1:2}"]*}"
translate --batch-tokens 8 --n-best 3 input.txt
cp out small
translate --n-best 3 input.txt
expect "batches of other sizes make no difference" same out small

# --------------------------------------------------------------------------------------------- which model
run translate --model tiny --max-extra 8 input.txt
expect "the folder of a training stands for its model" same out plain
HEADSCOPE_MODEL=tiny run translate --max-extra 8 input.txt
expect "in the environment, too" same out plain
run translate --model '' input.txt
expect "an empty folder name is rejected" misused "--model: must not be empty"
mkdir -p odd/config.json
run translate --model odd input.txt
expect "and a folder in place of a file" refused "odd/config.json: it is a folder" "model.safetensors"

# ------------------------------------------------------------------------------------ languages
cp -r "$model" lingual
jq '.frame += {source_begin: ["source_language"], target_begin: ["target_language"], languages: {deu: 5, fra: 6}}' \
    "$model/config.json" >lingual/config.json
speak() { run translate --model lingual --max-extra 8 --json --source-language deu "$@" input.txt; }
speak
expect "a missing language lists the model's" refused "--target-language: deu, fra"
speak --target-language dev
expect "an unknown one suggests a name" refused 'did you mean "deu"'
speak --target-language deu
cp out german
speak --target-language fra
expect "another language is another beginning" not same out german
printf '{"target_language": "deu"}\n' >lingual/decoding.json
speak
expect "decoding.json has a default" same out german
speak --alignments --target-language deu
expect "alignments do not count the beginning" json '.translation == "" or ([.alignment[][1]] | max) < (.tokens | length)'
run translate --model "$model" --target-language deu input.txt
expect "other models take no language" refused "takes no target language"
printf '3 1 7 4\n\n3 2 0\n3 9\n' >prefixed.txt
translate --scores prefixed.txt
cp out whole
translate --scores --task-prefix '3 ' input.txt
expect "a task prefix stands before each source" eval 'cmp -s <(sed 2d out) <(sed 2d whole)'
expect "an empty line stays empty" line_is 2 $'0.0000\t'
run tokenize --model "$model" --frame --task-prefix '3 ' --text '9'
cp out framed
run tokenize --model "$model" --frame --text '3 9'
expect "its pieces are those of the text" same out framed
cp -r "$model" prefixing
printf '{"task_prefix": "3 "}\n' >prefixing/decoding.json
run translate --model prefixing --max-extra 8 --scores input.txt
expect "decoding.json may have one" eval 'cmp -s <(sed 2d out) <(sed 2d whole)'
run attention --model "$model" --task-prefix '3 ' --text '9' --target '7' --kind encoder --json
expect "attention shows it" eval 'jq -e ".keys | length == 3" out >kept'
run compare --model "$model" --task-prefix '3 ' --text '9' --with cpu:oracle
expect "devices are compared with it" ended_with 0
printf '9\t7\n' >nine.tsv
printf '3 9\t7\n' >three.tsv
run score --model "$model" --tsv three.tsv
cp out scored
run score --model "$model" --task-prefix '3 ' --tsv nine.tsv
expect "and pairs are scored with it" same out scored
run evaluate --model "$model" --task-prefix '3 ' --tsv nine.tsv --json
expect "and evaluated" eval 'jq -e ".target_tokens > 0" out >kept'
printf '7\tseven\n' >seven.tsv
run score --model lingual --source-language deu --target-language fra --tsv seven.tsv
expect "score takes languages" lines 1
run calibrate --model lingual --source-language deu --target-language fra --task-prefix '3 ' --tsv seven.tsv
expect "so does calibrate" eval 'ended_with 0 && grep -q "^temperature " out'
cp out score
run score --model lingual --source-language deu --tsv seven.tsv
expect "and the model's default" not same out score
run evaluate --model lingual --source-language deu --target-language fra --tsv seven.tsv
expect "evaluate, too" ended_with 0
run attention --model lingual --text 7 --source-language deu --target-language fra --kind cross --output cross.json
expect "attention, too" jq -e '.queries | length > 1' cross.json
run compare --model lingual --device cpu --precision f16 --with cpu --source-language deu --target-language fra input.txt
expect "compare, too" ended_with 0
run view --model lingual --text 7 --source-language deu --target-language fra --device cpu --render view.json
expect "and view" ended_with 0

# ------------------------------------------------------------------------------------ the model's decoding.json
cp -r "$model" wanting
wants() { printf '%s\n' "$1" >wanting/decoding.json && shift && run translate --model wanting "$@"; }
printf '7 7 7 7\n' >sevens.txt
translate --json sevens.txt
expect "by default pieces repeat" json '.tokens | length > (unique | length)'
wants '{"no_repeat_ngram": 1}' --max-extra 8 --json sevens.txt
expect "decoding.json sets the options" json '.tokens | length == (unique | length)'
wants '{"max_extra": 40, "no_repeat_ngram": 1}' --max-extra 8 --no-repeat-ngram 0 input.txt
expect "unless the command line does" same out plain
wants '{"max_extra": 8, "length_penalty": 1, "length_penalty_form": "power"}' --scores input.txt
expect "penalties, too" same out power
translate --min-length 7 --json input.txt
long_enough() { lines 4 && json '.source == "" or (.tokens | length) >= 7'; }
expect "a translation has the minimum length" long_enough
cp out longer
wants '{"max_extra": 8, "min_length": 7}' --json input.txt
expect "also from decoding.json" same out longer
translate --max-length 3 --json input.txt
short_enough() { lines 4 && json '.source == "" or (.tokens | length) <= 3'; }
expect "a translation has the maximum length" short_enough
expect "some reach it" grep -q '"cut":true' out
cp out cut
wants '{"max_extra": 8, "max_length": 3}' --json input.txt
expect "also from decoding.json" same out cut
translate --max-length 3 --force-end --json input.txt
expect "or a translation ends there" not grep -q '"cut":true' out
wants '{"max_extra": 8, "max_length": 3, "force_end": true}' --json input.txt
expect "if decoding.json says so" not grep -q '"cut":true' out
run evaluate --model "$model" --max-length 3 --max-factor 2 --force-end --allow-unknown --tsv data/test.tsv
expect "evaluate has the same options" ended_with 0
translate --allow-unknown input.txt
expect "the unknown piece may be allowed" lines 4
translate --max-factor 0.5 --json input.txt
expect "a factor limits the length, too" grep -q '"cut":true' out
translate --json input.txt
word=$(head -n 1 out | jq -c '.tokens[:1]')
expect "a piece is written" json ".source == \"\" or .line > 1 or .tokens[:1] == $word"
wants "{\"max_extra\": 8, \"bad_words\": [$word]}" --json input.txt
expect "but not if it is a bad word" json "(.tokens | index($word)) == null"
wants '{"bad_words": [["no such piece"]]}' input.txt
expect "an unknown bad word is named" refused "wanting/decoding.json" "bad_words" "no such piece"
wants '{"bad_words": ["x"]}' input.txt
expect "and bad words are lists" refused "bad_words" "lists"
wants '{"max_extra": 8, "beam": 2}' --n-best 3 input.txt
expect "n-best is checked against the beam" refused "n-best must be between 1 and the beam, 2, got 3"
wants '{"max_extra": 8, "beam": 2}' --greedy input.txt
cp out first
translate --greedy input.txt
expect "--greedy overrides the beam" same out first
wants '{"max_extra": 8, "beam": 2}' --sample --top-k 1 input.txt
expect "and so does sampling" same out first
wants '{"no_repeat": 3}' input.txt
expect "an unknown key is named" refused "wanting/decoding.json" "no_repeat_ngram"
wants '[]' input.txt
expect "decoding.json must be an object" refused "decoding.json"
rm wanting/decoding.json && mkdir wanting/decoding.json
run translate --model wanting input.txt
expect "a folder in its place is rejected" refused "wanting/decoding.json"
rmdir wanting/decoding.json && ln -s decoding.json wanting/decoding.json
run translate --model wanting input.txt
expect "and a link to itself" refused "wanting/decoding.json"
ln -sf nowhere wanting/decoding.json
run translate --model wanting input.txt
expect "and a dangling link" refused "wanting/decoding.json"
rm wanting/decoding.json
wants '{"beam": 31}' input.txt
expect "and values out of range" refused "decoding.json" "beam" "1 to 30"
wants '[4' input.txt
expect "and invalid JSON" refused "decoding.json"
printf '{"max_extra": 0}\n' >wanting/decoding.json
cut -f 1 data/test.tsv | head -n 3 >three.txt
run translate --model wanting three.txt
cp out short
paste three.txt short >short.tsv
run evaluate --model wanting --tsv short.tsv --device cpu
expect "evaluate follows it" grep -q '^exact match 3 of 3' out
run evaluate --model wanting --tsv short.tsv --device cpu --max-extra 8
expect "unless the command line overrides it" not grep -q '^exact match 3 of 3' out

# ---------------------------------------------------------------------------------------------------- progress
translate input.txt
expect "progress is not printed without a terminal" silent
if command -v script >/dev/null; then
    script -qec "$headscope translate --model $model --max-extra 8 input.txt >shown" /dev/null >terminal 2>&1
    expect "on a terminal it is" grep -qE '[1-4] of 4 lines \([0-9]+ %\), [0-9.]+ lines/s' terminal
    expect "beside the same translations" same shown plain
    script -qec "$headscope translate --model $model --max-extra 8 <input.txt >shown" /dev/null >terminal 2>&1
    expect "without a total for standard input" grep -qE '[1-4] lines?, [0-9.]+ lines/s' terminal
    script -qec "$headscope translate --quiet --model $model --max-extra 8 input.txt >shown" /dev/null >terminal 2>&1
    expect "but not with --quiet" not grep -q "lines" terminal
fi

# ---------------------------------------------------------------------------------------------------- prefixes
translate --prefix '3 3' input.txt
expect "a prefix begins every translation" [ "$(grep -c '^3 3' out)" -eq 3 ]
expect "except an empty line's" line_is 2 ""
printf '5\n\n\n6 1\n' >prefixes.txt
translate --prefix-file prefixes.txt input.txt
expect "a file has the prefix of each line" eval 'sed -n 1p out | grep -q "^5" && sed -n 4p out | grep -q "^6 1"'
expect "and an empty line means no prefix" eval '[ "$(sed -n 3p out)" = "$(sed -n 3p plain)" ]'
translate --prefix '3 ☃' input.txt
expect "characters missing from the vocabulary are rejected" refused "'☃'" "not in the model's vocabulary"
printf '1 7\n😀 2\nслово\n3\n' >foreign.txt
translate foreign.txt
expect "lines with unknown characters are translated" eval 'ended_with 0 && lines 4'
expect "and counted" complains "2 of 4 lines contain characters missing from the vocabulary"
expect "once" [ "$(wc -l <err)" -eq 1 ]
translate input.txt
expect "but not for other lines" [ ! -s err ]
printf '5\n☃\n' >unknown.txt
translate --prefix-file unknown.txt < <(printf '1\n2\n')
expect "a bad prefix in a file makes the exit code 1" ended_with 1
expect "is reported with its line" complains "line 2: the prefix '☃' contains '☃'"
expect "and the others are translated" eval 'sed -n 1p out | grep -q "^5"'
translate --prefix-file unknown.txt input.txt
expect "a file with fewer lines is an error" complains "'unknown.txt' has 2 lines, and the input has more"
translate --prefix-file prefixes.txt < <(printf '1\n')
expect "and one with more lines" complains "'prefixes.txt' has 4 lines, and the input has 1"
translate --prefix 3 --prefix-file prefixes.txt input.txt
expect "they exclude each other" refused_option "--prefix" "--prefix-file"

# ---------------------------------------------------------------------------------------------------- sampling
for _ in $(seq 8); do echo '1 7 4'; done >same.txt
translate --sample --seed 5 same.txt
expect "equal lines get different samples" [ "$(sort -u out | wc -l)" -gt 1 ]
cp out drawn
translate --sample --seed 5 --batch-tokens 1 same.txt
expect "the same seed gives the same samples in any batch" same out drawn
translate --device cpu:oracle --sample --seed 5 same.txt
expect "and on any device" same out drawn
translate --sample --seed 6 same.txt
expect "another seed gives other samples" not same out drawn
translate --greedy same.txt
cp out greedy
translate --sample --top-k 1 same.txt
expect "with --top-k 1 it is the greedy translation" same out greedy
translate --sample --top-p 0.000001 same.txt
expect "also with a small --top-p" same out greedy
translate --sample --min-p 1 same.txt
expect "or the largest --min-p" same out greedy
translate --sample --temperature 0.001 same.txt
expect "or a low temperature" same out greedy
for bad in "--sample --beam 4" "--sample --greedy" "--sample --n-best 2"; do
    # shellcheck disable=SC2086 # several words
    translate $bad input.txt
    expect "$bad is rejected" refused_option "--sample" "$(cut -d ' ' -f 2 <<<"$bad")"
done
translate --temperature 0.5 input.txt
expect "a temperature needs --sample" misused "--temperature needs --sample"
translate --sample --temperature 0 input.txt
expect "and is not 0" misused "--temperature: must be a number above 0 and at most 1000000, got 0"

# --------------------------------------------------------------------------------------------------- ensembles
translate --model "$model" input.txt
expect "a model twice equals that model" same out plain
translate --model other/model --n-best 2 input.txt
expect "two models translate together" lines 7
printf '{"max_extra": 8, "no_repeat_ngram": 1}\n' >wanting/decoding.json
run translate --model wanting --model "$model" --json sevens.txt
expect "with the first one's decoding.json" json '.tokens | length == (unique | length)'
run translate --model "$model" --model wanting --max-extra 8 --json sevens.txt
expect "and not the second one's" json '.tokens | length > (unique | length)'
run translate --model "$model" --model unlike/model input.txt
expect "different vocabularies are rejected" refused "tiny/model" "unlike/model" "one has 96 pieces, the other 90"

# ------------------------------------------------------------------------------- many sentences in a line
examples=$repository/assets/examples/everyday.en
paste -sd ' ' "$examples" >paragraph.txt
run translate --device cpu --model "$repository/assets/models/en-de" "$examples"
paste -sd ' ' out >each
run translate --device cpu --model "$repository/assets/models/en-de" paragraph.txt
expect "the shipped model translates every sentence of a paragraph" same out each
expect "and reports the split" complains "translated as 12 sentences"

# ------------------------------------------------------------------------------------------------ compressed text
gzip -k input.txt
{ cat input.txt.gz && head -c 1000 /dev/zero; } >padded.gz
printf '\xef\xbb\xbf' | cat - input.txt >marked.txt
printf '\x28\xb5\x2f\xfd\x04\x58\x69\x00\x00\x31\x20\x37\x20\x34\x0a\x0a\x32\x20\x30\x0a\x39\x0a\xa0\xcd\x9d\x70' >input.txt.zst # the same, compressed by zstd
for name in input.txt.gz input.txt.zst padded.gz marked.txt; do
    translate "$name"
    expect "$name is decompressed" eval 'ended_with 0 && same out plain'
    translate <"$name"
    expect "also from standard input" same out plain
done
translate marked.txt
expect "a byte order mark is reported" complains "begins with a byte order mark, which was removed"
printf '%%PDF-1.7\n' >paper.pdf
translate paper.pdf
expect "a file that is not text is rejected by its format" refused "'paper.pdf' is a PDF document"
translate --prefix "$(printf '\xef\xbb\xbf3 3')" input.txt
cp out marked-prefix
expect "a byte order mark before a prefix is reported" complains "--prefix begins with a byte order mark"
translate --prefix '3 3' input.txt
expect "and removed" same out marked-prefix
head -c 20 input.txt.gz >cut.gz
translate cut.gz
expect "a truncated compressed file is rejected" refused "'cut.gz'" "truncated"
{ cat input.txt.gz && printf 'no stream'; } >followed.gz
translate followed.gz
expect "lines before damage are translated" same out plain
expect "and the damage is reported" eval 'ended_with 1 && complains "cannot unpack '"'followed.gz'"'"'

# -------------------------------------------------------------------------------------------------- long lines
long='1 2 3 4! 5 6 7 8! 9 1 2 3!'
translate --split-longer-than 12 < <(printf '%s\n4 2\n' "$long")
expect "a long line is split" complains "line 1: "
expect "which is reported" complains "more than 12: translated as 3 sentences"
expect "and is not an error" ended_with 0
cp out split
translate < <(printf '1 2 3 4!\n5 6 7 8!\n9 1 2 3!\n')
expect "the result joins its sentences' translations" eval '[ "$(tr "\n" " " <out)" = "$(head -n 1 split) " ]'
translate --json --split-longer-than 12 < <(printf '%s\n' "$long")
expect "JSON has the number of sentences and the remark" json '.sentences == 3 and (.remark | contains("3 sentences"))'
unsplit='1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9'
translate < <(printf '%s\n4 2\n' "$unsplit")
expect "a line without an end of a sentence cannot be split" complains "no end of a sentence"
expect "which is an error if it is too long for the model" ended_with 1
expect "and leaves the line empty" eval 'lines 2 && line_is 1 "" && not line_is 2 ""'
translate --split-longer-than 5 < <(printf '1 2 3 4 5 6 7 8 9\n')
expect "and not otherwise" ended_with 0
expect "but reported" complains "translated unsplit"

wants '{"max_extra": 8, "split_longer_than": 12}' < <(printf '%s\n4 2\n' "$long")
expect "decoding.json can request splitting" same out split
expect "which is reported" complains "pieces, more than 12: translated as 3 sentences"
wants '{"max_extra": 8, "split_longer_than": 12}' --split-longer-than 0 < <(printf '%s\n' "$long")
expect "unless the command line disables it" not complains "sentences"
wants '{"max_extra": 8, "split_longer_than": 5}' < <(printf '1 2 3 4 5 6 7 8 9\n')
expect "a long sentence that cannot be split is not reported" not complains "line 1"
wants '{"max_extra": 8, "split_longer_than": -1}' input.txt
expect "negative lengths are rejected" refused "decoding.json" "split_longer_than"
wants '{"max_extra": 8, "split_longer_than": 12}' < <(for _ in {1..12}; do printf '%s\n' "$long"; done)
expect "the first of many split lines are listed" grep -q "line 10: .*; further ones are only counted" err
expect "and the others are not" not complains "line 11:"
expect "but counted" complains "12 lines were long; the first 10 are listed above"
for _ in {1..12}; do printf '%s\t%s\n' "$long" "$long"; done >long.tsv
run evaluate --model wanting --tsv long.tsv
expect "evaluate also follows decoding.json" grep -q "sentence 10: .*as 3 sentences; further ones are only counted" err
expect "and counts as well" complains "12 lines were long"

# -------------------------------------------------------------------------------------------------- alignments
translate --alignments input.txt
expect "alignments follow a translation" grep -qP '^[^|]+ \|\|\| (\d+-\d+ ?)+$' out
expect "and are empty for an empty one" line_is 2 " ||| "
expect "the translations are the same" eval 'sed "s/ |||.*//" out | cmp -s - plain'
words() { awk -F ' [|][|][|] ' 'NF == 2 && $1 != "" { n = split($1, w, " "); if (split($2, a, " ") != n) exit 1 }' out; }
expect "with a link for each word" words
translate --alignments --alignment-units pieces --json input.txt
expect "or for each piece" json '(.tokens | length) == (.alignment | length)'
translate --alignments --n-best 2 input.txt
expect "every translation of a list has its own" [ "$(grep -cP '^\d \|\|\| .+ \|\|\| (\d+-\d+ ?)+ \|\|\| LogP= ' out)" -eq 6 ]
translate --alignments --json --split-longer-than 12 < <(printf '%s\n' "$long")
expect "a split line is aligned throughout" json '[.alignment[][0]] | max >= 8 and max < 12'
# Characters that normalization joins, splits, adds and drops: no-break and zero-width spaces, a fraction, a ligature, controls.
printf '%b\n' '1\xc2\xa07 4' ' \t 1  7 \xe2\x80\x8b 4 ' '\xc2\xbd 7 \xef\xb7\xba 4' '\x01 7 \xef\xac\x81 \xc2\xa0 4\r' \
    '\xe2\x96\x81 7\x0c4 \xe2\x96\x81' '1\xe3\x80\x827\xe3\x80\x82 4' '1 \xe3\x80\x80 7 4 \xe3\x80\x80 1' >odd.txt
in_range() {
    # For readers that split at spaces and tabs, and for those that split at any white space.
    jq -es 'def parted($by): [splits($by) | select(. != "")] | length;
        def words: [parted("[ \t]+"), parted("\\s+")] | min;
        all(.[]; (.source | words) as $s | (.translation | words) as $t |
            (.alignment | length) == $t and all(.alignment[]; .[0] < $s and .[1] < $t))' out >/dev/null
}
for split in 0 2; do
    translate --alignments --json --split-longer-than $split odd.txt
    expect "links refer to the words of the original lines" in_range
done
translate --alignments --alignment-layer 1 --alignment-heads 2 input.txt
expect "layer and heads can be chosen" ended_with 0
translate --alignments --alignment-layer 3 input.txt
expect "a missing layer is rejected" refused "cannot align with decoder layer 3"
translate --alignments --alignment-heads 1,3 input.txt
expect "a missing head is rejected" refused "cannot align with head 3"
translate --alignment-layer 1 input.txt
expect "both need --alignments" refused_option "--alignment-layer" "--alignments"

# ------------------------------------------------------------------------------------------------ being unsure
near() { jq -es "all(.[]; ($1) - ($2) | fabs < 1e-5)" "${3:-out}" >/dev/null; }
translate --json --greedy --max-extra 40 input.txt
jq -c 'select(.source != "" and (.cut | not))' out >sure
jq -r '"\(.source)\t\(.translation)"' sure >sure.tsv
run score --model "$model" --tsv sure.tsv --json
expect "confidence is the mean probability of the pieces, as scored" \
    eval 'jq -es --slurpfile scored out "[., \$scored] | transpose | all(.[]; (.[1].tokens | map(.token)[:-1]) != .[0].tokens or (.[0].confidence - (-.[1].nll | exp) | fabs < 1e-4))" sure >/dev/null'
expect "the end among them" near '.confidence | log' '.log_probability / ((.tokens | length) + 1)' sure
expect "words are those of the text" json '(.words | map(.word) | join(" ")) == .translation' sure
product='([.words[].probability | log] | add)'
expect "and have all probability but the end's" json "$product >= .log_probability - 1e-5" sure
expect "that of a word is the product of its pieces', as scored" json "$product - ([.tokens[:-1][].log_probability] | add) | fabs < 1e-4"
expect "given texts have words, too" json '(.words | map(.word) | join(" ")) == .target'
run translate --model "$model" --max-extra 60 --json --split-longer-than 12 < <(printf '%s\n' "$long")
ended='((.tokens | length) + .sentences)'
expect "a split line has one confidence" json "has(\"cut\") or ((.confidence | log) - .log_probability / $ended | fabs < 1e-5)"
expect "and all words" json '(.words | map(.word) | join(" ")) == .translation'
translate --word-probabilities input.txt
each_has_one() { awk -F ' [|][|][|] ?' '$1 != "" && split($1, w, " ") != split($2, p, " ") { exit 1 }' out; }
expect "words can have their probabilities beside a text" eval 'each_has_one && line_is 2 " |||" && grep -qP "\|\|\| 0\.\d{4}" out'
translate --word-probabilities --alignments --n-best 2 input.txt
expect "in lists, after the alignment" grep -qP '^0 \|\|\| [^|]+ \|\|\| (\d+-\d+ ?)+ \|\|\| (0\.\d{4} ?)+ \|\|\| LogP= ' out
translate --word-probabilities --json input.txt
expect "JSON has them without asking" refused_option "--word-probabilities" "--json"
translate --json input.txt
least=$(jq -s 'map(.confidence // empty) | sort | (.[0] + .[1]) / 2' out)
jq -r 'if .confidence != null and .confidence < '"$least"' then "(unsure) " + .translation else .translation end' out >marked
translate --least-confidence "$least" input.txt
expect "what is unsure is marked" same out marked
expect "and counted" complains "1 of 4 translations have a confidence below"
translate --least-confidence "$least" --unsure leave-out input.txt
expect "or left out" eval 'sed "s/^(unsure).*//" marked | cmp -s - out'
translate --least-confidence "$least" --unsure leave-out --json input.txt
expect "in JSON as well" json '(has("unsure") | not) or (.translation == null and .confidence < '"$least"')'
expect "once" [ "$(grep -c '"unsure":true' out)" -eq 1 ]
translate --least-confidence "$least" --json input.txt
expect "where it is a flag if it stays" json '(has("unsure") | not) or (.translation | type) == "string"'
translate --least-confidence 1 --unsure leave-out --n-best 2 input.txt
expect "a list has no entry for what is left out" lines 1
translate --least-confidence 0 input.txt
expect "0 doubts nothing" eval 'same out plain && silent'
translate --least-confidence 1.5 input.txt
expect "a confidence is at most 1" misused "--least-confidence: must be a number from 0 to 1, got 1.5"
translate --unsure mark input.txt
expect "--unsure needs a limit" refused_option "--unsure" "--least-confidence"

# ------------------------------------------------------------------------------------------------ unknown words
cat >words.json <<'JSON'
{
  "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 32, "d_ff": 64, "heads": 2, "max_length": 48,
            "tying": "target_output"},
  "data": {"train": {"tsv": "copied.tsv"}},
  "tokenizer": {"type": "words", "vocabulary": 24, "shared": false},
  "training": {"steps": 120, "max_length": 48, "source_tokens": 512, "target_tokens": 512, "warmup_steps": 40}
}
JSON
awk 'BEGIN { srand(3); for (i = 0; i < 400; i++) { s = ""; t = ""; n = 2 + int(rand() * 4)
    for (j = 0; j < n; j++) { k = int(rand() * rand() * 60); s = s " a" k; t = t " b" k } print substr(s, 2) "\t" substr(t, 2) } }' >copied.tsv
run train words.json --data . --output of-words
unknown() { run translate --model of-words --greedy "$@"; }
printf 'a1 zebra a2\nzebra\na1 a2 a3\n' >rare.txt
unknown --allow-unknown rare.txt
expect "a model of words writes its unknown word" grep -qF '<unk>' out
cp out with-unknown
unknown --allow-unknown --alignments rare.txt
cp out linked
unknown --replace-unknown rare.txt
expect "which the word it is aligned with can replace" eval 'not grep -qF "<unk>" out && grep -qF zebra out'
replaced() {
    awk -F ' [|][|][|] ' 'NR == FNR { n = split($2, links, " "); split($1, words, " "); text = ""
        getline source < "rare.txt"; split(source, from, " ")
        for (i = 1; i <= n; i++) { split(links[i], link, "-"); at = link[2] + 1
            if (words[at] == "<unk>") words[at] = from[link[1] + 1] }
        for (i = 1; i in words; i++) text = text (i > 1 ? " " : "") words[i]
        expected[FNR] = text; delete words; next } $0 != expected[FNR] { exit 1 }' linked out
}
expect "by the links that --alignments shows" replaced
expect "they are counted" complains "unknown piece"
unknown --replace-unknown --json rare.txt
expect "in JSON, too" json '.translation | contains("<unk>") | not'
unknown --replace-unknown --json --split-longer-than 3 < <(printf 'a1 zebra! A zebra!\n')
expect "in every sentence of a split line" json '(.translation | contains("<unk>") | not) and .sentences == 2'
unknown --replace-unknown --device cpu,cpu rare.txt
expect "on one device" misused "--replace-unknown needs a single --device"
unknown --replace-unknown --alignment-layer 7 rare.txt
expect "by a layer that exists" refused "cannot align with decoder layer 7"

# ------------------------------------------------------------------------------------------------------- score
score() { run score --model "$model" "$@"; }
run translate --model "$model" --json --greedy --max-extra 40 input.txt
jq -r 'select(.source != "" and (.cut | not)) | "\(.source)\t\(.translation)"' out >pairs.tsv
jq -r 'select(.source != "" and (.cut | not)) | .log_probability' out >searched
jq -r 'select(.source != "" and (.cut | not)) | .tokens | join(" ")' out >written
cut -f 2 pairs.tsv >translations
run tokenize --model "$model" --side target translations
cp out pieces
score --tsv pairs.tsv
expect "given translations are scored" ended_with 0
expect "each with its log probability and its nats a piece" eval '[ "$(grep -cP "^-\d+\.\d{4}\t\d+\.\d{4}$" out)" -eq "$(wc -l <pairs.tsv)" ]'
# A search may write a text in other pieces than the tokenizer.
as_searched() {
    paste out searched written pieces |
        awk -F '\t' '$4 == $5 { n++; d = $1 - $3; if (d > 2e-4 || d < -2e-4) bad = 1 } END { exit bad || n < 1 }'
}
expect "which is that of the search" as_searched
cp out scored
cut -f 1 pairs.tsv >pairs.source && cut -f 2 pairs.tsv >pairs.target
score --source pairs.source --target pairs.target
expect "two files work like one" same out scored
score --tsv pairs.tsv --batch-tokens 1
expect "in any batch" same out scored
score --tsv pairs.tsv --precision f32
expect "F32 is the default precision" same out scored
score --tsv data/test.tsv --json
expect "JSON has every token" json '((.tokens | map(.log_probability) | add) - .log_probability | fabs) < 1e-9'
score --tsv data/test.tsv --stats
expect "statistics go to standard error" grep -qE '^6 pairs, [0-9]+ target tokens: log P -[0-9.]+, [0-9.]+ nats per token, perplexity [0-9.]+$' err
score --model "$model" --tsv pairs.tsv
expect "a model twice equals that model" same out scored
printf '1\t2\n\t3\n4\t☃\n' >odd.tsv
score --tsv odd.tsv
expect "a pair without a source makes the exit code 1" ended_with 1
expect "is reported" complains "line 2: the source is empty"
expect "and gives an empty line" eval 'lines 3 && line_is 2 ""'
expect "unknown pieces are reported" complains "1 of 3 targets contain characters missing from the vocabulary"
printf '1\t2\n3\t\xe3\x80\x80\n\xef\xbb\xbf\t4\n' >bare.tsv
score --tsv bare.tsv
expect "a source of invisible characters is empty" complains "line 3: the source is empty"
expect "and such a target is counted" complains "1 of 3 targets are empty"
score --tsv bare.tsv --json
expect "and marked" json '(.line == 2) == (.empty_target == true)'
score --tsv bare.tsv --stats
expect "but not part of the statistics" complains "1 pair, 2 target tokens: "
score --source pairs.source --target input.txt
expect "files of different lengths are rejected" complains "'pairs.source' has $(wc -l <pairs.source) lines, but 'input.txt' has"
printf 'no tab\n' >bad.tsv
score --tsv bad.tsv
expect "a line without a tab is an error" refused "'bad.tsv' line 1 has no TAB"
score --tsv pairs.tsv --source pairs.source
expect "they exclude each other" refused_option "--tsv" "--source"
score
expect "no input is an error" misused "nothing to score"

# -------------------------------------------------------------------------------------- the same in evaluate
search="--no-repeat-ngram 2 --length-penalty-form power --length-penalty 1 --split-longer-than 6"
cut -f 1 data/test.tsv >test.source
# shellcheck disable=SC2086 # several words
translate $search test.source
cp out searched
# shellcheck disable=SC2086
run evaluate --model "$model" --max-extra 8 $search --tsv data/test.tsv --output evaluated
expect "evaluate writes the same translations as translate" same evaluated searched
finish "what is offered beyond plain translation does as expected"
