#!/usr/bin/env bash
# headscope make-task, data and train on the command line, above all their errors.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2317 # the conditions are called, and words of eval expanded, through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
lines() { [ "$(wc -l <"$2")" -eq "$1" ]; }
present() { [ -e "$1" ]; }
absent() { [ ! -e "$1" ]; }

# ------------------------------------------------------------------------------------------ data
run make-task digits --output data --pairs 300 --valid 4 --test 6
expect "make-task succeeds" ended_with 0
expect "make-task writes the requested number of lines" lines 300 data/train.tsv
expect "also in the test part" lines 6 data/test.tsv
run make-task digits --output again --pairs 300 --valid 4 --test 6
expect "the same seed gives the same task" same data/train.tsv again/train.tsv
run make-task digits --output again --pairs 300 --valid 4 --test 6 --json
expect "JSON has the files and their lines" eval 'wrote again/train.tsv again/test.tsv && jq -e ".files[0] | .kind == \"tsv\" and .lines == 300" out'
run make-task brackets --output of-text --lines 30 --valid 2 --test 2 --json
expect "also of brackets" wrote of-text/train.txt of-text/valid.txt of-text/test.tsv
run make-task cloze --output of-words --lines 30 --valid 2 --test 2 --json
expect "and of cloze" wrote of-words/train.txt of-words/valid.txt of-words/test.tsv
run make-task digits --output again --pairs 300 --valid 4 --test 6 --seed 2
expect "another seed gives another task" eval '! cmp -s data/train.tsv again/train.tsv'
printf 'Hi.\tHallo!\nGo.\tGeh.\nno tab\n' >bad.tsv
run data --tsv bad.tsv --output split --valid 1 --test 1
expect "a line without TAB is an error with its number" refused "bad.tsv' line 3 has no TAB" "two files"
expect "which does not mention columns" not complains "columns"
run data --tsv none.tsv --output split
expect "missing text is an error" refused "'none.tsv' does not exist"
run data --output split
expect "data without any text is an error" misused "--tsv" "--source"
run data --source a.en b.en --target a.de --output split
expect "--source and --target need the same number of files" misused "names 2 files" "1"
run data --source a.en --target a.de b.de --output split
expect "the error counts a single file correctly" misused "names 1 file and --target 2"
run data --tsv data/train.tsv --output split --last --seed 3
expect "--last excludes --seed" misused "--seed" "--last"
run data --tsv data/train.tsv --output split --valid 200 --test 100
expect "holding out more pairs than there are is an error" refused "200 + 100" "300"
expect "which writes nothing" absent split
printf 'same\tsame\n\n' >useless.tsv
run data --tsv useless.tsv --output split/deep --valid 0 --test 0
expect "data without a training pair left is an error" refused "no pair of 2 is left" "nothing was written"
expect "which leaves no folder" absent split
for i in $(seq 100); do printf '第%d句：你好，世界。\tSatz %d\n第%d句你好世界\tAnders %d\n' "$i" "$i" "$i" "$i"; done >twins.tsv
run data --tsv twins.tsv --output twins --valid 10 --test 10 --json
expect "pairs that differ only in punctuation are found in Chinese" eval 'jq -e ".train == 160 and .[\"shares a side with held-out pairs\"] == 20" out'

