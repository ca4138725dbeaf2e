#!/usr/bin/env bash
# headscope evaluate and plot as a user meets them, on a model trained for three steps.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
holds() { [ -s out ] && jq -e "$1" out >/dev/null; } # jq accepts empty input

cat >tiny.json <<'JSON'
{
  "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 32, "d_ff": 64, "heads": 2, "max_length": 64},
  "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
  "tokenizer": {"type": "bpe", "vocabulary": 96, "shared": true},
  "training": {"steps": 3, "max_length": 64, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 3,
               "report_every": 1, "validate_every": 1}
}
JSON
train_digits tiny.json
model=trained/model

# ----------------------------------------------------------------------------------- evaluate: with a model
run evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --output mine
expect "BLEU is given" says "BLEU = "
expect "with its signature" says "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"
expect "chrF2" says "chrF2 = "
expect "with its own" says "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no"
expect "ROUGE" says "ROUGE-1 = "
expect "with the way its words are compared" says "nrefs:1|stem:no"
expect "exact matches" says "of 6 sentences"
expect "perplexity" grep -qE '^perplexity  [0-9.]+ per piece of the references, over [0-9]+ pieces' out
expect "and calibration" grep -qE '^calibration error [0-9.]+ % \(ECE, 15 bins\)' out
cp out scored
run evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --calibration calibration.svg
expect "calibration is drawn beside the scores" eval 'same out scored && grep -q ">Calibration of trained<" calibration.svg'
expect "with the error that is printed" grep -qF "Calibration error $(sed -n 's/^calibration error \([0-9.]*\) %.*/\1/p' out) %" calibration.svg
run evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --calibration calibration.png
expect "or as a bitmap" [ "$(head -c 4 calibration.png | tail -c 3)" = PNG ]
run evaluate --tsv data/test.tsv --model "$model" --calibration calibration.txt
expect "another file is no picture" misused "'calibration.txt' is no picture" ".svg, .png"
cut -f 1 data/test.tsv >source.txt
cut -f 2 data/test.tsv >reference.txt
run evaluate --source source.txt --reference reference.txt --model "$model" --max-extra 8
expect "two files work like one" same out scored
run evaluate --tsv - --model "$model" --max-extra 8 <data/test.tsv
expect "- is standard input" same out scored
run evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --output /dev/stdout
expect "scores and translations cannot go to one file" eval 'ended_with 1 && complains "cannot write '"'/dev/stdout'"': standard output goes there"'
"$headscope" evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --output /dev/stdout 2>err | cat >out
code=${PIPESTATUS[0]}
expect "or in one pipe" refused "'/dev/stdout'" "not a regular file"
run evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --output -
expect "--output - is rejected, because standard output has the scores" eval 'misused "--output" "needs a file" && [ ! -e ./- ]'
run evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --batch-tokens 1
expect "one by one gives the same" same out scored
run evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --precision f32 --beam 1 --length-penalty 1 --length-penalty-form power --no-repeat-ngram 1 --min-length 2 --repetition-penalty 1.1 --early-stopping true
expect "search options apply" ended_with 0
expect "without changing the perplexity of the references" [ "$(grep '^perplexity' out)" = "$(grep '^perplexity' scored)" ]
run evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --json
expect "JSON is one object" holds '.sentences == 6 and .signature == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"'
expect "with its origin" holds '(.headscope | test("^[0-9.]+$")) and (.date | test("^20.*Z$")) and (.command | startswith("headscope evaluate --tsv data/test.tsv"))'
expect "the model" holds '.model | .device.id == "cpu" and .precision == "f32" and .beam == 4 and .max_extra == 8 and .split_longer_than == 64'
expect "its folder" [ "$(jq -r .model.directories[0] out)" = "$model" ]
expect "of one model" [ "$(jq '.model.directories | length' out)" -eq 1 ]
cp out alone
run evaluate --tsv data/test.tsv --model "$model" --model "$model" --max-extra 8 --json
expect "a model twice is an ensemble" [ "$(jq '.model.directories | length' out)" -eq 2 ]
expect "which translates like the model" [ "$(jq .bleu out)" = "$(jq .bleu alone)" ]
expect "finds the references as likely" [ "$(jq '.nll * 1e5 | round' out)" = "$(jq '.nll * 1e5 | round' alone)" ]
expect "as far above the others" eval 'jq -e ".logit_gap > 0" out && [ "$(jq ".logit_gap * 1e3 | round" out)" = "$(jq ".logit_gap * 1e3 | round" alone)" ]'
expect "with the same confidence" [ "$(jq '.calibration.bins[].tokens' out)" = "$(jq '.calibration.bins[].tokens' alone)" ]
cp reference.txt $'r\xff.txt'
run evaluate --hypotheses $'r\xff.txt' --reference reference.txt --json
# shellcheck disable=SC2016 # bash prints the bytes that way: $'...'
expect "a name that is not UTF-8 is escaped in JSON" eval 'ended_with 0 && [ "$(jq -r .command out)" = "headscope evaluate --hypotheses \$'"'"'r\\xff.txt'"'"' --reference reference.txt --json" ]'
cp alone out
expect "with the perplexity" holds '(.nll | exp) - .perplexity | fabs < 1e-6'
expect "of the tokens in the bins" holds '([.calibration.bins[].tokens] | add) == .target_tokens'
expect "whose errors add up" holds '([.calibration.bins[] | .tokens * (.confidence - .accuracy) | fabs] | add) / .target_tokens - .calibration.expected_error | fabs < 1e-9'
expect "and nothing is skipped" holds '.left_out == 0 and .lines_left_out == 0'
run evaluate --source source.txt --reference reference.txt --reference reference.txt --model "$model" --max-extra 8 --json
expect "all references are scored" holds '.target_tokens % 2 == 0 and .bleu >= 0'
cp out twice
run evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --json
expect "each as often as given" [ "$(jq .target_tokens twice)" -eq "$((2 * $(jq .target_tokens out)))" ]
expect "which does not change the mean" [ "$(jq '.nll * 1e6 | round' twice)" -eq "$(jq '.nll * 1e6 | round' out)" ]
{ head -c 300 /dev/zero | tr '\0' '7'; printf '\n'; tail -n 5 source.txt; } >long.txt
run evaluate --source long.txt --reference reference.txt --model "$model" --max-extra 8 --split-longer-than 0
expect "a source that is too long makes the exit code 1" ended_with 1
expect "is named" complains "sentence 1: "
expect "counted" complains "1 of 6 sentences were not translated"
expect "and not part of the perplexity" says "1 reference left out"

