#!/usr/bin/env bash
# headscope make-task, data and train as a user meets them, most of all where something is wrong.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2317 # the conditions are called, and words of eval expanded, through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
lines() { [ "$(wc -l <"$2")" -eq "$1" ]; }
present() { [ -e "$1" ]; }
absent() { [ ! -e "$1" ]; }

# ------------------------------------------------------------------------------------------ data
run make-task digits --output data --pairs 300 --valid 4 --test 6
expect "a task is made" ended_with 0
expect "of as many lines as asked for" lines 300 data/train.tsv
expect "in its test part too" lines 6 data/test.tsv
run make-task digits --output again --pairs 300 --valid 4 --test 6
expect "the same for the same seed" same data/train.tsv again/train.tsv
run make-task digits --output again --pairs 300 --valid 4 --test 6 --seed 2
expect "another for another" eval '! cmp -s data/train.tsv again/train.tsv'
printf 'Hi.\tHallo!\nGo.\tGeh.\nno tab\n' >bad.tsv
run data --tsv bad.tsv --output split --valid 1 --test 1
expect "a line without TAB has its number" refused "bad.tsv' line 3 has no TAB" "two files"
expect "and is not told to have columns" not complains "columns"
run data --tsv none.tsv --output split
expect "text that is not there" refused "'none.tsv' does not exist"
run data --output split
expect "no text at all" refused "--tsv" "--source"
run data --source a.en b.en --target a.de --output split
expect "sides that do not belong together" refused "names 2 files" "1"
run data --source a.en --target a.de b.de --output split
expect "of which there is one" refused "names 1 file and --target 2"
run data --tsv data/train.tsv --output split --last --seed 3
expect "the last pairs need no seed" refused "--seed" "--last"
run data --tsv data/train.tsv --output split --valid 200 --test 100
expect "more held out than there is" refused "200 + 100" "300"
expect "and nothing is written" absent split
printf 'same\tsame\n\n' >useless.tsv
run data --tsv useless.tsv --output split/deep --valid 0 --test 0
expect "nothing to train on" refused "no pair of 2 is left" "nothing was written"
expect "which leaves no folder either" absent split
for i in $(seq 100); do printf '第%d句：你好，世界。\tSatz %d\n第%d句你好世界\tAnders %d\n' "$i" "$i" "$i" "$i"; done >twins.tsv
run data --tsv twins.tsv --output twins --valid 10 --test 10 --json
expect "twins without marks are found where words are not parted" eval 'jq -e ".train == 160 and .[\"shares a side with held-out pairs\"] == 20" out'