for i in $(seq 40); do printf 'Sentence %d.\tSatz %d.\tCC-BY\r\n' "$i" "$i"; done >raw.tsv
{
    printf 'sentence 40!\tNoch einer\n'           # same source as the last
    printf 'same\tsame\n'                        # no translation
    printf 'Sentence 2.\tSatz 2.\n'              # repeated
    printf 'one\t\n'                             # empty
    printf 'no\xff\tnein\n'                      # not UTF-8
    printf 'a\t%s\n' "$(printf 'b%.0s' {1..90})" # ratio
    printf 'a b c d e f\ta b c d e f g\n'        # long
} >>raw.tsv
gzip -k raw.tsv
run data --tsv raw.tsv.gz --output split --valid 3 --test 2 --seed 5 --most-words 5 --json
expect "raw text is split into parts" ended_with 0
counts() { # KEY COUNT...
    while [ $# -gt 0 ]; do
        [ "$(jq ".\"$1\"" out)" = "$2" ] || return 1
        shift 2
    done
}
expect "every reason is counted" counts pairs 47 train 36 valid 3 test 2 "both sides the same" 1 "there before" 1 \
    "a side is empty" 1 "not UTF-8" 1 "sides of unlike length" 1 "too many words" 1
expect "further columns and carriage returns are removed" eval '! grep -q "CC-BY\|$(printf "\r")" split/*.tsv'
expect "no byte order mark is counted" counts "byte order marks removed" 0
printf '\xef\xbb\xbf' | cat - raw.tsv >marked.tsv
run data --tsv marked.tsv --output marked --valid 3 --test 2 --seed 5 --most-words 5
expect "a byte order mark is counted" says "1 byte order marks removed"
expect "a byte order mark is removed" eval 'for f in train valid test; do cmp split/$f.tsv marked/$f.tsv || exit 1; done'
run data --tsv raw.tsv --output again --valid 3 --test 2 --seed 5 --most-words 5
expect "unpacked input gives the same result" eval 'for f in train valid test; do cmp split/$f.tsv again/$f.tsv || exit 1; done'
expect "counts are printed as text" says "36 train"
run data --tsv raw.tsv --output loose --valid 0 --test 2 --last --most-words 0 --most-ratio 0 --keep-identical --keep-duplicates
expect "filters can be disabled" lines 43 loose/train.tsv
expect "--last holds out the end" eval 'grep -q "a b c d e f g" loose/test.tsv'
run data --tsv raw.tsv --output apart --valid 0 --test 0 --exclude split/test.tsv --exclude split/valid.tsv --seed 1
expect "--exclude keeps the sides of other held-out pairs out of the training text" eval '! cut -f1 split/test.tsv split/valid.tsv | grep -qxFf - <(cut -f1 apart/train.tsv)'

run data --tsv raw.tsv --output noisy --valid 3 --test 2 --seed 5 --most-words 5 --wrong-targets 0.5
expect "a share of the training pairs get others' targets" eval 'says "training pairs with another'"'"'s target" && ! cmp -s split/train.tsv noisy/train.tsv && cmp split/valid.tsv noisy/valid.tsv'
expect "and all sides stay" eval 'for side in 1 2; do cmp <(cut -f$side split/train.tsv | sort) <(cut -f$side noisy/train.tsv | sort) || exit 1; done'
run data --tsv raw.tsv --output noisy --wrong-targets 2
expect "a share is at most 1" misused --wrong-targets

# Inputs are not overwritten, whatever their names.
mkdir own && for i in $(seq 40); do printf 'own sentence %d\teigener Satz %d\n' "$i" "$i"; done >own/train.tsv
cp own/train.tsv own.kept
keeps() { same "$1" own.kept; }
run data --tsv own/train.tsv --output own --valid 2 --test 2
expect "an output that is also an input is an error" refused "own/train.tsv' would be written while it is read"
expect "which leaves the input unchanged" keeps own/train.tsv
expect "and writes nothing next to it" eval '[ "$(ls -A own)" = train.tsv ]'
ln own/train.tsv hard.tsv && ln -s own/train.tsv link.tsv && ln -s own own-link && mkdir held
run data --tsv hard.tsv --output own --valid 2 --test 2
expect "a hard link to an input is an error" refused "own/train.tsv" "hard.tsv"
run data --tsv link.tsv --output own-link --valid 2 --test 2
expect "symbolic links to an input and its folder are an error" refused "own-link/train.tsv" "link.tsv"
run data --tsv raw.tsv --exclude own/train.tsv --output own-link --valid 2 --test 2
expect "an --exclude file as output is an error" refused "own-link/train.tsv"
ln own/train.tsv held/test.tsv.tmp
run data --tsv own/train.tsv --output held --valid 2 --test 2
expect "a temporary file that is an input is an error" refused "held/test.tsv"
expect "all inputs stay unchanged" keeps own/train.tsv
rm -r held
run data --tsv raw.tsv --output own --valid 2 --test 2
expect "an existing file that was not generated is an error" refused "own/train.tsv' already exists and was not generated"
run make-task digits --output own --pairs 300
expect "also for make-task" refused "own/train.tsv" "another --output"
expect "which does not replace it" keeps own/train.tsv
run data --tsv own/train.tsv --output renewed --valid 2 --test 2
run data --tsv own/train.tsv --output renewed --valid 3 --test 2
expect "a generated file is replaced" lines 3 renewed/valid.tsv
echo 'mine	meins' >>renewed/valid.tsv
run data --tsv own/train.tsv --output renewed --valid 3 --test 2
expect "a generated file that was changed is not replaced" refused "renewed/valid.tsv" "was changed since"

cp own.kept appended.tsv
# shellcheck disable=SC2094 # intended
"$headscope" data --tsv appended.tsv --output appended --valid 2 --test 2 --json >>appended.tsv 2>err
code=$?
expect "standard output that appends to an input is an error" eval 'ended_with 1 && complains "standard output would be written while it is read" && keeps appended.tsv'
mkdir -p stuck/train.tsv.tmp
run data --tsv own/train.tsv --output stuck --valid 2 --test 2
expect "an obstacle is named" refused "stuck/train.tsv.tmp' is in the way" "not a regular file"
mkdir one && ln -s train.tsv one/test.tsv
run data --tsv own/train.tsv --output one --valid 2 --test 2
expect "two outputs that are the same file are an error" refused "one/train.tsv" "one/test.tsv" "are the same file"

cut -f1 data/train.tsv >digits.src
cut -f2 data/train.tsv >digits.tgt
run data --source digits.src --target digits.tgt --output sides --valid 10 --test 10 --most-ratio 0
expect "parallel files work like a TSV file" lines 280 sides/train.tsv
head -n 299 digits.tgt >short.tgt
run data --source digits.src --target short.tgt --output sides
expect "parallel files of different length are an error" refused "'digits.src' has 300 lines" "'short.tgt' has 299"

# ------------------------------------------------------------------------------------------ configurations
cat >tiny.json <<'JSON'
{
  "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 32, "d_ff": 64, "heads": 2, "max_length": 64},
  "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
  "tokenizer": {"type": "bpe", "vocabulary": 64, "shared": true},
  "training": {"steps": 6, "source_tokens": 128, "target_tokens": 256, "warmup_steps": 3, "max_length": 64,
               "report_every": 2, "validate_every": 4, "checkpoint_every": 2, "keep_last": 3, "average_last": 2}
}
JSON
changed() { # SED-EXPRESSION: writes changed.json and trains with it
    sed "$1" tiny.json >changed.json
    run train changed.json --data data --output trial
}
run train none.json --data data --output trial
expect "a missing configuration is an error" refused "none.json" "No such file"
run train data --data data --output trial
expect "a folder instead of a configuration is an error" refused "'data'" "directory"
changed 's/"heads": 2,/"heads": 2/'
expect "broken JSON is an error with its line" refused "changed.json" "line 2"
changed 's/"warmup_steps"/"warmup_stepz"/'
expect "an unknown key is an error with a suggestion" refused "changed.json" '"training.warmup_stepz"' 'mean "warmup_steps"'
changed 's/"heads": 2/"haeds": 2/'
expect "also a key of the model" refused "changed.json" '"model.haeds" is unknown; did you mean "attention.heads"?'
changed 's/"report_every"/"precison": "bf16", &/'
expect "a misspelt optional key gets a suggestion" refused '"training.precison" is unknown; did you mean "precision"?' ", precision, "
changed 's/"training"/"trainin"/'
expect "a misspelt section gets a suggestion" refused '"training" is missing; is "trainin" a misspelling of it?'
changed 's/"steps": 6/"steps": -6/'
expect "a number out of range is an error" refused "changed.json" '"training.steps"' "-6" "0 to"
changed 's/"heads": 2/"heads": 0/'
expect "an impossible model is an error" refused "changed.json" "heads" "0"
changed 's/"heads": 2/"heads": 3/'
expect "heads that do not divide d_model are an error" refused "changed.json" "model.attention.heads" "3" "d_k"
changed 's/"vocabulary": 64/"vocabulary": 60000/'
expect "a vocabulary too large for the text is an error" refused "60000" "tokenizer.vocabulary" "changed.json"
changed 's/"vocabulary": 64/"vocabulary": 10/'
expect "a vocabulary smaller than the number of characters is an error" refused "10" "tokenizer.vocabulary" "changed.json"
changed 's/"max_length": 64}/"max_length": 4}/'
expect "a model shorter than its data is an error" refused "changed.json" "model.max_length" "training.max_length"
changed 's/"source_tokens": 128/"source_tokens": 63/'
expect "steps too small for one sentence are an error" refused "changed.json" "training.source_tokens" "63" "training.max_length"
changed 's/"max_length": 64,$/"max_length": 2,/'
expect "text without a short enough pair is an error" refused "training.max_length"
expect "failed trainings leave nothing behind" absent trial
changed 's/"train.tsv"/"trian.tsv"/'
expect "missing text is an error" refused "data/trian.tsv" "changed.json" "--data"

# ------------------------------------------------------------------------------------------ text
printf '1\n2\n3\n' >data/a.en
printf 'eins\nzwei\n' >data/a.de
files='s/{"tsv": "train.tsv"}/{"source": "a.en", "target": "a.de"}/'
changed "$files"
expect "text files of different length are an error" refused "data/a.en" "3 lines" "data/a.de" "2"
printf 'eins\nzw\374lf\ndrei\n' >data/a.de
changed "$files"
expect "text that is not UTF-8 is an error" refused "data/a.de" "line 2" "UTF-8"
: >data/a.en
: >data/a.de
changed "$files"
expect "empty text is an error" refused "data/a.en" "no sentence pair"
for i in $(seq 150); do
    printf 'Satz %d\n' "$i" >&3
    printf '▅ Sentence %d\n' "$i" >&4
    printf 'a\0b %d\n' "$i" >&5
    echo 'Immer gleich.' >&6
    printf '%*s\n' "$((i % 7 + 1))" '' | tr ' ' '!' >&7
done 3>data/good 4>data/blocks 5>data/nul 6>data/equal 7>data/marks
corpus() { printf 's/{"tsv": "train.tsv"}/{"source": "%s", "target": "%s"}/' "$1" "$2"; }
changed "$(corpus blocks blocks)"
expect "text that only has lines with U+2585 is an error" refused "data/blocks' line 1 contains U+2585" "changed.json" "remove or replace"
changed "$(corpus nul nul)"
expect "text that only has lines with NUL is an error" refused "data/nul' line 1 contains NUL" "changed.json"
changed "$(corpus good blocks)"
expect "a warning counts the lines that the vocabulary skips" eval 'ended_with 0 && complains "learned without 150 sentences" && complains "data/blocks'\'' line 1 contains U+2585"'
rm -r trial
for i in $(seq 150); do printf '\xc2\xa0\n'; done >data/bare
changed "$(corpus good bare)"
expect "sides that only look empty are counted in the error" refused "no sentence pair (150 with an empty side)"
run train --source data/good --target data/bare --output trial
expect "also for two texts" refused "hold 0 pairs of sentences (150 with an empty side)"
awk '{ print NR % 50 == 7 ? "▅ " $0 : $0 " und mehr" }' data/good >data/some
run train --source data/good --target data/some --output trial --dry-run
expect "the warning names the files as given on the command line" complains "learned without 3 sentences: 'data/some' line 7 contains U+2585"
expect "the warning is printed once" [ "$(grep -c 'learned without' err)" -eq 1 ]
printf '\xef\xbb\xbf' | cat - tiny.json >marked.json
run train marked.json --data data --output trial --dry-run
expect "a byte order mark in a configuration is reported" complains "marked.json' begins with a byte order mark"
sed 's/"shared": true/"shared": false/;s/"heads": 2,/& "tying": "none",/' tiny.json >apart.json
sed "$(corpus good equal)" apart.json >changed.json
run train changed.json --data data --output trial
expect "identical targets are too few for the vocabulary" refused "data/equal'" '"tokenizer.vocabulary" 64' "its words give at most"
run train --source data/blocks --target data/blocks --output trial
expect "two texts with only unlearnable lines are an error" refused "'data/blocks' line 1 contains U+2585"
run train --source data/good --target data/equal --output trial
expect "two texts with identical targets are an error" refused "150 sentences of 'data/equal' are all the same"
run train --source data/marks --target data/good --output trial
expect "two texts without words are an error" refused "'data/marks' holds no words"
run data --source data/good --target data/equal --output trial --valid 5 --test 5
expect "data reports why no pair is left" refused "no pair of 150 is left" "shares a side with held-out pairs: 145"
expect "none of these leaves anything behind" absent trial
mkdir trial && echo mine >trial/training.json && mkdir trial/tokenizer
changed "$files"
expect "files that existed before a failure still exist after it" eval '[ "$(find trial | sort | paste -sd " ")" = "trial trial/tokenizer trial/training.json" ] && grep -qx mine trial/training.json'
rm -r trial

# ------------------------------------------------------------------------------------------ places and devices
run train tiny.json --data data --output data/train.tsv/out
expect "an output folder that cannot be made is an error" refused "data/train.tsv/out" "cannot create"
if [ "$(id -u)" -ne 0 ]; then
    mkdir sealed && chmod 555 sealed
    run train tiny.json --data data --output sealed
    expect "a read-only output folder is an error" refused "sealed" "Permission denied"
fi
run train tiny.json --data data --output trial --device gpu9
expect "an unknown device is an error" refused "gpu9" "cpu"
run train tiny.json --data data --output trial --steps 0
expect "--steps 0 is an error" eval 'complains "--steps" && ! ended_with 0'
run train tiny.json --data data --output trial --minutes -1
expect "negative --minutes are an error" eval 'complains "0.001" && ! ended_with 0'
run train tiny.json --data data --output trial --minutes nan
expect "--minutes nan is an error" misused "--minutes" "got nan"
run train tiny.json --data data --output trial --batch 5
expect "an error about a value names the option that set it" refused '"training.source_tokens" (--batch: 5) has no room' '"training.max_length" (64'
run train tiny.json --data data --output trial --precision i8
expect "a precision without training is an error" misused "--precision" "i8" "f16"
expect "which leaves nothing behind" absent trial

# ------------------------------------------------------------------------------------------ runs
run train tiny.json --data data --output heart --overfit-one-batch --steps 20
expect "failing to overfit a batch is an error that prints the loss" refused "nll" "--steps"
expect "which leaves nothing behind" absent heart
sed 's/"warmup_steps"/"cooldown_steps": 6, "warmup_steps"/' tiny.json >cooled.json
run train cooled.json --data data --output heart --overfit-one-batch --steps 4
expect "--steps of the attempt may be fewer than the cool-down's" refused "nll" "--steps"
expect "which leaves nothing behind" absent heart
run train tiny.json --data data --output heart --dry-run --json
expect "a dry run's estimates are printed" jq -e '.schema == 1 and .parameters > 0 and .steps == 6 and .limit == "steps" and .seconds_per_step > 0 and .steps_per_epoch > 0' out
run train tiny.json --data data --output heart --overfit-one-batch --resume
expect "--overfit-one-batch excludes --resume" eval 'complains "--resume" && ! ended_with 0'
run train tiny.json --data data --output whole --json
expect "a run succeeds" ended_with 0
expect "and prints what it wrote" wrote whole/model/model.safetensors whole/log.jsonl whole/best.safetensors
expect "where it ended" jq -e '.step == 6 and .training.step == 6 and .training.nll > 0 and .best.nll == .validation.nll and .ended_by == "\"training.steps\" (6)"' out
expect "a run writes a model" present whole/model/model.safetensors
expect "a run does not log gradient norms by default" eval '! grep -q gradient_norms whole/log.jsonl'
run train tiny.json --data data --output watched --watch-gradients
expect "--watch-gradients logs the gradient norms" grep -q '"gradient_norms":{"decoder.layers.0.cross_attention":' watched/log.jsonl
expect "and the model is the same" same whole/model/model.safetensors watched/model/model.safetensors
run train tiny.json --data data --output scored --validate-bleu 3 --tensorboard
expect "--validate-bleu prints BLEU" eval 'ended_with 0 && complains "  BLEU " && complains "of 3 held-out pairs"'
expect "BLEU is logged at each validation" eval '[ "$(jq -s "map(select(.kind == \"validation\" and (.bleu | type) == \"number\")) | length" scored/log.jsonl)" -eq 1 ]'
expect "the model is logged with what its training cost" eval '[ "$(jq -c "select(.kind == \"model\").training" whole/log.jsonl | tail -n 1)" = "$(jq -c . whole/model/training.json)" ]'
expect "BLEU is not logged by default" eval '! grep -q bleu whole/log.jsonl'
expect "BLEU is written to TensorBoard" grep -qa "validation/bleu" scored/tensorboard/events.out.tfevents.*
expect "and the model is the same" same whole/model/model.safetensors scored/model/model.safetensors
run plot scored -o -
expect "a plot draws BLEU" eval 'says ">BLEU<" && says ">Learning rate<"'
printf '{"kind": "train", "step": 1, "nll": 1, "reward": 0.25, "distinct": 1}\n' >ppo.jsonl
run plot ppo.jsonl -o -
expect "what else was measured has a chart each" eval 'says ">Reward<" && says ">Distinct responses<"'
run plot ppo.jsonl -o ppo.svg --json
expect "and a key in JSON" jq -e '.runs[0].training | .reward == 0.25 and .distinct == 1' out
run plot whole -o whole.pdf --json
expect "a plot can be a PDF, and says what it drew" \
    eval 'wrote whole.pdf && [ "$(head -c 5 whole.pdf)" = %PDF- ] && jq -e ".runs[0] | .name == \"whole\" and .training.step == 6" out'
run plot whole -o - --json
expect "which cannot share standard output with the picture" misused "name a file with -o"
run plot whole -o -
expect "a plot of a run without BLEU does not" eval '! says ">BLEU<" && says ">Learning rate<"'
run train tiny.json --data data --output scored --resume --validate-bleu 0
expect "a run can be resumed without BLEU" ended_with 0
changed 's/, "valid": {"tsv": "valid.tsv"}//;s/"report_every"/"validate_bleu": 3, &/'
expect "validate_bleu without validation text is an error" refused '"training.validate_bleu" (3)' '"data.valid"'
changed 's/, "valid": {"tsv": "valid.tsv"}//'
run train changed.json --data data --output trial --resume --validate-bleu 3
expect "--validate-bleu without validation text is an error" refused '"training.validate_bleu" (--validate-bleu: 3)' '"data.valid"'
run train tiny.json --data data --output parts --steps 4
expect "a shorter run succeeds" ended_with 0
cp parts/tokenizer/sentencepiece.model tokenizer-before
sed -i 's/"vocabulary": 64/"vocabulary": 70/' tiny.json
run train tiny.json --data data --output parts
expect "another run does not overwrite it" refused "parts" "--resume" "--output"
expect "its tokenizer stays" same parts/tokenizer/sentencepiece.model tokenizer-before
run train tiny.json --data data --output parts --overfit-one-batch
expect "--overfit-one-batch does not overwrite it" refused "parts" "--output"
run train tiny.json --data data --output parts --resume
expect "it cannot be resumed with another vocabulary" refused '"tokenizer.vocabulary" was 64 and is now 70'
sed -i 's/"vocabulary": 70/"vocabulary": 64/' tiny.json
(
    flock 9
    run train tiny.json --data data --output parts --resume
    expect "it cannot be resumed while another process holds it" refused "parts" "running" "--output"
    exit "$failures"
) 9>>parts/lock
failures=$?
run train tiny.json --data data --output parts --resume --batch 99
expect "it cannot be resumed with another batch size" refused '"training.source_tokens" (--batch) was 128 and is now 99'
run train tiny.json --data data --output parts --resume
expect "it can be resumed" ended_with 0
expect "with the weights of an uninterrupted run" same parts/model/model.safetensors whole/model/model.safetensors
printf '\377' | dd of=parts/checkpoints/step-00000006.safetensors bs=1 seek=20000 conv=notrunc status=none
run train tiny.json --data data --output parts --resume
expect "a damaged checkpoint is skipped" complains "step-00000006.safetensors is damaged"
expect "and the weights stay the same" same parts/model/model.safetensors whole/model/model.safetensors

# A run does not overwrite what it reads.
mkdir -p inputs/data inputs/model && cp digits.src inputs/data/train.source && cp digits.tgt inputs/data/train.target
run train --source inputs/data/train.source --target digits.tgt --output inputs
expect "an input in the place of an output is an error" refused "inputs/data/train.source' would be written while it is read"
run train --source digits.src --target digits.tgt --output inputs
expect "another file in that place is an error" refused "inputs/data/train.source' already exists and was not generated"
expect "which leaves them unchanged" eval 'same digits.src inputs/data/train.source && same digits.tgt inputs/data/train.target'
mkdir mixed && ln data/train.tsv mixed/log.jsonl
run train tiny.json --data data --output mixed
expect "an input that is linked to the log is an error" refused "mixed/log.jsonl' would be written while it is read" "data/train.tsv"
ln -sf "$PWD/data/valid.tsv" mixed/log.jsonl
run train tiny.json --data data --output mixed
expect "also the validation text" refused "mixed/log.jsonl" "data/valid.tsv"
mkdir begun && cp -r whole/model begun/model
run train tiny.json --data data --from begun --output begun
expect "a --from model in the output folder is an error" refused "begun/model/" "would be written while it is read"
expect "which leaves it unchanged" same begun/model/model.safetensors whole/model/model.safetensors
run train whole/training.json --output whole --finish
expect "the run's own configuration can be passed with --finish" ended_with 0
mkdir config link foreign && cp tiny.json config/training.json && cp tiny.json kept.json && ln -s ../kept.json link/training.json
run train config/training.json --data data --output config
expect "a new run cannot have its configuration in the output folder" refused "config/training.json' would be written while it is read"
run train kept.json --data data --output link
expect "also not through a symbolic link" refused "link/training.json' would be written while it is read: it is the same file as 'kept.json'"
expect "which leaves it unchanged" eval 'same tiny.json config/training.json && same tiny.json kept.json'
for name in training.json log.jsonl best.safetensors model/notes tokenizer/sentencepiece.model model.tmp/notes; do
    mkdir -p "foreign/$(dirname $name)" && echo mine >"foreign/$name"
    for going_on in "" --resume; do
        run train tiny.json --data data --output foreign $going_on
        expect "a run does not replace an existing $name $going_on" refused "foreign/${name%/notes}" "another --output"
    done
    expect "which writes nothing" eval '[ "$(cd foreign && find -type f)" = "./$name" ] && [ "$(cat "foreign/$name")" = mine ]'
    rm -r foreign
done
mkdir -p texts/model.tmp && cp -r data texts/model.tmp/
run train tiny.json --data texts/model.tmp/data --output texts
expect "text in a temporary folder of the model is an error" refused "texts/model.tmp/data/" "' would be written while it is read; choose"
cp digits.src trace.txt
HEADSCOPE_TRACE=trace.txt run train tiny.json --data data --output traced
expect "a trace does not replace other files" eval '! ended_with 0 && complains "trace.txt" && same digits.src trace.txt'
HEADSCOPE_TRACE=trace.json run train tiny.json --data data --output traced
HEADSCOPE_TRACE=trace.json run train tiny.json --data data --output traced --resume
expect "a trace replaces an older trace" ended_with 0
ln -s whole/log.jsonl curve.svg
run plot whole -o curve.svg
expect "a plot does not replace the log" refused "curve.svg' would be written while it is read" "whole/log.jsonl"
cp -r whole/model model-copy
run attention --text '1 7' --model model-copy --all-heads -o model-copy/config.json
expect "a figure does not replace a model's file" refused "model-copy/config.json' would be written while it is read"
run view model-copy --text '1 7' --render model-copy/config.json
expect "nor does a figure of the viewer" refused "model-copy/config.json' would be written while it is read"
expect "the model can still be read" eval '"$headscope" inspect model-copy >/dev/null'
for words in "translate text" "translate" "score --source text --target text" "compare text"; do
    echo '1 7' >text
    # shellcheck disable=SC2086,SC2094 # several words; intended
    "$headscope" $words --model model-copy <text >>text 2>err
    code=$?
    expect "$words: standard output that appends to the input is an error" eval '[ $code = 1 ] && complains "standard output would be written" && [ "$(cat text)" = "1 7" ]'
done
run evaluate --model model-copy --source text --reference text --output text
expect "translations do not replace their input" refused "'text' would be written while it is read"
run conform --device cpu --onnx-node-tests model-copy --json model-copy/config.json
expect "a report does not replace its input" refused "model-copy/config.json' would be written while it is read"

# With standard error closed, no file may get its number: progress would be written into it.
"$headscope" train tiny.json --data data --output unheard >out 2>&-
code=$?
expect "a training works with standard error closed" ended_with 0
expect "progress is not written into other files" eval '! grep -rqI "parameters on" unheard'
expect "and the model is the same" same unheard/model/model.safetensors whole/model/model.safetensors

# A limit on the size of files replaces a full disk: only a checkpoint is larger than 250 kB.
(
    ulimit -f 250
    run train tiny.json --data data --output full
    expect "a full disk at a checkpoint ends the run" refused "step-00000002.safetensors" "File too large"
    exit "$failures"
)
failures=$?
expect "which leaves no partial checkpoint" absent full/checkpoints/step-00000002.safetensors.tmp
run train tiny.json --data data --output full --resume
expect "with free space the run can be resumed" ended_with 0
expect "with the same model" same full/model/model.safetensors whole/model/model.safetensors
cp full/model/model.safetensors model-before
rm full/checkpoints/step-00000006.safetensors
(
    ulimit -f 20
    run train tiny.json --data data --output full --finish
    expect "a full disk at the model is an error" refused "full/model.tmp" "File too large"
    exit "$failures"
)
failures=$?
expect "which leaves the previous model" same full/model/model.safetensors model-before
mkdir small
(
    ulimit -f 1
    run make-task digits --output small/task --pairs 300
    expect "a full disk is an error for make-task" refused "small/task/train.tsv" "File too large"
    run data --tsv data/train.tsv data/train.tsv --keep-duplicates --valid 2 --test 2 --output small/split
    expect "a full disk is an error for data" refused "small/split/train.tsv" "File too large"
    run plot whole -o small/curve.svg
    expect "a full disk is an error for plot" refused "small/curve.svg" "File too large"
    HEADSCOPE_TRACE=cut.json run translate --model whole/model <<<'1 7'
    expect "a full disk is an error for a trace" eval 'ended_with 1 && complains "cut.json" && complains "File too large"'
    expect "which stays valid JSON" eval '[ "$(jq -c .traceEvents cut.json)" = "[]" ]'
    run translate --help
    expect "a full disk is an error for --help" eval '! ended_with 0 && complains "File too large"'
    exit "$failures"
)
failures=$?
expect "none of these leaves anything behind" eval '[ -z "$(ls -A small)" ]'

# A pipe as a text blocks a training that already handles signals, until the signal has come.
stopped_early() { # ARGS..
    rm -f data/slow.tsv && mkfifo data/slow.tsv
    sed 's/"valid.tsv"/"slow.tsv"/' tiny.json >slow.json
    "$headscope" train slow.json --data data "$@" >out 2>err &
    local training=$!
    # shellcheck disable=SC2016 # the inner shell's
    timeout 60 bash -c 'exec 7>data/slow.tsv; kill -TERM "$1"
        while [ $((0x$(sed -n "s/^ShdPnd:\t//p" "/proc/$1/status") & 1 << 14)) -ne 0 ]; do sleep 0.01; done
        sleep 0.1; cat data/valid.tsv >&7' _ "$training"
    wait "$training"
    code=$?
}
stopped_early --output early
expect "a stop before the first step is reported" refused "before the first step" "no checkpoint yet" "by a signal"
rm data/slow.tsv && cp data/valid.tsv data/slow.tsv
run train --output early --resume --steps 1
expect "a run stopped before its first step can be resumed" ended_with 0
stopped_early --output heartless --overfit-one-batch --steps 1000000
expect "overfitting can be stopped" refused "stopped after step 0" "saves nothing"

run train cooled.json --data data --output cool --steps 4
expect "--steps below cooldown_steps is an error that names the option" refused "--steps 4" "cooldown_steps" "(6)"
sed 's/"warmup_steps"/"cooldown_steps": 3, "warmup_steps"/' tiny.json >half-cooled.json
for limit in "--minutes 0.001" "--epochs 0.1" "--tokens 300"; do
    rm -rf cool
    # shellcheck disable=SC2086 # two words
    run train half-cooled.json --data data --output cool $limit
    expect "a cool-down keeps its share with $limit" eval 'ended_with 0 && [ "$(jq .training.cooldown cool/training.json)" = 0.5 ]'
done
rm -rf cool
run train cooled.json --data data --output cool --steps 8
expect "--steps above cooldown_steps works" ended_with 0
run train cooled.json --data data --output cool --resume
expect "steps cannot change once the learning rate falls" refused '"training.steps" was 8 and is now 6' "give --steps 8"
run train cooled.json --data data --output cool --finish
expect "--finish needs no --steps" ended_with 0
expect "--finish reports the step and does not train" eval 'complains "finishing a run after step 8 from cool/checkpoints" && ! complains "resuming"'
run train cooled.json --data data --output cool --finish --steps 8
expect "--finish excludes --steps" eval 'complains "--steps" && ! ended_with 0'

run train tiny.json --data data --output nothing --finish
expect "--finish without a run is an error" refused "nothing" "no checkpoint"
run train --output nothing --finish
expect "--finish without a run or configuration is an error" refused "nothing" "no checkpoint"
expect "which creates nothing" absent nothing

# ------------------------------------------------------------------------------------------ the mean of checkpoints
run average whole/checkpoints/step-*.safetensors --output mean/model
expect "checkpoints are averaged" eval 'ended_with 0 && complains "mean/model: the mean of 3 sets of weights"'
run translate --model mean/model <<<'1 7'
expect "the mean is a model" ended_with 0
run average whole/checkpoints/step-*.safetensors --output mean/model --json
expect "JSON has its parameters and files" eval 'wrote mean/model/model.safetensors && jq -e ".parameters > 0 and (.inputs | length) == 3" out'
run average whole mean/model --output mean/model
expect "an input is not replaced" refused "mean/model/config.json' would be written while it is read"
run average whole/checkpoints/step-00000006.safetensors none --output mean/other
expect "a missing input is named" refused "none"
run average whole --output data
expect "a folder that is no model is not replaced" refused "data exists and is not a model directory"

# ------------------------------------------------------------------------------------------ two texts
cut -f1 data/train.tsv >my.digits
cut -f2 data/train.tsv >my.words
run train --source my.digits --output two
expect "--source without --target is an error" misused "--target is missing"
run train --source none.digits --target none.words --output two
expect "missing texts are an error" refused "'none.digits' does not exist"
expect "which leaves nothing behind" absent two
head -n 3 my.digits >few.digits
head -n 3 my.words >few.words
run train --source few.digits --target few.words --output made/few
expect "three pairs are too few" refused "'few.digits'" "hold 3 pairs" "at least 100"
expect "which leaves nothing behind" absent made
run train --output two
expect "train without text or configuration is an error" misused "--source and --target"
run train --output two --resume
expect "--resume without a run is an error" refused "two" "no configuration"
run train --source my.digits --target my.words --output two --dry-run
expect "a dry run prints the model and the files" eval 'ended_with 0 && grep -q "encoder.layers.0" out && grep -q "checkpoints/" out'
expect "a dry run writes nothing" absent two
expect "a dry run does not claim to write a configuration" not complains "two/training.json"
run train --source my.digits --target my.words --output two --steps 2 --batch 300
expect "two texts are enough" eval 'ended_with 0 && [ -e two/model/model.safetensors ]'
expect "the chosen configuration is saved" grep -q '"source_tokens": 300' two/training.json
run train --output two --finish
expect "the saved configuration is used by default" ended_with 0
split() { jq -c . two/model/decoding.json; }
expect "the model splits lines longer than its training text" [ "$(split)" = "{\"split_longer_than\":$(jq .training.max_length two/training.json)}" ]
printf '{"beam": 2}\n' >two/model/decoding.json
run train --output two --finish
expect "an existing decoding.json is kept" [ "$(split)" = '{"beam":2}' ]
cp -r two undone && rm -r undone/model
for model in undone undone/model; do
    run translate --model "$model" </dev/null
    expect "an unfinished run is not a model: $model" refused "headscope train --output undone --finish"
done
# ------------------------------------------------------------------------------------------ one text
run make-task cloze --output cloze --lines 300 --valid 4 --test 6
expect "make-task writes text and questions" eval 'ended_with 0 && lines 300 cloze/train.txt && grep -q "<mask>" cloze/test.tsv'
run make-task brackets --output brackets --lines 300 --valid 4 --test 6
expect "the answers of brackets are brackets" eval 'ended_with 0 && [ "$(cut -f2 brackets/test.tsv | tr -d "])}\n")" = "" ]'
for task in causal masked span; do
    run train --text cloze/train.txt --task $task --output "lm-$task" --steps 2 --batch 300
    expect "a text is enough for a $task model" eval 'ended_with 0 && [ -e lm-$task/model/model.safetensors ]'
    expect "documents are counted" complains "285 documents for training, 15 for validation"
    run train --output "lm-$task" --finish
    expect "a $task training can be finished again" ended_with 0
    jq '.training += {steps: 20, checkpoint_every: 2, checkpoint_minutes: 0, report_every: 50}' "lm-$task/training.json" >killed.json
    run train killed.json --output lm-whole
    "$headscope" train killed.json --output lm-killed >killed.log 2>&1 &
    until [ -e lm-killed/checkpoints/step-00000002.safetensors ] || ! kill -0 $!; do sleep 0.01; done
    kill -KILL $! && wait $!
    expect "a $task training is killed" [ $? -eq 137 ]
    run train --output lm-killed --resume
    expect "and goes on as if it had not been" same lm-killed/model/model.safetensors lm-whole/model/model.safetensors
    rm -r lm-killed lm-whole
    run train --text cloze/train.txt --task $task --output lm-dry --dry-run
    expect "a dry run describes a $task training" eval 'ended_with 0 && grep -q "tokens each" out && absent lm-dry'
done
expect "a masked model has a mask" [ "$(jq .frame.mask_id lm-masked/model/config.json)" = 4 ]
run train lm-causal/training.json --output lm-auto --steps 2 --batch auto
expect "--batch auto works for a text" ended_with 0
run train --text cloze/train.txt --output made/few --steps 2 --validate-bleu 3
expect "a language model has no BLEU" refused '"training.validate_bleu" (--validate-bleu: 3)' '"causal"'
head -n 3 cloze/train.txt >few.txt
run train --text few.txt --output made/few
expect "three documents are too few" refused "'few.txt' holds 3 different documents" "at least 20"
run train --text cloze/train.txt --documents paragraph --output made/few
expect "a text without empty lines is one paragraph" refused "holds 1 different document" "--documents line"
expect "which leaves nothing behind" absent made
yes word | head -n 100 >same.txt
run train --text same.txt --output made/few
expect "a text of one word is an error" refused "holds 1 different document"
run train --text few.txt --source few.digits --target few.words --output made/few
expect "--text excludes --source" misused "--text" "--source"
run train tiny.json --data data --task masked --output made/few
expect "--task needs --text" misused "--task" "--text"

# ------------------------------------------------------------------------------------------ several tasks, and scores
cut -f 1 data/train.tsv | paste digits.tgt - >data/back.tsv
jq '.data = {train: [{tsv: "train.tsv", target_language: "words"}, {tsv: "back.tsv", target_language: "digits"}],
             valid: [{tsv: "back.tsv", target_language: "digits"}]}' tiny.json >tasks.json
