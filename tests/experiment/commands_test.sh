#!/usr/bin/env bash
# headscope experiment on the command line: killed and continued, with rows that are impossible or fail, and its errors.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2317 # the conditions are called, and words of eval expanded, through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
run make-task digits --output data --pairs 400 --valid 10 --test 10
cat >small.json <<'JSON'
{
  "model": {"encoder_layers": 3, "decoder_layers": 3, "d_model": 16, "d_ff": 32, "heads": 4},
  "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
  "tokenizer": {"type": "bpe", "vocabulary": 72, "shared": true},
  "training": {"steps": 20, "source_tokens": 256, "target_tokens": 512, "warmup_steps": 10, "max_length": 64,
               "checkpoint_every": 4, "checkpoint_minutes": 0, "keep_last": 1, "validate_every": 0}
}
JSON
table3() { run experiment table3 --config small.json --data data "$@"; }
without_times() { grep -vE '"minutes"|tokens_per_second"' "$1/table.json"; }
value() { sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" "$2"; } # KEY FILE
row() { grep -qE -- "^$1 +$2" out; } # NAME PATTERN

# ------------------------------------------------------------------------------------------ table3
table3 --output whole --rows base,A1,D1 --device cpu
expect "rows are trained" ended_with 0
expect "the table has ours beside the paper's" row base 'the base model +[0-9.]+ +4.92 +[0-9.]+ +25.8 +0.0[12] +65 +1'
expect "and rows without results" row D2 'P_drop 0.2 +- +4.95 +- +25.5'
expect "an impossible row is reported" complains "A1 is impossible with this base: h would be 4 x 1 / 8, not a whole number"
expect "also below the table" says "A1: impossible with this base"
expect "the Markdown table has the same" grep -qE '^\| D1 +\| P_drop 0.0 +\| +[0-9.]+ \| +5.77' whole/table.md
expect "and the CSV" eval 'head -n 1 whole/table.csv | grep -q "ours/bleu/mean" && [ "$(grep -c ",base," whole/table.csv)" -eq 1 ]'
expect "and a picture" eval '[ "$(head -c 4 whole/table.png | tail -c 3)" = PNG ] && grep -q "Table 3: variations of the model" whole/table.svg'

# A kill between the first checkpoint of a row and its end, which may need several attempts.
for _ in {1..20}; do
    rm -rf killed
    "$headscope" experiment table3 --config small.json --data data --output killed --rows base >out 2>err &
    experiment=$!
    until compgen -G "killed/base-s1/checkpoints/*.safetensors" || [ -z "$(jobs -rp)" ]; do sleep 0.01; done
    kill -9 "$experiment"
    wait "$experiment"
    [ ! -e killed/base-s1/result.json ] && break
done >/dev/null 2>&1
table3 --output killed --rows base
expect "a killed row continues from its checkpoint" eval 'ended_with 0 && complains "base-s1: resuming after step "'
while :; do
    "$headscope" experiment table3 --config small.json --data data --output killed --rows base,A1,D1 >out 2>err &
    experiment=$!
    sleep "0.0$((RANDOM % 10))"
    kill -9 "$experiment" 2>/dev/null
    wait "$experiment"
    code=$?
    [ "$code" -eq 137 ] || break
    kills=$((${kills:-0} + 1))
    if [ "$kills" -ge 20 ]; then table3 --output killed --rows base,A1,D1 && break; fi
done 2>/dev/null
expect "an experiment that was killed again and again ends" ended_with 0
expect "with the same table" eval 'diff <(without_times killed) <(without_times whole)'

table3 --output whole --rows base,E --seeds 2 --device cpu,cpu
expect "further rows and seeds can follow, on two devices" ended_with 0
expect "the table then has means and deviations" row base 'the base model +[0-9.]+ ± [0-9.]+ '
expect "a finished row is not trained again" not complains "base-s1: step"

table3 --output whole --rows base,D2 --seeds 2 --dry-run --json
expect "JSON has what is to be trained" jq -e '.schema == 1 and .finished == 2 and (.trainings | length) == 2 and .trainings[0].steps == 20' out
table3 --output whole --rows base,D2 --seeds 2 --dry-run
expect "a dry run leaves out what is finished" eval '! row base-s1 ".*" && says "2 trainings on one device, cpu: about" && says "2 of 4 are finished"'
cp whole/E-s1/result.json E.json && echo '{}' >whole/E-s1/result.json
table3 --output whole --rows D2
expect "a damaged result is an error before anything is trained" eval 'ended_with 1 && complains "whole/E-s1/result.json" && [ ! -e whole/D2-s1 ]'
rm whole/E-s1/result.json && mkdir whole/base-s1/checkpoints
table3 --output whole --rows base,E
expect "without it the row is trained again" eval 'ended_with 0 && complains "E-s1: PPL" && [ "$(value perplexity whole/E-s1/result.json)" = "$(value perplexity E.json)" ]'
expect "checkpoints left by a kill after the result go" not [ -e whole/base-s1/checkpoints ]

table3 --output whole --rows base --steps 21
expect "a changed experiment is refused" refused "'whole' holds another experiment" '"steps" was 20 and is now 21'
mkdir failing && touch failing/D1-s1
table3 --output failing --rows D1,base
expect "a row that fails is an error at the end" eval 'ended_with 1 && complains "headscope: 1 of 2 trainings failed"'
expect "and the others go on" row base 'the base model +[0-9.]+ +4.92'
expect "which the table says" says "D1: failed: seed 1: "

table3 --output none --rows base,B --steps 3 --precision f32 --dry-run
expect "a dry run lists trainings" eval 'ended_with 0 && row base-s1 "0.0[12] M +3 " && says "3 trainings on one device, cpu: about"'
expect "and writes nothing" not [ -e none ]
sed 's/"steps": 20/"epochs": 2/' small.json >epochs.json
run experiment table3 --config epochs.json --data data --output none --rows big --precision f32 --dry-run
expect "epochs are a limit, too" eval 'ended_with 0 && row big-s1 "[0-9.]+ M +[0-9]+ "'
run experiment table2 --config epochs.json --data data --output none
expect "but not for Table 2" refused '"training.steps"' --steps
sed 's/"steps": 20/"steps": "many"/' small.json >many.json
run experiment table3 --config many.json --data data --output none
expect "a wrong value is an error in the file" refused many.json '"training.steps"'
table3 --output none --rows X
expect "an unknown row is an error" refused 'there is no row "X"; there are base, A1'
run experiment table3 --scale tiny --data data --output none
expect "a vocabulary too large for the data is an error" eval 'ended_with 1 && complains "\"tokenizer.vocabulary\" 6000"'
expect "that leaves nothing behind" not [ -e none ]
mkdir empty && cp data/train.tsv empty
run experiment table3 --scale tiny --data empty --output none
expect "missing development data is an error" refused "empty/valid.tsv" "does not exist"
# ------------------------------------------------------------------------------------------ table2
sed 's/"steps": 20/"steps": 60/; s/"d_model": 16/"d_model": 32/' small.json >more.json
table2() { run experiment table2 --config more.json --data data --output quality "$@"; }
digits='[0-9]+\.[0-9]+'
table2 --shapes base --seeds 1
expect "Table 2 has the last checkpoint and the mean" eval 'ended_with 0 && row "base, last checkpoint" "$digits +$digits +$digits"'
expect "the latter beside the paper's" row "base, mean of the last 5" "$digits +$digits +$digits +$digits +$digits +[0-9.]+e[0-9]+ +27.3 +3.3e18"
flops=$(value flops quality/base-s1/model/training.json)
expect "with the operations of its training card" says " $(printf '%.1e' "$flops" | sed 's/e+0*/e/') "
expect "and the paper's other models" eval 'row "GNMT \\+ RL Ensemble" "26.3 +1.8e20" && row "Transformer \\(big\\)" "28.4 +2.3e19"'
expect "in Markdown, too" grep -qE '^\| ConvS2S +\|.* 25.16 \| +9.6e18 \|' quality/table.md
expect "and in JSON" eval 'grep -q "\"flops_en_fr\": 1.2e+21" quality/table.json && [ "$(value flops quality/table.json | head -n 1)" = "$flops" ]'
expect "which are two models" eval '! same quality/base-s1/last/model.safetensors quality/base-s1/model/model.safetensors'
cp quality/base-mean.json mean.json
table2 --shapes base --seeds 4 --device cpu,cpu
expect "more seeds make ensembles" row "base, ensemble of 4 means" "$digits +$digits"
expect "of more parameters" eval '[ $(value parameters quality/base-ensemble4.json) -eq $((4 * $(value parameters mean.json))) ]'
expect "and measure nothing again" same quality/base-mean.json mean.json
run evaluate --tsv data/test.tsv --model quality/base-s1/model --model quality/base-s2/model --beam 4 --length-penalty 0.6
expect "BLEU of an ensemble is that of headscope evaluate" says "$(printf '%.2f' "$(value bleu quality/base-ensemble2.json)")"
mkdir bare && cp data/train.tsv data/valid.tsv bare
cp data/test.tsv kept.tsv && printf '%s\tone\n' "$(printf 'one %.0s' {1..1100})" >>data/test.tsv
table2 --shapes base --seeds 1 --json
expect "JSON has the rows and the files" eval 'wrote quality/table.json quality/table.md && jq -e ".rows | length > 0" out'
table2 --shapes base --seeds 1
expect "what a test text has in vain is counted" says "base-mean: 1 pair of the test data not in PPL, 1 count as empty in BLEU"
expect "in JSON, too" grep -q '"untranslated": 1' quality/table.json
mv kept.tsv data/test.tsv && mv quality/base-s1/last/config.json kept.json
table2 --shapes base --seeds 1
expect "a model that cannot be measured does not end the others" eval 'ended_with 1 && row "base, mean of the last 5" "$digits" && row "base, last checkpoint" "- "'
expect "and is an error at the end" eval 'says "base-last: failed: " && complains "1 row could not be measured"'
mv kept.json quality/base-s1/last/config.json
table2 --shapes base --seeds 1
expect "that the same command makes good" eval 'ended_with 0 && row "base, last checkpoint" "$digits"'
mkdir empty-test && cp data/train.tsv data/valid.tsv empty-test && : >empty-test/test.tsv
run experiment table2 --config more.json --data empty-test --output none
expect "an empty test text is an error" eval 'refused "empty-test/test.tsv'"'"' is empty" && [ ! -e none/base-s1 ]'
run experiment table2 --config more.json --data data --output none --steps 3 --precision f32 --seeds 2 --dry-run
expect "a dry run lists its trainings" eval 'ended_with 0 && row big-s2 "[0-9.]+ M +9 " && says "4 trainings"'
run experiment table2 --scale tiny --data data --output none
expect "its scales have their vocabularies" complains '"tokenizer.vocabulary" 6000'
run experiment table2 --config more.json --data bare --output none
expect "a missing test text is an error" refused "bare/test.tsv' does not exist"

# ------------------------------------------------------------------------------------------ sweep
sweep() { run sweep small.json --data data "$@"; }
sweep --output swept --vary training.residual_dropout+training.embedding_dropout=0,0.3 --vary model.norm=pre,post \
    --vary decoding.length_penalty=0,1 --vary decoding.beam=1,2 --sort ppl
expect "a sweep trains every combination" eval 'ended_with 0 && complains "4 of 4 trainings done"'
cp out swept.txt
sweep --output swept --vary training.residual_dropout+training.embedding_dropout=0,0.3 --vary model.norm=pre,post \
    --vary decoding.length_penalty=0,1 --vary decoding.beam=1,2 --sort ppl --json
expect "JSON has each" eval 'wrote swept/table.json swept/table.csv && jq -e ".rows | length == 16" out'
cp swept.txt out
expect "and lists each with each decoding" [ "$(grep -cE '^ +0(\.3)? +(pre|post) +[12] +[01] ' out)" -eq 16 ]
sorted() { sed 1,2d out | awk -v column="$1" '{ print $column }' | sort -c "-$2"; }
expect "sorted by perplexity" sorted 6 g
sweep --output swept --vary training.residual_dropout+training.embedding_dropout=0,0.3 --vary model.norm=pre,post \
    --vary decoding.length_penalty=0,1 --vary decoding.beam=1,2
expect "a second time it trains nothing" not complains "step 20"
expect "sorted by BLEU" sorted 5 gr
expect "the values are in the JSON" grep -q '"training.residual_dropout": 0.3' swept/table.json
perplexity_of() { grep '"perplexity"' "swept/$1/result.json"; }
expect "and in the trainings" [ "$(perplexity_of 'residual_dropout=0,norm=pre')" != "$(perplexity_of 'residual_dropout=0.3,norm=pre')" ]
sweep --output none --vary tokenizer.vocabulary=40,72
expect "all trainings share the tokenizers" refused "\"tokenizer.vocabulary\" is not a key: expected one in model, data or training"
sweep --output none --vary data.valid.tsv=one.tsv,two.tsv
expect "and the development text" refused "all trainings are compared on one development text"
sweep --output none --vary training.seed=1,2,1
expect "a value given twice is an error" refused "1 is given twice"
sweep --output none --vary training.steps.x=1
expect "a key below a value is an error" refused "\"x\" is not a section"
sweep --output diverged --vary training.learning_rate_scale=1000000
expect "a training that diverges fails, and is listed" eval 'ended_with 1 && says "learning_rate_scale=1000000: failed: "'
sweep --output drawn --vary training.seed=1,2,3,4,5,6 --random 2 --seed 5 --steps 3 --precision f32 --device cpu --dry-run
expect "some combinations are drawn" eval 'ended_with 0 && says "2 trainings" && says "M      3 "'
run sweep --scale tiny --data data --output none --vary training.seed=1
expect "a sweep can start from a scale" complains '"tokenizer.vocabulary" 6000'
sweep --output none --vary training.residual_droput=0
expect "an unknown key is an error" refused residual_droput
sweep --output none --vary training.residual_dropout
expect "an axis without values is an error" refused "--vary 'training.residual_dropout'" "SECTION.KEY=VALUE"
sweep --output none --vary heads=2
expect "a key without its section is an error" refused '"heads" is not a key'
sweep --output none --vary training.seed=1 --vary training.seed=2
expect "a key varied twice is an error" refused '"training.seed" is varied twice'
sweep --output none --vary decoding.beam=99
expect "an impossible beam is an error" refused '"beam" must be a whole number from 1 to 30, got 99'
expect "none of which leaves anything behind" not [ -e none ]

# ------------------------------------------------------------------------------------------ table1, long-range, replaced
run experiment table1 --output layers --layers self-attention --lengths 8,16,32 --widths 8,16 --repeat 1 --device cpu
expect "Table 1 is measured" eval 'ended_with 0 && says "Self-Attention" && grep -q "\"backward_seconds\"" layers/table.json'
expect "and drawn" grep -q "One layer, n = 16" layers/by-width.svg
run experiment table1 --output layers --layers self-attention --lengths 8,16 --widths 8 --heads 1,2,3,8 --repeat 1 --device cpu --json
expect "JSON has its rows and pictures" eval 'wrote layers/table.json layers/by-width.svg && jq -e ".layers | length > 0" out'
run experiment table1 --output none --layers attention
expect "an unknown kind of layer is an error" refused 'no layer "attention"; there are self-attention'

expect "JSON has the heads that divide the width, and each path's gradient" \
    jq -e '[.heads[].heads] == [1, 2, 8] and .layers[0].paths[0].gradient > 0' layers/table.json

run experiment residuals --output deep --depths 1,4 --length 8 --d-model 32 --seeds 1 --device cpu
expect "gradients without residual connections are measured" \
    eval 'ended_with 0 && says "Pre-norm, no residual connections" && says "N = 4" && [ -e deep/difference.svg ]'
run experiment residuals --output deep --depths 1 --length 8 --d-model 16 --seeds 1 --device cpu --json
expect "JSON has each stack and depth" eval 'wrote deep/table.json deep/difference.svg && jq -e ".results | length == 4" out'
run experiment residuals --output none --d-model 40
expect "heads of 16 need columns" misused "--d-model must be a multiple of 16, for heads of 16, found 40"

long_range() { run experiment long-range --output far --layers self-attention --depth 1 --d-model 16 --steps 20 --device cpu "$@"; }
long_range --distances 2
expect "distances are learnt" eval 'ended_with 0 && says "recall  self-attention" && [ -e far/copy.svg ]'
cp far/table.json before.json
run experiment long-range --output far --layers self-attention --depth 1 --d-model 16 --steps 20 --device cpu \
    --distances 2,3 --batch 32 --seed 1
expect "and further ones can follow" eval 'ended_with 0 && complains "over 3" && ! complains "over 2"'
long_range --distances 2 --batch 7
expect "other settings are refused" refused '"sequences" was 32 and is now 7'

long_range --distances 2 --json
expect "JSON has the distances" eval 'wrote far/table.json far/copy.svg && jq -e ".results | length > 0" out'
run experiment long-range --output none --d-model 6
expect "four heads need columns" misused "--d-model must be a multiple of 4, for four heads, found 6"

run experiment attention-scores --output few --d-k 4 --length 16 --repeat 1 --steps 2 --device cpu --json
expect "scores of attention are printed as JSON" eval 'wrote few/table.json && jq -e ".results | length > 0" out'
run experiment attention-scores --output scores --d-k 4,900 --length 16 --repeat 1 --steps 5 --device cpu
expect "scores of attention are measured" \
    eval 'ended_with 0 && says "tanh(q + k)    900" && [ -e scores/gradient.svg ] && [ -e scores/time.svg ]'
expect "and a model that would be too large is reported" complains "unscaled, d_k = 900: no model: these layers have"

run experiment replaced --config small.json --data data --output before --models transformer --device cpu
expect "what the Transformer replaced is trained" eval 'ended_with 0 && says "decoding tokens/s" && says "words of the source"'
run experiment replaced --config small.json --data data --output before --models transformer --device cpu --minutes 1
expect "with another limit it is refused" refused '"minutes"'
run experiment replaced --config small.json --data data --output none --steps 3 --precision f32 --device cpu --dry-run --json
expect "a dry run is printed as JSON" jq -e '.trainings | length == 7' out
run experiment replaced --config small.json --data data --output none --steps 3 --precision f32 --device cpu --dry-run
expect "a dry run lists its trainings" eval 'ended_with 0 && row gru-attention "[0-9.]+ M +3 " && says "7 trainings"'
sed 's/"d_ff": 32/"d_ff": 4/' small.json >narrow.json
run experiment replaced --config narrow.json --data data --output none --steps 3 --device cpu --dry-run
expect "a row that has too many parameters is reported, and the others go on" \
    eval 'ended_with 0 && complains "lstm-attention is impossible with this base" && row transformer "[0-9.]+ M +3 "'
run experiment replaced --scale tiny --data data --output none --models transformer
expect "its scales have their vocabularies" complains '"tokenizer.vocabulary" 6000'
run experiment replaced --config small.json --data data --output none --models rnn
expect "an unknown model is an error" refused 'no model "rnn"; there are transformer'
expect "and nothing is left behind" not [ -e none ]

# ------------------------------------------------------------------------------------------ parsers
mkdir trees
for verb in sleeps sits eats; do
    for noun in cat dog cow pig; do echo "(S (NP (DT The) (NN $noun)) (VP (VBZ $verb)) (. .))"; done
done >farm.trees
for part in train valid test; do "$headscope" trees linearise --terminals levels farm.trees >trees/$part.tsv; done
cat >parser.json <<'JSON'
{
  "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 16, "d_ff": 32, "heads": 2, "max_length": 64,
            "tying": "target_output"},
  "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
  "tokenizer": {"type": "words", "shared": false},
  "training": {"steps": 60, "max_length": 32, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 20,
               "learning_rate_scale": 1, "validate_every": 0, "checkpoint_every": 20, "checkpoint_minutes": 0}
}
JSON
sed 's/(VP \(([^()]*)\))/\1/' farm.trees >flat.trees
table4() { run experiment table4 --config parser.json --data trees "$@"; }
table4 --output parsers --beside flat.trees --device cpu
expect "Table 4 has a parser, the trees of another and the paper's" \
    eval 'ended_with 0 && row "Transformer, trained here" "gold trees +12 sentences of test.tsv +[0-9.]+ " && row flat.trees "12 sentences of test.tsv +80.0 +66.7 +100.0 "'