# ------------------------------------------------------------------------------------------------ calibrate
calibrate() { run calibrate --tsv data/test.tsv "$@"; }
calibrate --model "$model"
expect "calibrate prints a temperature" grep -qE '^temperature +1\.0000 +[0-9.]+$' out
expect "and the calibration error before and after" grep -qE '^calibration error \(ECE\) +[0-9.]+ % +[0-9.]+ %$' out
calibrate --model "$model" --json
cp out fitted
expect "the perplexity falls" holds '.after.perplexity < .before.perplexity and .before.temperature == 1 and .kept == null'
expect "of as many pieces as evaluate has" [ "$(jq .tokens out)" -eq "$(jq .target_tokens alone)" ]
expect "from the one that evaluate prints" [ "$(jq '.before.nll * 1e6 | round' out)" -eq "$(jq '.nll * 1e6 | round' alone)" ]
expect "the likeliest piece stays" holds '.before.calibration.accuracy == .after.calibration.accuracy'
calibrate --model "$model" --precision f32 --batch-tokens 32 --device cpu,cpu --json
expect "two devices find the same" [ "$(jq '.after.temperature * 1e3 | round' out)" = "$(jq '.after.temperature * 1e3 | round' fitted)" ]
cp -r trained kept
calibrate --model kept --write
expect "it can be kept" says "kept in 'kept/model/config.json'"
expect "in the model" [ "$(jq .output.temperature kept/model/config.json)" = "$(jq .after.temperature fitted)" ]
run evaluate --tsv data/test.tsv --model kept/model --max-extra 8 --greedy --json
expect "which is then used" [ "$(jq '.nll * 1e4 | round' out)" -eq "$(jq '.after.nll * 1e4 | round' fitted)" ]
cp out tempered
run evaluate --tsv data/test.tsv --model "$model" --max-extra 8 --greedy --json
expect "greedy outputs stay" [ "$(jq .bleu out)" = "$(jq .bleu tempered)" ]
calibrate --model kept --json
expect "again, it is found" holds '(.after.temperature / .before.temperature - 1 | fabs < 0.01) and .before.temperature != 1'
calibrate --model "$model" --picture after.svg
expect "what is left is drawn" grep -q '>Calibration of trained<' after.svg
calibrate --model "$model" --picture after.txt
expect "as a picture" misused "'after.txt' is no picture"
calibrate --model "$(dirname "${BASH_SOURCE[0]}")/../import/models/hf-bart" --write
expect "another program's model is imported first" misused "--write keeps the temperature in a model directory of headscope" "headscope import"
calibrate --write
expect "and the model is named, so that no bundled one changes" misused "--write changes a model: give --model"
run calibrate --model "$model"
expect "data is needed" misused "nothing to calibrate with" "--tsv FILE"
run calibrate --source source.txt --model "$model"
expect "with references" misused "--reference"
run calibrate --text source.txt --model "$model"
expect "of the model's kind" misused "--text"
run calibrate --source source.txt --reference reference.txt --limit 3 --model "$model" --json
expect "two files work, too, or a part of them" holds '.tokens > 0 and .tokens < '"$(jq .tokens fitted)"