run train tasks.json --data data --output tasks
expect "corpora of two tasks are a training" eval 'ended_with 0 && complains "data.train[1]: 300 pairs"'
run translate --model tasks --target-language words digits.src
expect "the model is told which task" eval 'ended_with 0 && lines 300 out'
run translate --model tasks digits.src
expect "which it names" eval 'ended_with 1 && complains "needs a target language; choose one with --target-language: digits, words"'
pairs=(--source digits.src --target digits.tgt)
run train --task risk "${pairs[@]}" --output made/risk
expect "training on the score goes on with a model" refused 'the "task" "risk" goes on with a model' "--from"
run train --task risk --from lm-causal "${pairs[@]}" --output made/risk
expect "which translates" refused '"model.architecture" must be "encoder-decoder" for the "task" "risk"'
run train --task risk --from two --text digits.src --output made/risk
expect "and needs pairs" misused "give --source and --target"
run train --task masked "${pairs[@]}" --output made/risk
expect "other tasks need a text" misused "give --text"
run train --task risk --from two "${pairs[@]}" --output risk --dry-run
expect "a dry run does not sample" eval 'ended_with 0 && grep -q "without sampling and scoring translations" out && absent risk'
run train --task risk --from two "${pairs[@]}" --output risk --ranks 2
expect "nor on two ranks" refused 'is trained by one rank, not 2, since each rank would sample all translations'
run train --task risk --from two "${pairs[@]}" --output risk --overfit-one-batch
expect "one batch is not overfitted to a score" refused "one batch cannot be overfitted"
run train --task risk --from two "${pairs[@]}" --output risk --steps 2 --validate-bleu 3
expect "a translator is trained on its score" ended_with 0
run train --output risk --resume --steps 4
expect "and goes on" eval 'ended_with 0 && jq -se "map(select(.kind == \"train\"))[-1].reward >= 0" risk/log.jsonl >/dev/null'


