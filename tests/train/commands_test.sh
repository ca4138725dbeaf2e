#!/usr/bin/env bash
# headscope make-task, prepare and train as a user meets them, most of all where something is wrong.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
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
run prepare bad.tsv --output split --valid 1 --test 1
expect "a line without TAB has its number" refused "bad.tsv:3" "tab"
run prepare none.tsv --output split
expect "text that is not there" refused "none.tsv" "No such file"

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
expect "an unknown key of the model" refused "changed.json" "haeds"
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
expect "nothing but the folder was left behind" absent trial/checkpoints/step-00000002.safetensors
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

# ------------------------------------------------------------------------------------------ places and devices
run train tiny.json --data data --output data/train.tsv/out
expect "a folder that cannot be made" refused "data/train.tsv/out" "cannot make"
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

# ------------------------------------------------------------------------------------------ runs
run train tiny.json --data data --output heart --overfit-one-batch --steps 20
expect "a batch not learnt by heart is a failure that says how far it came" refused "nll" "--steps"
expect "of which no checkpoint stays" absent heart/checkpoints/step-00000020.safetensors
expect "nor any other" eval '! ls heart/checkpoints/*.safetensors 2>/dev/null'
sed 's/"warmup_steps"/"cooldown_steps": 6, "warmup_steps"/' tiny.json >cooled.json
run train cooled.json --data data --output heart --overfit-one-batch --steps 4
expect "so it is in fewer steps than the cool-down's" refused "nll" "--steps"
expect "of which no checkpoint stays" absent heart/checkpoints/step-00000004.safetensors
run train tiny.json --data data --output heart --overfit-one-batch --resume
expect "nor can that be resumed" eval 'complains "--resume" && ! ended_with 0'
run train tiny.json --data data --output whole
expect "a run ends well" ended_with 0
expect "with a model" present whole/model/model.safetensors
expect "without what nobody asked for" eval '! grep -q gradient_norms whole/log.jsonl'
run train tiny.json --data data --output watched --watch-gradients
expect "the gradients of layers are written where they are asked for" grep -q '"gradient_norms":{"decoder.layers.0.cross_attention":' watched/log.jsonl
expect "and the model is the same" same whole/model/model.safetensors watched/model/model.safetensors
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
run train tiny.json --data data --output parts --resume
expect "but continued" ended_with 0
expect "to the very weights of an unbroken one" same parts/model/model.safetensors whole/model/model.safetensors
printf '\377' | dd of=parts/checkpoints/step-00000006.safetensors bs=1 seek=20000 conv=notrunc status=none
run train tiny.json --data data --output parts --resume
expect "an altered checkpoint is passed over" complains "step-00000006.safetensors is damaged"
expect "with the result it would have had" same parts/model/model.safetensors whole/model/model.safetensors

# Without a standard error, no file takes its number: progress would be written into it.
"$headscope" train tiny.json --data data --output unheard >out 2>&-
code=$?
expect "nobody has to listen to a training" ended_with 0
expect "and nothing is written where it does not belong" eval '! grep -rqI "parameters on" unheard'
expect "which comes to the same model" same unheard/model/model.safetensors whole/model/model.safetensors

# A limit on the size of files stands in for a full disk: a checkpoint is larger than 250 kB, all
# else is smaller.
(
    trap '' XFSZ
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
    trap '' XFSZ
    ulimit -f 20
    run train tiny.json --data data --output full --finish
    expect "a model that finds no room is an error" refused "cannot write the model directory" "full/model"
    exit "$failures"
)
failures=$?
expect "and leaves the one before" same full/model/model.safetensors model-before

# A pipe for a text holds a training, which already listens, until the signal has come.
stopped_early() { # ARGS..
    rm -f data/slow.tsv && mkfifo data/slow.tsv
    sed 's/"valid.tsv"/"slow.tsv"/' tiny.json >slow.json
    "$headscope" train slow.json --data data "$@" >out 2>err &
    local training=$!
    # shellcheck disable=SC2016 # the inner shell's
    timeout 60 bash -c 'exec 7>data/slow.tsv; kill -TERM "$1"; cat data/valid.tsv >&7' _ "$training"
    wait "$training"
    code=$?
}
stopped_early --output early
expect "a stop before the first step leaves nothing, and says so" refused "before the first step" "nothing to resume"
expect "and no checkpoint" absent early/checkpoints/step-00000000.safetensors
stopped_early --output early --overfit-one-batch --steps 1000000
expect "learning by heart can be stopped" refused "stopped after step 0" "saves nothing"

run train cooled.json --data data --output cool --steps 4
expect "fewer steps than the cool-down's, named as they were given" refused "--steps 4" "cooldown_steps" "(6)"
run train cooled.json --data data --output cool --steps 8
expect "more are welcome" ended_with 0
run train cooled.json --data data --output cool --resume
expect "but no other number once the rate falls" refused '"training.steps" was 8 and is now 6' "give --steps 8"
run train cooled.json --data data --output cool --finish
expect "a model can be made without saying how many there were" ended_with 0
run train cooled.json --data data --output cool --finish --steps 8
expect "for which there is no use" eval 'complains "--steps" && ! ended_with 0'

run train tiny.json --data data --output nothing --finish
expect "nothing to finish" refused "nothing" "no checkpoint"

finish "the commands do as expected"