# ------------------------------------------------------------------------------------------ several devices
head -n 200 data/train.tsv >many.tsv
expect "two devices share translations and references, and change no score" \
    shares smoothed_cross_entropy evaluate --tsv many.tsv --model "$model" --max-extra 8 --batch-tokens 8
expect "both are named" holds '.model | (.devices | map(.id)) == ["cpu", "cpu"] and (has("device") | not)'
expect "so do those of an ensemble" \
    shares attention evaluate --tsv many.tsv --model "$model" --model "$model" --max-extra 8 --batch-tokens 8
expect "and pairs, in their order" shares smoothed_cross_entropy score --tsv many.tsv --model "$model" --batch-tokens 1
sed '50s/.*/\t7/; 150s/.*/\t7/' many.tsv >gaps.tsv
run score --tsv gaps.tsv --model "$model" --batch-tokens 1 --stats
cp out alone
cp err alone.err
run score --tsv gaps.tsv --model "$model" --batch-tokens 1 --stats --device cpu,cpu
expect "with the same problems" eval 'ended_with 1 && same out alone && same err alone.err && complains "line 150: "'
{ cat many.tsv; echo "no tab"; } >broken.tsv
run score --tsv broken.tsv --model "$model" --batch-tokens 1
cp out alone
run score --tsv broken.tsv --model "$model" --batch-tokens 1 --device cpu,cpu
expect "and all parts before a broken line" eval 'ended_with 1 && same out alone && [ "$(wc -l <out)" -gt 190 ] && complains "line 201"'
run score --tsv <(head -n 1 many.tsv) --model "$model" --device cpu,cpu
expect "a device without work is named" eval 'ended_with 0 && [ "$(grep -c "had no work: " err)" -eq 1 ]'
for line in 1 2 3 4 5 6 7 8; do
    yes '1 2' | head -n 500000 | tr '\n' ' '
    printf '\t7\n'
done >huge.tsv
run score --tsv huge.tsv --model "$model" --batch-tokens 1
expect "a command waits for any number of tokens" eval 'ended_with 1 && complains "8 of 8 pairs were not scored" && ! complains "tokens wait"'
run score --tsv many.tsv --model "$model" --device cpu,abacus
expect "an unknown device is rejected" refused 'unknown device "abacus"'