run train tiny.json --data data --output auto --steps 2 --batch auto --tensorboard
expect "--batch auto finds the largest step" eval 'ended_with 0 && complains "steps of 25000 tokens per side"'
expect "a training that ends during the warm-up is reported" complains "about 2 steps in total, but the learning rate rises over the first"
expect "the found batch is saved" grep -q '"source_tokens": 25000' auto/training.json
expect "--tensorboard writes event files" eval 'ls auto/tensorboard/events.out.tfevents.* >list'
run train tiny.json --data data --output auto --resume --batch auto
expect "the found batch is used when resuming" ended_with 0
steps_of() { jq -s "map(select(.kind == \"train\"))[-1].step" "$1/log.jsonl"; }
run train tiny.json --data data --output half --from two/model
expect "--from a model of another shape is an error" refused "two/model" "tiny.json asks for"
run train tiny.json --data data --output half --from two/model --dry-run
expect "also in a dry run" refused "two/model" "tiny.json asks for"
run train tiny.json --data data --output half --from nomodel
expect "--from a missing model is an error" refused "'nomodel' is neither a folder nor a model"
sed 's/"shared": true/"shared": false/;s/"heads": 2,/& "tying": "none",/' tiny.json >apart.json
run train apart.json --data data --output half --from two/model
expect "--from a model with one vocabulary, if there should be two, is an error" refused "two/model" '"tokenizer.shared" to true'
cp -r two/model hollow && rm hollow/model.safetensors
run train two/training.json --output half --from hollow --dry-run
expect "--from a model without weights is an error in a dry run" refused "hollow/model.safetensors"
run train two/training.json --output half --from hollow
expect "and in a training" refused "hollow/model.safetensors"
expect "none of these leaves anything behind" absent half
cp -r two/model numbered
"$headscope" tokenize --tokenizer two/model/sentencepiece.model --json --decode <<<"$(seq -s ' ' 0 "$(($(jq .source_vocabulary two/model/config.json) - 1))")" |
    jq '[.pieces[].piece]' >numbered/vocabulary.json