for i in $(seq 40); do printf 'Sentence %d.\tSatz %d.\tCC-BY\r\n' "$i" "$i"; done >raw.tsv
{
    printf 'sentence 40!\tNoch einer\n'           # shares its source with the last
    printf 'same\tsame\n'                        # no translation
    printf 'Sentence 2.\tSatz 2.\n'              # there before
    printf 'one\t\n'                             # empty
    printf 'no\xff\tnein\n'                      # not UTF-8
    printf 'a\t%s\n' "$(printf 'b%.0s' {1..90})" # ratio
    printf 'a b c d e f\ta b c d e f g\n'        # long
} >>raw.tsv
gzip -k raw.tsv
run data --tsv raw.tsv.gz --output split --valid 3 --test 2 --seed 5 --most-words 5 --json
expect "raw text is split" ended_with 0
counts() { # KEY COUNT...
    while [ $# -gt 0 ]; do
        [ "$(jq ".\"$1\"" out)" = "$2" ] || return 1
        shift 2
    done
}
expect "with every count" counts pairs 47 train 36 valid 3 test 2 "both sides the same" 1 "there before" 1 \
    "a side is empty" 1 "not UTF-8" 1 "sides of unlike length" 1 "too many words" 1
expect "further columns and carriage returns are no text" eval '! grep -q "CC-BY\|$(printf "\r")" split/*.tsv'
expect "of byte order marks there are none" counts "byte order marks removed" 0
printf '\xef\xbb\xbf' | cat - raw.tsv >marked.tsv
run data --tsv marked.tsv --output marked --valid 3 --test 2 --seed 5 --most-words 5
expect "one is counted" says "1 byte order marks removed"
expect "and removed" eval 'for f in train valid test; do cmp split/$f.tsv marked/$f.tsv || exit 1; done'
run data --tsv raw.tsv --output again --valid 3 --test 2 --seed 5 --most-words 5
expect "the same unpacked" eval 'for f in train valid test; do cmp split/$f.tsv again/$f.tsv || exit 1; done'
expect "with the counts for people" says "36 train"
run data --tsv raw.tsv --output loose --valid 0 --test 2 --last --most-words 0 --most-ratio 0 --keep-identical --keep-duplicates
expect "filters can be switched off" lines 43 loose/train.tsv
expect "and the end be held out" eval 'grep -q "a b c d e f g" loose/test.tsv'
run data --tsv raw.tsv --output apart --valid 0 --test 0 --exclude split/test.tsv --exclude split/valid.tsv --seed 1
expect "what was held out elsewhere is not trained on" eval '! cut -f1 split/test.tsv split/valid.tsv | grep -qxFf - <(cut -f1 apart/train.tsv)'

# What is read is not written over, whatever it is called.
mkdir own && for i in $(seq 40); do printf 'own sentence %d\teigener Satz %d\n' "$i" "$i"; done >own/train.tsv
cp own/train.tsv own.kept
keeps() { same "$1" own.kept; }
run data --tsv own/train.tsv --output own --valid 2 --test 2
expect "an output that is an input" refused "own/train.tsv' would be written while it is read"
expect "which stays as it was" keeps own/train.tsv
expect "and nothing is beside it" eval '[ "$(ls -A own)" = train.tsv ]'
ln own/train.tsv hard.tsv && ln -s own/train.tsv link.tsv && ln -s own own-link && mkdir held
run data --tsv hard.tsv --output own --valid 2 --test 2
expect "a hard link of it" refused "own/train.tsv" "hard.tsv"
run data --tsv link.tsv --output own-link --valid 2 --test 2
expect "symbolic links to it and to its folder" refused "own-link/train.tsv" "link.tsv"
run data --tsv raw.tsv --exclude own/train.tsv --output own-link --valid 2 --test 2
expect "a list of pairs to leave out" refused "own-link/train.tsv"
ln own/train.tsv held/test.tsv.tmp
run data --tsv own/train.tsv --output held --valid 2 --test 2
expect "a file that is written on the way" refused "held/test.tsv"
expect "all of which stay" keeps own/train.tsv
rm -r held
run data --tsv raw.tsv --output own --valid 2 --test 2
expect "a file that was not generated" refused "own/train.tsv' already exists and was not generated"
run make-task digits --output own --pairs 300
expect "by neither generator" refused "own/train.tsv" "another --output"
expect "is not replaced" keeps own/train.tsv
run data --tsv own/train.tsv --output renewed --valid 2 --test 2
run data --tsv own/train.tsv --output renewed --valid 3 --test 2
expect "one that was, is" lines 3 renewed/valid.tsv
echo 'mine	meins' >>renewed/valid.tsv
run data --tsv own/train.tsv --output renewed --valid 3 --test 2
expect "unless it was changed since" refused "renewed/valid.tsv" "was changed since"

cp own.kept appended.tsv
# shellcheck disable=SC2094 # that is what is tried
"$headscope" data --tsv appended.tsv --output appended --valid 2 --test 2 --json >>appended.tsv 2>err
code=$?
expect "nor is standard output behind what is read" eval 'ended_with 1 && complains "standard output would be written while it is read" && keeps appended.tsv'
mkdir -p stuck/train.tsv.tmp
run data --tsv own/train.tsv --output stuck --valid 2 --test 2
expect "what is in the way is named, and not waited for" refused "stuck/train.tsv.tmp' is in the way" "not a regular file"
mkdir one && ln -s train.tsv one/test.tsv
run data --tsv own/train.tsv --output one --valid 2 --test 2
expect "outputs that are one file" refused "one/train.tsv" "one/test.tsv" "are the same file"

cut -f1 data/train.tsv >digits.src
cut -f2 data/train.tsv >digits.tgt
run data --source digits.src --target digits.tgt --output sides --valid 10 --test 10 --most-ratio 0
expect "two files are as good as one" lines 280 sides/train.tsv
head -n 299 digits.tgt >short.tgt
run data --source digits.src --target short.tgt --output sides
expect "if they are of one length" refused "'digits.src' has 300 lines" "'short.tgt' has 299"

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
changed() { # SED-EXPRESSION: writes changed.json and trains by it
    sed "$1" tiny.json >changed.json
    run train changed.json --data data --output trial
}
run train none.json --data data --output trial
expect "no configuration" refused "none.json" "No such file"
run train data --data data --output trial
expect "a folder for a configuration" refused "'data'" "directory"
changed 's/"heads": 2,/"heads": 2/'
expect "broken JSON has its line" refused "changed.json" "line 2"
changed 's/"warmup_steps"/"warmup_stepz"/'
expect "an unknown key and its neighbour" refused "changed.json" '"training.warmup_stepz"' 'mean "warmup_steps"'
changed 's/"heads": 2/"haeds": 2/'
expect "an unknown key of the model" refused "changed.json" '"model.haeds" is unknown; did you mean "heads"?'
changed 's/"report_every"/"precison": "bf16", &/'
expect "a key that few configurations have" refused '"training.precison" is unknown; did you mean "precision"?' ", precision, "
changed 's/"training"/"trainin"/'
expect "a section that is nearly one" refused '"training" is missing; is "trainin" a misspelling of it?'
changed 's/"steps": 6/"steps": -6/'
expect "an impossible number" refused "changed.json" '"training.steps"' "-6" "0 to"
changed 's/"heads": 2/"heads": 0/'
expect "an impossible model" refused "changed.json" "heads" "0"
changed 's/"heads": 2/"heads": 3/'
expect "heads that do not divide the model" refused "changed.json" "model.heads" "3" "d_k"
changed 's/"vocabulary": 64/"vocabulary": 60000/'
expect "more pieces than the text has" refused "60000" "tokenizer.vocabulary" "changed.json"
changed 's/"vocabulary": 64/"vocabulary": 10/'
expect "fewer pieces than it has characters" refused "10" "tokenizer.vocabulary" "changed.json"
changed 's/"max_length": 64}/"max_length": 4}/'
expect "a model too short for its data" refused "changed.json" "model.max_length" "training.max_length"
changed 's/"source_tokens": 128/"source_tokens": 63/'
expect "steps too small for its data" refused "changed.json" "training.source_tokens" "63" "training.max_length"
changed 's/"max_length": 64,$/"max_length": 2,/'
expect "no pair short enough" refused "training.max_length"
expect "nothing was left behind" absent trial
changed 's/"train.tsv"/"trian.tsv"/'
expect "text that is not there" refused "data/trian.tsv" "changed.json" "--data"

# ------------------------------------------------------------------------------------------ text
printf '1\n2\n3\n' >data/a.en
printf 'eins\nzwei\n' >data/a.de
files='s/{"tsv": "train.tsv"}/{"source": "a.en", "target": "a.de"}/'
changed "$files"
expect "files of different length" refused "data/a.en" "3 lines" "data/a.de" "2"
printf 'eins\nzw\374lf\ndrei\n' >data/a.de
changed "$files"
expect "text that is not UTF-8" refused "data/a.de" "line 2" "UTF-8"
: >data/a.en
: >data/a.de
changed "$files"
expect "empty text" refused "data/a.en" "no sentence pair"
for i in $(seq 150); do
    printf 'Satz %d\n' "$i" >&3
    printf '▅ Sentence %d\n' "$i" >&4
    printf 'a\0b %d\n' "$i" >&5
    echo 'Immer gleich.' >&6
    printf '%*s\n' "$((i % 7 + 1))" '' | tr ' ' '!' >&7
done 3>data/good 4>data/blocks 5>data/nul 6>data/equal 7>data/marks
corpus() { printf 's/{"tsv": "train.tsv"}/{"source": "%s", "target": "%s"}/' "$1" "$2"; }
changed "$(corpus blocks blocks)"
expect "text of a character that no vocabulary is learnt with" refused "data/blocks' line 1 contains U+2585" "changed.json" "remove or replace"
changed "$(corpus nul nul)"
expect "or of NUL" refused "data/nul' line 1 contains NUL" "changed.json"
changed "$(corpus good blocks)"
expect "beside others it is said what is learnt without" eval 'ended_with 0 && complains "learnt without 150 sentences" && complains "data/blocks'\'' line 1 contains U+2585"'
rm -r trial
for i in $(seq 150); do printf '\xc2\xa0\n'; done >data/bare
changed "$(corpus good bare)"
expect "sides that only look empty are named as the reason" refused "no sentence pair (150 with an empty side)"
run train --source data/good --target data/bare --output trial
expect "of two texts as well" refused "hold 0 pairs of sentences (150 with an empty side)"
awk '{ print NR % 50 == 7 ? "▅ " $0 : $0 " und mehr" }' data/good >data/some
run train --source data/good --target data/some --output trial --dry-run
expect "lines of two texts that nothing is learnt from are named as they were given" complains "learnt without 3 sentences: 'data/some' line 7 contains U+2585"
expect "and once" [ "$(grep -c 'learnt without' err)" -eq 1 ]
printf '\xef\xbb\xbf' | cat - tiny.json >marked.json
run train marked.json --data data --output trial --dry-run
expect "a configuration's byte order mark is told of" complains "marked.json' begins with a byte order mark"
sed 's/"shared": true/"shared": false/;s/"heads": 2,/& "tying": "none",/' tiny.json >apart.json
sed "$(corpus good equal)" apart.json >changed.json
run train changed.json --data data --output trial
expect "targets that are all equal give few pieces" refused "data/equal'" '"tokenizer.vocabulary" 64' "its words give at most"
run train --source data/blocks --target data/blocks --output trial
expect "two texts are refused for the same reason" refused "'data/blocks' line 1 contains U+2585"
run train --source data/good --target data/equal --output trial
expect "and where all targets are equal" refused "150 sentences of 'data/equal' are all the same"
run train --source data/marks --target data/good --output trial
expect "or hold no words" refused "'data/marks' holds no words"
run data --source data/good --target data/equal --output trial --valid 5 --test 5
expect "and data says where the pairs went" refused "no pair of 150 is left" "shares a side with held-out pairs: 145"
expect "none of which leaves anything behind" absent trial
mkdir trial && echo mine >trial/training.json && mkdir trial/tokenizer
changed "$files"
expect "what was there before such a failure is there after it" eval '[ "$(find trial | sort | paste -sd " ")" = "trial trial/tokenizer trial/training.json" ] && grep -qx mine trial/training.json'
rm -r trial

# ------------------------------------------------------------------------------------------ places and devices
run train tiny.json --data data --output data/train.tsv/out
expect "a folder that cannot be made" refused "data/train.tsv/out" "cannot create"
if [ "$(id -u)" -ne 0 ]; then
    mkdir sealed && chmod 555 sealed
    run train tiny.json --data data --output sealed
    expect "a folder that cannot be written to" refused "sealed" "Permission denied"
fi
run train tiny.json --data data --output trial --device gpu9
expect "a device that is none" refused "gpu9" "cpu"
run train tiny.json --data data --output trial --steps 0
expect "no steps" eval 'complains "--steps" && ! ended_with 0'
run train tiny.json --data data --output trial --minutes -1
expect "minutes before now" eval 'complains "0.001" && ! ended_with 0'
run train tiny.json --data data --output trial --minutes nan
expect "minutes that are no number" refused "--minutes" "got nan"
run train tiny.json --data data --output trial --batch 5
expect "what an option says is not put down to the file alone" refused '"training.source_tokens" (--batch: 5) has no room' '"training.max_length" (64'
run train tiny.json --data data --output trial --precision i8
expect "a precision that nothing is trained in" refused "--precision" "i8" "f16"
expect "and nothing was left behind" absent trial

# ------------------------------------------------------------------------------------------ runs
run train tiny.json --data data --output heart --overfit-one-batch --steps 20
expect "failing to overfit a batch is an error that prints the loss" refused "nll" "--steps"
expect "of which nothing stays" absent heart
sed 's/"warmup_steps"/"cooldown_steps": 6, "warmup_steps"/' tiny.json >cooled.json
run train cooled.json --data data --output heart --overfit-one-batch --steps 4
expect "so it is in fewer steps than the cool-down's" refused "nll" "--steps"
expect "of which nothing stays" absent heart
run train tiny.json --data data --output heart --overfit-one-batch --resume
expect "nor can that be resumed" eval 'complains "--resume" && ! ended_with 0'
run train tiny.json --data data --output whole
expect "a run ends well" ended_with 0
expect "with a model" present whole/model/model.safetensors
expect "without what nobody asked for" eval '! grep -q gradient_norms whole/log.jsonl'
run train tiny.json --data data --output watched --watch-gradients
expect "the gradients of layers are written where they are asked for" grep -q '"gradient_norms":{"decoder.layers.0.cross_attention":' watched/log.jsonl
expect "and the model is the same" same whole/model/model.safetensors watched/model/model.safetensors
run train tiny.json --data data --output scored --validate-bleu 3 --tensorboard
expect "held-out pairs are translated where that is asked for" eval 'ended_with 0 && complains "  BLEU " && complains "of 3 held-out pairs"'
expect "at each validation" eval '[ "$(jq -s "map(select(.kind == \"validation\" and (.bleu | type) == \"number\")) | length" scored/log.jsonl)" -eq 1 ]'
expect "and not where nobody asked" eval '! grep -q bleu whole/log.jsonl'
expect "the number goes to TensorBoard too" grep -qa "validation/bleu" scored/tensorboard/events.out.tfevents.*
expect "and the model is the same" same whole/model/model.safetensors scored/model/model.safetensors
run plot scored -o -
expect "a plot has its curve" eval 'says ">BLEU<" && says ">Learning rate<"'
run plot whole -o -
expect "which that of another run has not" eval '! says ">BLEU<" && says ">Learning rate<"'
run train tiny.json --data data --output scored --resume --validate-bleu 0
expect "a run may go on without it" ended_with 0
changed 's/, "valid": {"tsv": "valid.tsv"}//;s/"report_every"/"validate_bleu": 3, &/'
expect "pairs that nobody holds out" refused '"training.validate_bleu" (3)' '"data.valid"'
changed 's/, "valid": {"tsv": "valid.tsv"}//'
run train changed.json --data data --output trial --resume --validate-bleu 3
expect "whoever asks for them" refused '"training.validate_bleu" (--validate-bleu: 3)' '"data.valid"'
run train tiny.json --data data --output parts --steps 4
expect "a shorter run" ended_with 0
cp parts/tokenizer/sentencepiece.model tokenizer-before
sed -i 's/"vocabulary": 64/"vocabulary": 70/' tiny.json
run train tiny.json --data data --output parts
expect "is not overwritten by another" refused "parts" "--resume" "--output"
expect "nor is its tokenizer" same parts/tokenizer/sentencepiece.model tokenizer-before
run train tiny.json --data data --output parts --overfit-one-batch
expect "nor by an attempt" refused "parts" "--output"
run train tiny.json --data data --output parts --resume
expect "nor continued with another vocabulary" refused '"tokenizer.vocabulary" was 64 and is now 70'
sed -i 's/"vocabulary": 70/"vocabulary": 64/' tiny.json
(
    flock 9
    run train tiny.json --data data --output parts --resume
    expect "nor while someone else has it" refused "parts" "running" "--output"
    exit "$failures"
) 9>>parts/lock
failures=$?
run train tiny.json --data data --output parts --resume --batch 99
expect "nor with steps of another size" refused '"training.source_tokens" (--batch) was 128 and is now 99'
run train tiny.json --data data --output parts --resume
expect "but continued" ended_with 0
expect "to the very weights of an unbroken one" same parts/model/model.safetensors whole/model/model.safetensors
printf '\377' | dd of=parts/checkpoints/step-00000006.safetensors bs=1 seek=20000 conv=notrunc status=none
run train tiny.json --data data --output parts --resume
expect "an altered checkpoint is passed over" complains "step-00000006.safetensors is damaged"
expect "with the result it would have had" same parts/model/model.safetensors whole/model/model.safetensors

# A run does not write over what it reads.
mkdir -p inputs/data inputs/model && cp digits.src inputs/data/train.source && cp digits.tgt inputs/data/train.target
run train --source inputs/data/train.source --target digits.tgt --output inputs
expect "a text that lies where its parts go" refused "inputs/data/train.source' would be written while it is read"
run train --source digits.src --target digits.tgt --output inputs
expect "or another's there" refused "inputs/data/train.source' already exists and was not generated"
expect "which stay" eval 'same digits.src inputs/data/train.source && same digits.tgt inputs/data/train.target'
mkdir mixed && ln data/train.tsv mixed/log.jsonl
run train tiny.json --data data --output mixed
expect "a text that is called as the log" refused "mixed/log.jsonl' would be written while it is read" "data/train.tsv"
ln -sf "$PWD/data/valid.tsv" mixed/log.jsonl
run train tiny.json --data data --output mixed
expect "or a validation text" refused "mixed/log.jsonl" "data/valid.tsv"
mkdir begun && cp -r whole/model begun/model
run train tiny.json --data data --from begun --output begun
expect "or the model that it begins with" refused "begun/model/" "would be written while it is read"
expect "which stays" same begun/model/model.safetensors whole/model/model.safetensors
run train whole/training.json --output whole --finish
expect "but its own configuration may be given back" ended_with 0
mkdir config link foreign && cp tiny.json config/training.json && cp tiny.json kept.json && ln -s ../kept.json link/training.json
run train config/training.json --data data --output config
expect "to a run that goes on, and to no new one" refused "config/training.json' would be written while it is read"
run train kept.json --data data --output link
expect "whatever its name leads to" refused "link/training.json' would be written while it is read: it is the same file as 'kept.json'"
expect "which stays" eval 'same tiny.json config/training.json && same tiny.json kept.json'
for name in training.json log.jsonl best.safetensors model/notes tokenizer/sentencepiece.model model.tmp/notes; do
    mkdir -p "foreign/$(dirname $name)" && echo mine >"foreign/$name"
    for going_on in "" --resume; do
        run train tiny.json --data data --output foreign $going_on
        expect "a new run replaces no $name of others $going_on" refused "foreign/${name%/notes}" "another --output"
    done
    expect "and writes nothing" eval '[ "$(cd foreign && find -type f)" = "./$name" ] && [ "$(cat "foreign/$name")" = mine ]'
    rm -r foreign
done
mkdir -p texts/model.tmp && cp -r data texts/model.tmp/
run train tiny.json --data texts/model.tmp/data --output texts
expect "nor does it remove its text on the way to the model" refused "texts/model.tmp/data/" "' would be written while it is read; choose"
cp digits.src trace.txt
HEADSCOPE_TRACE=trace.txt run train tiny.json --data data --output traced
expect "a trace replaces no other file" eval '! ended_with 0 && complains "trace.txt" && same digits.src trace.txt'
HEADSCOPE_TRACE=trace.json run train tiny.json --data data --output traced
HEADSCOPE_TRACE=trace.json run train tiny.json --data data --output traced --resume
expect "but another trace" ended_with 0
ln -s whole/log.jsonl curve.svg
run plot whole -o curve.svg
expect "nor does a plot the log" refused "curve.svg' would be written while it is read" "whole/log.jsonl"
cp -r whole/model model-copy
run attention --text '1 7' --model model-copy --all-heads -o model-copy/config.json
expect "nor a figure the model" refused "model-copy/config.json' would be written while it is read"
run view model-copy --text '1 7' --render model-copy/config.json
expect "be it of the viewer" refused "model-copy/config.json' would be written while it is read"
expect "which can still be read" eval '"$headscope" inspect model-copy >/dev/null'
for words in "translate text" "translate" "score --source text --target text" "compare text"; do
    echo '1 7' >text
    # shellcheck disable=SC2086,SC2094 # several words; and that is what is tried
    "$headscope" $words --model model-copy <text >>text 2>err
    code=$?
    expect "$words: nor is text behind itself" eval '[ $code = 1 ] && complains "standard output would be written" && [ "$(cat text)" = "1 7" ]'
done
run evaluate --model model-copy --source text --reference text --output text
expect "nor are translations" refused "'text' would be written while it is read"
run conform --device cpu --onnx-node-tests model-copy --json model-copy/config.json
expect "nor is a report" refused "model-copy/config.json' would be written while it is read"

# Without a standard error, no file takes its number: progress would be written into it.
"$headscope" train tiny.json --data data --output unheard >out 2>&-
code=$?
expect "nobody has to listen to a training" ended_with 0
expect "and nothing is written where it does not belong" eval '! grep -rqI "parameters on" unheard'
expect "which comes to the same model" same unheard/model/model.safetensors whole/model/model.safetensors

# A limit on the size of files stands in for a full disk: a checkpoint is larger than 250 kB, all
# else is smaller.
(
    ulimit -f 250
    run train tiny.json --data data --output full
    expect "a checkpoint that finds no room ends the run" refused "step-00000002.safetensors" "File too large"
    exit "$failures"
)
failures=$?
expect "and leaves no part of it" absent full/checkpoints/step-00000002.safetensors.tmp
run train tiny.json --data data --output full --resume
expect "with room it is run again" ended_with 0
expect "to the same model" same full/model/model.safetensors whole/model/model.safetensors
cp full/model/model.safetensors model-before
rm full/checkpoints/step-00000006.safetensors
(
    ulimit -f 20
    run train tiny.json --data data --output full --finish
    expect "a model that finds no room is an error" refused "full/model.tmp" "File too large"
    exit "$failures"
)
failures=$?
expect "and leaves the one before" same full/model/model.safetensors model-before
mkdir small
(
    ulimit -f 1
    run make-task digits --output small/task --pairs 300
    expect "nor is there room for a task" refused "small/task/train.tsv" "File too large"
    run data --tsv data/train.tsv data/train.tsv --keep-duplicates --valid 2 --test 2 --output small/split
    expect "or for pairs" refused "small/split/train.tsv" "File too large"
    run plot whole -o small/curve.svg
    expect "or for a plot" refused "small/curve.svg" "File too large"
    HEADSCOPE_TRACE=cut.json run translate --model whole/model <<<'1 7'
    expect "or for a trace" eval 'ended_with 1 && complains "cut.json" && complains "File too large"'
    expect "which stays whole" eval '[ "$(jq -c .traceEvents cut.json)" = "[]" ]'
    run translate --help
    expect "or for the help" eval '! ended_with 0 && complains "File too large"'
    exit "$failures"
)
failures=$?
expect "none of which leaves anything" eval '[ -z "$(ls -A small)" ]'

# A pipe for a text holds a training, which already listens, until the signal has come.
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
expect "a stop before the first step says that nothing was done" refused "before the first step" "no checkpoint yet" "by a signal"
rm data/slow.tsv && cp data/valid.tsv data/slow.tsv
run train --output early --resume --steps 1
expect "and can be taken up" ended_with 0
stopped_early --output heartless --overfit-one-batch --steps 1000000
expect "overfitting can be stopped" refused "stopped after step 0" "saves nothing"

run train cooled.json --data data --output cool --steps 4
expect "fewer steps than the cool-down's, named as they were given" refused "--steps 4" "cooldown_steps" "(6)"
sed 's/"warmup_steps"/"cooldown_steps": 3, "warmup_steps"/' tiny.json >half-cooled.json
for limit in "--minutes 0.001" "--epochs 0.1" "--tokens 300"; do
    rm -rf cool
    # shellcheck disable=SC2086 # two words
    run train half-cooled.json --data data --output cool $limit
    expect "a cool-down keeps its share of a training that ends by $limit" eval 'ended_with 0 && [ "$(jq .training.cooldown cool/training.json)" = 0.5 ]'
done
rm -rf cool
run train cooled.json --data data --output cool --steps 8
expect "more are welcome" ended_with 0
run train cooled.json --data data --output cool --resume
expect "but no other number once the rate falls" refused '"training.steps" was 8 and is now 6' "give --steps 8"
run train cooled.json --data data --output cool --finish
expect "a model can be made without saying how many there were" ended_with 0
expect "of where the run stands, from which it does not go on" eval 'complains "stands after step 8, by cool/checkpoints" && ! complains "going on"'
run train cooled.json --data data --output cool --finish --steps 8
expect "for which there is no use" eval 'complains "--steps" && ! ended_with 0'

run train tiny.json --data data --output nothing --finish
expect "nothing to finish" refused "nothing" "no checkpoint"
run train --output nothing --finish
expect "whatever it was" refused "nothing" "no checkpoint"
expect "stays nothing" absent nothing

# ------------------------------------------------------------------------------------------ two texts
cut -f1 data/train.tsv >my.digits
cut -f2 data/train.tsv >my.words
run train --source my.digits --output two
expect "a text without its translation" refused "--target is missing"
run train --source none.digits --target none.words --output two
expect "texts that are not there" refused "'none.digits' does not exist"
expect "leave nothing behind" absent two
head -n 3 my.digits >few.digits
head -n 3 my.words >few.words
run train --source few.digits --target few.words --output made/few
expect "three pairs are no text" refused "'few.digits'" "hold 3 pairs" "100 at the least"
expect "and leave nothing either" absent made
run train --output two
expect "nothing to train with" refused "--source and --target"
run train --output two --resume
expect "nor anything to go on with" refused "two" "no configuration"
run train --source my.digits --target my.words --output two --dry-run
expect "a dry run says what it would be" eval 'ended_with 0 && grep -q "encoder.layers.0" out && grep -q "checkpoints/" out'
expect "and writes nothing of it" absent two
expect "nor says that it does" not complains "two/training.json"
run train --source my.digits --target my.words --output two --steps 2 --batch 300
expect "two texts are enough" eval 'ended_with 0 && [ -e two/model/model.safetensors ]'
expect "the configuration is kept" grep -q '"source_tokens": 300' two/training.json
run train --output two --finish
expect "and serves again without being named" ended_with 0
split() { jq -c . two/model/decoding.json; }
expect "the model has lines split that are longer than any it learnt from" [ "$(split)" = "{\"split_longer_than\":$(jq .training.max_length two/training.json)}" ]
printf '{"beam": 2}\n' >two/model/decoding.json
run train --output two --finish
expect "and keeps what was chosen for it" [ "$(split)" = '{"beam":2}' ]
cp -r two undone && rm -r undone/model
for model in undone undone/model; do
    run translate --model "$model" </dev/null
    expect "a run that is not finished is no model yet: $model" refused "headscope train --output undone --finish"
done
run train tiny.json --data data --output auto --steps 2 --batch auto --tensorboard
expect "a step as large as memory holds" eval 'ended_with 0 && complains "steps of 25000 tokens of each side"'
expect "which may be too few steps for the rate to rise" complains "about 2 steps in all, and the learning rate rises over the first"
expect "which is kept" grep -q '"source_tokens": 25000' auto/training.json
expect "with event files where they are asked for" eval 'ls auto/tensorboard/events.out.tfevents.* >list'
run train tiny.json --data data --output auto --resume --batch auto
expect "and found again" ended_with 0
steps_of() { jq -s "map(select(.kind == \"train\"))[-1].step" "$1/log.jsonl"; }
run train tiny.json --data data --output half --from two/model
expect "a model of another shape is none to begin with" refused "two/model" "tiny.json asks for"
run train tiny.json --data data --output half --from two/model --dry-run
expect "nor when it is tried" refused "two/model" "tiny.json asks for"
run train tiny.json --data data --output half --from nomodel
expect "nor is one that is not there" refused "nomodel/config.json" "No such file"
sed 's/"shared": true/"shared": false/;s/"heads": 2,/& "tying": "none",/' tiny.json >apart.json
run train apart.json --data data --output half --from two/model
expect "nor one of other tokenizers" refused "two/model" '"tokenizer.shared" to true'
cp -r two/model hollow && rm hollow/model.safetensors
run train two/training.json --output half --from hollow --dry-run
expect "nor one without weights, also when it is tried" refused "hollow/model.safetensors"
run train two/training.json --output half --from hollow
expect "or meant" refused "hollow/model.safetensors"
expect "none of which leaves anything" absent half
run train two/training.json --output half --from two/model --dry-run
expect "one of the same shape can be tried" eval 'ended_with 0 && [ ! -e half ]'
run train two/training.json --output further --from two --steps 1
expect "one of the same shape is" eval 'ended_with 0 && complains "beginning with the weights of two/model"'
run train --output further --resume --from two/model
expect "and a run that goes on has weights" refused "--from" "--resume"
rm -rf half
run train tiny.json --data data --output half --epochs 0.05
expect "a run of a part of an epoch" eval 'ended_with 0 && [ "$(steps_of half)" -lt 6 ]'
last_line() { tail -n 1 err | grep -qF -- "$1"; }
limits_of() { jq -c '.training | {steps, epochs, tokens, minutes}' "$1/training.json"; }
expect "whose last line names the limit" last_line '"training.epochs" (--epochs: 0.05)'
expect "which is its only one" [ "$(limits_of half)" = '{"steps":null,"epochs":0.05,"tokens":null,"minutes":null}' ]
cp -r half taken
run train --output taken --resume --steps 9
expect "and is replaced when it goes on" eval '[ "$(steps_of taken)" -eq 9 ] && last_line "after step 9 by \"training.steps\" (--steps: 9)"'
run train --output taken --resume
expect "a run that has ended says by what as well" last_line 'after step 9 by "training.steps" (9)'
for limit in epochs:0.6 tokens:9000 minutes:0.001; do
    rm -rf longer
    run train tiny.json --data data --output longer "--${limit%:*}" "${limit#*:}"
    expect "--${limit%:*} replaces a limit of steps" eval 'ended_with 0 && last_line "by \"training.${limit%:*}\" (--${limit%:*}: ${limit#*:})"'
done
run train tiny.json --data data --output both --epochs 100 --steps 7
expect "of two the first counts" eval '[ "$(steps_of both)" -eq 7 ] && last_line "(--steps: 7)"'
sed 's/"steps": 6/"patience": 1, "learning_rate_scale": 0, "steps": 60/' tiny.json >patient.json
run train patient.json --data data --output patient
expect "patience is a limit too" last_line 'after step 8 by "training.patience" (1)'
run train tiny.json --data data --output few --tokens 300
expect "or of so many tokens" eval 'ended_with 0 && [ "$(steps_of few)" -lt 6 ]'
run train tiny.json --data data --output other --batch many
expect "a batch that is none" eval 'complains "many" && ! ended_with 0'

if grep -qx vulkan:0 <<<"$("$headscope" devices --usable)"; then
    HEADSCOPE_VULKAN_LOST_AT=3 run train tiny.json --data data --output lost --device vulkan
    expect "a device that is lost before there is a checkpoint" refused "the GPU was lost" "no checkpoint to resume from yet"
    HEADSCOPE_VULKAN_LOST_AT=3 run train tiny.json --data data --output half --resume --device vulkan
    expect "and after there is one" refused "the GPU was lost" "--resume goes on from the last checkpoint"
else
    echo "SKIPPED: a device that is lost: there is no Vulkan device"
fi

finish "the commands do as expected"