# ------------------------------------------------------------------------------- evaluate: of translations
run evaluate --hypotheses mine --tsv data/test.tsv
expect "written translations score the same" [ "$(cat out)" = "$(head -n 7 scored)" ]
run evaluate --hypotheses reference.txt --reference reference.txt --json
expect "the reference itself matches everywhere" holds '.exact_matches == 6 and .brevity_penalty == 1 and .chrf > 99.99'
expect "and without a model there is no perplexity" holds 'has("perplexity") or has("calibration") or has("model") | not'
run evaluate --hypotheses mine --reference reference.txt --limit 2
expect "a limit holds for both" says "of 2 sentences"
run evaluate --hypotheses mine --reference reference.txt --limit 0
expect "0 means no limit" says "of 6 sentences"
run evaluate --hypotheses mine --reference reference.txt --limit -1
expect "a negative limit is rejected" misused "--limit: must be a whole number from 0 to 2147483647, got -1"
run evaluate --help
expect "as the help says" says "Only the first N sentences; 0: all"
printf 'Ein Mann , der LÄUFT .\nZwei Hunde spielen im Schnee\n' >theirs.txt
printf 'ein Mann , der läuft .\nzwei hunde spielen im Schnee .\n' >people.txt
printf 'Ein Mann , der LÄUFT .\nNiemand\n' >others.txt
run evaluate --hypotheses theirs.txt --reference people.txt --tokenize none
expect "text may be tokenized already" says "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp"
run evaluate --hypotheses theirs.txt --reference people.txt --tokenize none --lowercase
expect "case can be ignored" says "nrefs:1|case:lc|eff:no|tok:none|smooth:exp"
expect "also in chrF2" says "nrefs:1|case:lc|eff:yes|nc:6|nw:0|space:no"
expect "but not in exact matches" says "exact match 0 of 2 sentences"
run evaluate --hypotheses theirs.txt --reference people.txt --reference others.txt
expect "there may be several references" says "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp"
expect "of which any may match" says "exact match 1 of 2 sentences"
printf 'A man runs.\nTwo dogs play in the snow.\n' >english.txt
printf 'A man running.\nTwo dogs played in snow.\n' >played.txt
run evaluate --hypotheses played.txt --reference english.txt --json
expect "ROUGE counts words" holds '.rouge | (.rouge1.f1 * 100 | round) == 6970 and .signature == "nrefs:1|stem:no"'
run evaluate --hypotheses played.txt --reference english.txt --stem --json
expect "or their stems" holds '.rouge | (.rougeL.recall * 100 | round) == 9167 and .signature == "nrefs:1|stem:porter"'
run evaluate --hypotheses theirs.txt --source english.txt --reference people.txt --by-length
expect "scores by length have a table" grep -qE '^source words +sentences +BLEU +chrF2 +exact$' out
expect "with a line for the lengths that occur" [ "$(sed -n '/^source words/,$p' out | wc -l)" -eq 3 ]
expect "short sentences first" grep -qE '^up to 5 +1 ' out
run evaluate --hypotheses theirs.txt --source english.txt --reference people.txt --by-length --json
expect "in JSON, too" holds '[.by_source_length[].sentences] == [1, 1] and .by_source_length[1].least_words == 6'

run evaluate --hypotheses theirs.txt --reference reference.txt
expect "files of different lengths are rejected" refused "'theirs.txt' has 2 lines and 'reference.txt' has 6"
run evaluate --source theirs.txt --reference reference.txt --model "$model"
expect "also before translating" refused "'theirs.txt' has 2 lines and 'reference.txt' has 6"
run evaluate --hypotheses mine --reference reference.txt --reference people.txt
expect "references are of one length" refused "'reference.txt' has 6 lines and 'people.txt' has 2"
run evaluate --source source.txt
expect "a missing reference is rejected" misused "--reference"
run evaluate --reference reference.txt
expect "missing input is rejected" misused "--source"
: >empty.txt
run evaluate --hypotheses empty.txt --reference empty.txt
expect "an empty file is rejected" refused "'empty.txt' has no sentence"
run evaluate --hypotheses mine --reference reference.txt --source source.txt
expect "an unused source is rejected" misused "--by-length"
run evaluate --hypotheses mine --reference reference.txt --by-length
expect "and --by-length without sources" misused "--source"
for option in "--model $model" "--device cpu" "--beam 2" "--greedy" "--output other"; do
    # shellcheck disable=SC2086 # an option and its value
    run evaluate --hypotheses mine --reference reference.txt $option
    expect "$option is rejected without a model" misused "${option%% *}"