run train two/training.json --output half --from numbered --dry-run
expect "--from a model with a vocabulary file works, too" ended_with 0
rm -r numbered
run train two/training.json --output half --from two/model --dry-run
expect "--from a model of the same shape works in a dry run" eval 'ended_with 0 && [ ! -e half ]'
run train two/training.json --output further --from two --steps 1
expect "and in a training" eval 'ended_with 0 && complains "starting from the weights of two/model"'
run train --output further --resume --from two/model
expect "--from excludes --resume" misused "--from" "--resume"
rm -rf half
run train tiny.json --data data --output half --epochs 0.05
expect "--epochs can be less than 1" eval 'ended_with 0 && [ "$(steps_of half)" -lt 6 ]'
last_line() { tail -n 2 err | head -n 1 | grep -qF -- "$1" && tail -n 1 err | grep -q "^use it in other commands: --model "; }
limits_of() { jq -c '.training | {steps, epochs, tokens, minutes}' "$1/training.json"; }
expect "the line before the last names the limit that ended the run, and the last how to use the model" last_line '"training.epochs" (--epochs: 0.05)'
expect "a limit on the command line replaces all others" [ "$(limits_of half)" = '{"steps":null,"epochs":0.05,"tokens":null,"minutes":null}' ]
cp -r half taken
run train --output taken --resume --steps 9
expect "a limit can be replaced when resuming" eval '[ "$(steps_of taken)" -eq 9 ] && last_line "after step 9 by \"training.steps\" (--steps: 9)"'
run train --output taken --resume
expect "resuming a finished run names the limit" last_line 'after step 9 by "training.steps" (9)'
for limit in epochs:0.6 tokens:9000 minutes:0.001; do
    rm -rf longer
    run train tiny.json --data data --output longer "--${limit%:*}" "${limit#*:}"
    expect "--${limit%:*} replaces a limit of steps" eval 'ended_with 0 && last_line "by \"training.${limit%:*}\" (--${limit%:*}: ${limit#*:})"'