expect "with the paper's rows" row 'Transformer \(4 layers\)' 'semi-supervised +WSJ 23 +92.7'
cp parsers/table.md table.md
table4 --output parsers --beside flat.trees --device cpu
expect "a second time it trains nothing" eval 'ended_with 0 && same parsers/table.md table.md && ! complains "step 20"'
"$headscope" parse --model parsers/gold/model --tokens --file <("$headscope" trees linearise --print words farm.trees) >found.trees
"$headscope" trees score --json farm.trees found.trees >score.json
expect "its F1 is that of trees score" \
    [ "$(jq '.rows[0].f1 * 1000 | round' parsers/table.json)" = "$(jq '.all.f1 * 1000 | round' score.json)" ]
cp trees/train.tsv trees/silver.tsv
table4 --output parsers --steps 60 --device cpu --json
expect "silver trees make a second one" jq -e '.rows | map(.training) == ["gold trees", "gold and silver trees"]' out
table4 --output none --rows gold --steps 3 --precision f32 --device cpu --dry-run
expect "or only one is trained" eval 'ended_with 0 && says "1 training on"'
rm trees/silver.tsv
table4 --output none --rows silver
expect "silver trees are missing" refused "silver.tsv' does not exist"
table4 --output none --beside nothing.trees
expect "a file beside is missing" refused "--beside: 'nothing.trees' does not exist"
head -n 3 farm.trees >few.trees
table4 --output parsers --beside few.trees --device cpu
expect "or has too few trees" refused "'few.trees' has 3 lines, expected a tree for each of the 12 sentences"
sed 's/cat/dog/' farm.trees >other.trees
table4 --output parsers --beside other.trees --device cpu
expect "or others" refused "'other.trees' line 1: expected one tree of the words of line 1"
run experiment table4 --scale tiny --data trees --output none
expect "its scales have their vocabularies" complains '"tokenizer.vocabulary" 6000'
run experiment table4 --config small.json --data data --output none
expect "translations are no trees" refused "the targets of" "are not trees"

run experiment replaced --task parsing --config parser.json --data trees --output parsed --models transformer,lstm --steps 5 --device cpu
expect "parsers of other kinds are compared by F1" eval 'ended_with 0 && says "F1" && ! says "BLEU" && says "1 and more (12)"'
run experiment replaced --task parsing --config small.json --data data --output none
expect "which need trees" refused "--task parsing: the targets of"
run experiment replaced --task chess --config small.json --data data --output none
expect "and no other task" misused "--task"
run sweep parser.json --data trees --output chosen --vary training.attention_dropout=0,0.1 --sort f1 --steps 5 --device cpu
expect "a sweep can be sorted by F1" eval 'ended_with 0 && says "F1" && sorted 4 gr'
sweep --output swept --vary training.residual_dropout+training.embedding_dropout=0,0.3 --vary model.norm=pre,post \
    --vary decoding.length_penalty=0,1 --vary decoding.beam=1,2 --sort f1
expect "but not one of translators" complains "has no F1: its target is not trees"

finish "experiments continue, and say what they cannot do"