done
run evaluate --hypotheses mine --reference reference.txt --tokenize intl
expect "an unknown tokenizer is rejected" misused "intl" "13a"
run evaluate --hypotheses mine --reference no-such-file
expect "a missing file is named" refused "no-such-file"
{ head -n 2 data/test.tsv; printf '\n'; tail -n 4 data/test.tsv; } >gap.tsv
{ head -n 2 mine; printf '\n'; tail -n 4 mine; } >gap.txt
run evaluate --hypotheses gap.txt --tsv gap.tsv
expect "translations are not compared with a TSV with an empty line" refused "1 of the lines of 'gap.tsv'" "'gap.txt'"
run evaluate --tsv gap.tsv --model "$model" --max-extra 8
expect "which is skipped otherwise" same out scored
expect "with a report" complains "'gap.tsv': 1 line left out"
run evaluate --tsv gap.tsv --model "$model" --max-extra 8 --json
expect "nor in JSON" holds '.lines_left_out == 1 and .left_out == 0'

# The same for two files, with lines of invisible characters.
{ head -n 2 source.txt; printf '\xc2\xa0\n'; tail -n 4 source.txt; printf '7\n\n'; } >gap.source
{ head -n 2 reference.txt; printf '3\n'; tail -n 4 reference.txt; printf '\xe3\x80\x80\xe2\x80\x8b\n\n'; } >gap.reference
run evaluate --source gap.source --reference gap.reference --model "$model" --max-extra 8 --output gap.mine
expect "lines with an empty side are skipped" same out scored
expect "and counted" complains "'gap.reference': 3 lines left out"
expect "but not in the translations, which go with the source" \
    [ "$({ head -n 2 mine; echo; tail -n 4 mine; echo; echo; } | md5sum)" = "$(md5sum <gap.mine)" ]
run evaluate --hypotheses mine --reference reference.txt
cp out of_mine
sed '3s/.*/\xc2\xa0/; s/\xe2\x80\x8b//' gap.reference >bare.reference
run evaluate --hypotheses gap.mine --reference bare.reference
expect "translations are matched to the remaining lines" same out of_mine
run evaluate --hypotheses gap.mine --reference bare.reference --json
expect "and JSON counts the others" holds '.lines_left_out == 3'
for name in mine reference.txt; do
    printf '\xef\xbb\xbf' | cat - $name >marked.$name
done
run evaluate --hypotheses marked.mine --reference marked.reference.txt
expect "byte order marks are reported" eval 'complains "marked.mine'"'"' begins with a byte order mark" && complains "marked.reference.txt'"'"' begins with"'
expect "once each" [ "$(grep -c 'byte order mark' err)" -eq 2 ]
printf '%s\n' 'The cat sat on a mat.' 'A dog ran fast, very fast!' "It's 5 o'clock or 6." >odd.mine
printf '%s\n' 'The cat sat on the mat.' 'A dog runs fast, very fast!' "It's 5 o'clock (or 6)." >odd.reference
bleu_is() { run evaluate --hypotheses odd.mine --reference "$1" --json; holds ".bleu - $2 | fabs < 1e-9"; } # of sacreBLEU 2.6.0
expect "BLEU is sacreBLEU's" bleu_is odd.reference 45.055662770601735
{ printf '\xef\xbb\xbf'; cat odd.reference; } >marked
expect "also with a byte order mark, which is text" bleu_is marked 37.550337269401922
sed '2s/.*//' odd.reference >blank
expect "and with an empty reference" bleu_is blank 24.669426816409512
run evaluate --hypotheses gap.mine --reference gap.source --reference gap.reference
expect "one reference of several is enough" complains "'gap.source': 1 line left out"