done
run train tiny.json --data data --output both --epochs 100 --steps 7
expect "of two limits the first reached ends the run" eval '[ "$(steps_of both)" -eq 7 ] && last_line "(--steps: 7)"'
sed 's/"steps": 6/"patience": 1, "learning_rate_scale": 0, "steps": 60/' tiny.json >patient.json
run train patient.json --data data --output patient
expect "patience ends a run" last_line 'after step 8 by "training.patience" (1)'
run train tiny.json --data data --output few --tokens 300
expect "--tokens ends a run" eval 'ended_with 0 && [ "$(steps_of few)" -lt 6 ]'
run train tiny.json --data data --output other --batch many
expect "an invalid --batch is an error" eval 'complains "many" && ! ended_with 0'

if grep -qx vulkan:0 <<<"$("$headscope" devices --usable)"; then
    HEADSCOPE_VULKAN_LOST_AT=3 run train tiny.json --data data --output lost --device vulkan
    expect "a device lost before the first checkpoint is an error" refused "the GPU was lost" "no checkpoint to resume from yet"
    HEADSCOPE_VULKAN_LOST_AT=3 run train tiny.json --data data --output half --resume --device vulkan
    expect "a device lost after a checkpoint is an error" refused "the GPU was lost" "--resume continues from the last checkpoint"
else
    echo "SKIPPED: a device that is lost: no Vulkan device"
fi

finish "make-task, data and train behave as expected"