# ------------------------------------------------------------------------------------------------ odd TSV
printf 'a\tb\n' >two.tsv
printf 'a\tb\tCC BY\n' >three.tsv
printf 'a\tb\nalone\n' >one.tsv
: >nothing.tsv
run data --tsv three.tsv --output split --valid 0 --test 0
expect "further columns are ignored by data alone" same split/train.tsv two.tsv
for words in evaluate score "compare --device cpu --with cpu:oracle"; do
    # shellcheck disable=SC2086 # several words
    odd() { run $words --model "$model" --tsv "$1"; }
    odd three.tsv
    expect "${words%% *}: further columns are rejected" refused "'three.tsv' line 1 has 2 TABs" "remove the other columns"
    odd one.tsv
    expect "${words%% *}: as is a line without one" refused "'one.tsv' line 2 has no TAB" "two files"
    expect "${words%% *}: without advice about columns" not complains "columns"
    odd nothing.tsv
    expect "${words%% *}: and an empty file" refused "no sentence"
done
run score --model "$model" --source nothing.tsv --target nothing.tsv --stats
expect "also with score" refused "'nothing.tsv' has no sentence to score"
printf '1\t2\n\n3\t4\n' >blank.tsv
run score --model "$model" --tsv blank.tsv --json
expect "an empty line is a pair that cannot be scored" eval 'ended_with 1 && complains "line 2: the source is empty"'
expect "and lines keep their numbers" [ "$(jq -c .line out | paste -sd ,)" = 1,2,3 ]

# ---------------------------------------------------------------------------------------------------- plot
titles() { [ "$(grep -oE '>(Loss|Learning rate|BLEU)[^<]*</text>' out | sed 's/^>//; s/<.*//' | paste -sd ,)" = "$1" ]; }
run plot trained -o -
expect "a training is plotted" titles "Loss of trained,Learning rate"
expect "with its curves counted" eval 'says "2 curves over step" && says "1 curve over step"'
cp out once
run plot trained/log.jsonl -o -
expect "its log works like its folder" same out once
run plot trained -o curves.svg
expect "into a file, too" same curves.svg once
run plot trained -o curves.png
expect "a .png file is a bitmap" [ "$(head -c 4 curves.png | tail -c 3)" = PNG ]
cp curves.png usual.png
run plot trained -o curves.png --scale 1
expect "of another size" [ "$(wc -c <curves.png)" -lt "$(wc -c <usual.png)" ]
run plot trained -o - --theme dark
expect "dark" not same out once
run plot trained -o - --log
expect "or logarithmic" not same out once
run plot trained -o - --from 2
expect "or without its beginning" not same out once
mkdir -p other/trained && sed 's/"train"/"validation"/' trained/log.jsonl >other/trained/log.jsonl
run plot trained other/trained -o -
expect "two trainings share their axes" titles "Loss in training,Loss in validation,Learning rate"
expect "with distinct names" says "other/trained</text>"
run plot trained trained/log.jsonl -o -
expect "a training given twice is rejected" misused "twice"
run plot nowhere -o -
expect "a missing training is an error" refused "'nowhere' does not exist"
run plot data -o -
expect "and a folder without a log" refused "'data' holds no log.jsonl"
run plot trained source.txt -o -
expect "and a file that is not a log" refused "'source.txt' line 1 is not a JSON object of a training log" "log.jsonl"
run plot trained -o curves.gif
expect "an unknown format is rejected" misused "curves.gif" ".png"
run plot trained -o - --from 100
expect "an empty plot is rejected" refused "no steps to plot"
run plot trained -o nowhere/curves.svg
expect "a missing output folder is an error" refused "nowhere/curves.svg"

finish "the commands do as expected"
