#!/usr/bin/env bash
# headscope translate, compare and bench as a user meets them, on a model trained for three steps.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
silent() { [ ! -s err ]; }
lines() { [ "$(wc -l <out)" -eq "$1" ]; }
line_is() { [ "$(sed -n "$1p" out)" = "$2" ]; }

cat >tiny.json <<'JSON'
{
  "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 32, "d_ff": 64, "heads": 2, "max_length": 64},
  "data": {"train": {"tsv": "train.tsv"}},
  "tokenizer": {"type": "bpe", "vocabulary": 96, "shared": true},
  "training": {"steps": 3, "max_length": 64, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 3, "seed": 11}
}
JSON
train_digits tiny.json
model=trained/model

# ---------------------------------------------------------------------------------------------- translate
printf '1 7 4\n\n2 0\n9' | run translate --model "$model" --max-extra 8
expect "one line for each, an empty one too" lines 4
expect "which stays empty" line_is 2 ""
expect "in good order" ended_with 0
expect "with nothing to say" silent
cp out piped
printf '1 7 4\n\n2 0\n9\n' >input.txt
run translate --model "$model" --max-extra 8 input.txt
expect "a file is translated as standard input is" same out piped
HEADSCOPE_MODEL=$model run translate --max-extra 8 input.txt
expect "HEADSCOPE_MODEL is the default model" same out piped
run translate --model "$model" --max-extra 8 --batch-tokens 1 input.txt
expect "one by one gives the same" same out piped
run translate --model "$model" --max-extra 8 --beam 1 input.txt
cp out narrow
run translate --model "$model" --max-extra 8 --greedy input.txt
expect "greedy is beam 1" same out narrow
run translate --model "$model" --max-extra 8 --scores --stats input.txt
expect "scores stand before a tab" grep -qP '^-?\d+\.\d{4}\t' out
expect "statistics go to standard error" complains " target tokens/s on cpu "
run translate --model "$model" --max-extra 0 --stats input.txt
expect "and count what was cut" grep -qE ', [1-9] cut at the maximum length' err
run translate --model "$model" </dev/null
expect "nothing in" ended_with 0
expect "nothing out" quiet

# A writer that waits for its answer gets it before it writes again.
coproc "$headscope" translate --model "$model" --max-extra 4
echo "4 2" >&"${COPROC[1]}"
answered=no
to=${COPROC[1]}
process=$COPROC_PID
read -r -t 60 -u "${COPROC[0]}" && answered=yes
expect "an answer comes before the input ends" [ "$answered" = yes ]
exec {to}>&-
wait "$process"

{ printf '4 2\n'; printf 'caf\xe9\n'; head -c 100000 /dev/zero | tr '\0' '7'; printf '\n4 2\n'; } >bad.txt
run translate --model "$model" --max-extra 4 bad.txt
expect "bad lines make the exit code 1" ended_with 1
expect "invalid UTF-8 is reported with line and byte" complains "line 2: the text is not UTF-8: byte 4"
expect "a line of 100,000 characters is named" complains "line 3: "
expect "and counted" complains "2 of 4 lines were not translated"
expect "the others are translated" lines 4
expect "all the same" [ "$(sed -n 1p out)" = "$(sed -n 4p out)" ]
expect "bad ones are empty" line_is 3 ""

# The input is endless, so that only the closed output can end the program.
yes "1 2 3" | { timeout 60 "$headscope" translate --model "$model" --greedy --max-extra 1 2>err; echo $? >code; } | head -n 1 >out
code=$(cat code)
expect "a closed output ends it" ended_with 1
expect "quietly" silent
"$headscope" translate --model "$model" --max-extra 1 input.txt >/dev/full 2>err
code=$?
expect "a full disk is an error" ended_with 1
expect "that is named" complains "standard output"
"$headscope" translate --model "$model" --max-extra 8 --stats input.txt >out 2>/dev/full
code=$?
expect "messages that cannot be written do not stop a translation" ended_with 0
expect "or change it" same out piped
"$headscope" translate --model "$model" --max-extra 8 --stats input.txt >out 2>&-
code=$?
expect "nor does a closed standard error" ended_with 0
expect "whose descriptor no file gets" same out piped
"$headscope" translate --model "$model" --max-extra 8 input.txt >&- 2>err
code=$?
expect "a closed standard output is an error" ended_with 1
expect "that is named" complains "standard output"
"$headscope" translate --model "$model" <&- >out 2>err
code=$?
expect "and so is a closed standard input" refused "standard input"
mkfifo held.txt
"$headscope" translate --model "$model" <held.txt >out 2>err &
process=$!
exec {held}>held.txt
sleep 1
kill -INT "$process" 2>/dev/null
# A shell's background processes start with SIGINT ignored, so TERM follows.
kill -TERM "$process" 2>/dev/null
wait "$process"
code=$?
exec {held}>&-
expect "an interrupt ends it" [ "$code" -gt 128 ]
expect "silently" silent

run translate --model "$model" no-such-file
expect "a missing file is named" refused "'no-such-file'"
run translate --model no-such-model input.txt
expect "a missing model is named" refused "no-such-model"
cp "$headscope" ./elsewhere
./elsewhere translate input.txt >out 2>err
code=$?
expect "with no model, the places are listed" refused "Looked for config.json in"
expect "the installed one among them" complains "share/headscope/models/en-de"
cp -r "$model" cut && truncate -s -100 cut/model.safetensors
run translate --model cut input.txt
expect "a cut file is named" refused "cut/model.safetensors"
run translate --model "$model" --device no-such-device input.txt
expect "an unknown device is named" refused "no-such-device"
run translate --model "$model" --beam 0 input.txt
expect "a beam of 0 is rejected" [ "$code" -ne 0 ]
run translate --help
takes_several() { [[ "$(tr -s ' \n' ' ' <out)" == *"a list such as vulkan:0,cpu, all, or all+software"* ]]; }
expect "--device says that it takes several" takes_several
expect "--help shows how" says "headscope translate --greedy"
expect "and how many lines share a window" says "64 lines first, then as many as take about 5 seconds (16 to 2048)"

cut -f 1 data/test.tsv >source.txt

# ------------------------------------------------------------------------------------------------ compare
head -n 5 source.txt >five.txt
run compare --model "$model" --device cpu --with cpu:oracle --max-extra 8 five.txt
expect "two devices agree" ended_with 0
expect "on every line" says "cpu and cpu:oracle translate 5 of 5 sentences identically (greedy)"
head -n 2 out >compared # the rest has speeds
as_compared() { [ "$(head -n 2 out)" = "$(cat compared)" ]; }
run compare --model "$model" --device cpu --with cpu:oracle --max-extra 8 <five.txt
expect "standard input works like a file" as_compared
run compare --model "$model" --device cpu --with cpu:oracle --max-extra 8 --tsv data/test.tsv --limit 5
expect "and so is the source side of a TSV" as_compared
{ cat five.txt; printf '\n'; head -c 300 /dev/zero | tr '\0' '7'; printf '\n'; } >seven.txt
run compare --model "$model" --device cpu --with cpu:oracle --max-extra 8 seven.txt
expect "a line that cannot be translated makes the exit code 1" ended_with 1
expect "is named" complains "sentence 7: "
expect "and the others are compared" says "5 of 5 sentences"
run compare --model "$model" --device cpu five.txt
expect "a device is not compared with itself" misused "both devices are cpu"
run compare --model "$model" --devices cpu:oracle,cpu --max-extra 8 --text "$(head -n 1 five.txt)"
expect "a text is compared like a file of one line" eval 'ended_with 0 && says "in 1 sentence"'
run compare --model "$model" --devices cpu:oracle,cpu --max-extra 8 five.txt
expect "several devices are compared with the first" ended_with 0
expect "a line for each" grep -qE '^cpu +[0-9.]+ +5 +0 +0 +[0-9.e-]+ +[0-9.e-]+  [0-9.]+$' out
expect "with the weights by layer" says "encoder 1"
run compare --model "$model" --devices cpu:oracle,cpu --look 2 --json --max-extra 8 five.txt
holds() { [ -s out ] && jq -e "$1" out >/dev/null; } # jq accepts empty input
expect "JSON for programs" holds '.agrees and .reference == "cpu:oracle" and .devices[0].identical == 5'
expect "with logits" holds '.devices[0].inside | .sentences == 2 and .largest_difference_of_logits < 1e-3 and .largest_difference_of_logits > 0'
expect "and every attention" holds '.devices[0].inside.attention | map(.kind) == ["encoder", "decoder", "cross"]'
run compare --model "$model" --devices cpu:oracle,cpu --look 0 --json --max-extra 8 five.txt
expect "logits and weights can be skipped" holds '.devices[0] | has("inside") | not'
run compare --model "$model" --devices cpu five.txt
expect "one device is not enough" misused "--devices cpu is one device"
run compare --model "$model" --devices cpu,cpu five.txt
expect "nor the same twice" misused "both devices are cpu"
run compare --model "$model" --devices all+software --max-extra 8 --json five.txt
usable=$("$headscope" devices --usable)
if [ "$usable" = cpu ]; then
    expect "all+software is not enough if there is only the CPU" refused "--devices all+software is one device"
else
    expect "all+software means every usable device" [ "$(jq -r '.reference, .devices[].device' out | sort)" = "$(sort <<<"$usable")" ]
    expect "compared with the CPU" holds '.reference == "cpu" and .agrees and (.devices | map(.sentences) | unique == [5])'
fi
HEADSCOPE_DEVICE=cpu:oracle,cpu run compare --model "$model" --look 0 --max-extra 8 --json five.txt
expect "HEADSCOPE_DEVICE may name several" holds '.reference == "cpu:oracle" and (.devices | map(.device) == ["cpu"])'
HEADSCOPE_DEVICE=cpu,cpu:oracle run compare --model "$model" --with cpu:oracle --look 0 --max-extra 8 five.txt
expect "which is the same as --with" misused "both devices are cpu:oracle"
HEADSCOPE_DEVICE=cpu:oracle run compare --model "$model" --look 0 --max-extra 8 --json five.txt
expect "or one to compare with the CPU" holds '.reference == "cpu" and (.devices | map(.device) == ["cpu:oracle"])'
seq -s ' ' 400 >long.txt
run compare --model "$model" --device cpu --with cpu:oracle long.txt
expect "if nothing can be translated, the reason is reported" eval 'ended_with 1 && complains "sentence 1: " && complains "there is no sentence to compare"'
run compare --model "$model" --device cpu --with cpu:oracle </dev/null
expect "an empty input is an error" refused "no sentence to compare"
run compare --model "$model" --device cpu --with '' five.txt
expect "an empty name is rejected" misused "--with: must not be empty"
run compare --model "$model" --devices '' five.txt
expect "also in a list" misused "--devices: must not be empty"
run compare --help
expect "0 means no limit" says "Only the first N sentences; 0: all"
run compare --model "$model" --device cpu --with no-such-device five.txt
expect "an unknown device is named" refused "no-such-device"
# Rounding to bfloat16 exceeds a tie for a trained but unsure model.
sed 's/"steps": 3,/"steps": 80,/; s/"warmup_steps": 3/"warmup_steps": 20/' tiny.json >unsure.json
"$headscope" train unsure.json --data data --output unsure >out 2>err
code=$?
expect "an unsure model is trained" ended_with 0
cut -f 1 data/train.tsv >many.txt
by_bf16() { run compare --model unsure/model --device cpu --precision bf16 --with cpu --max-extra 8 "$@" many.txt; }
by_bf16 --tie 1e-9
if complains "no fast BF16 products"; then
    echo "SKIPPED: devices that differ, since this CPU has no bfloat16 products to differ by"
else
    expect "more than a tie makes the exit code 1" ended_with 1
    expect "and is counted" complains "sentences differ by more than a tie"
    expect "the token, the choice and the scores are listed" grep -qE '^    cpu in bf16 chose .*: log P -[0-9.]+ on cpu in bf16, -[0-9.]+ on cpu$' out
    expect "under its source" grep -qE '^    source  [0-9]' out
    expect "as a difference" says "DIFFERENT, gap "
    cp out differing
    by_bf16 --tie 1000
    expect "a larger tie explains it" ended_with 0
    expect "and is reported as a tie" says ": a tie, gap "
    expect "for the same number of sentences" [ "$(grep -c ': a tie, gap ' out)" -eq "$(grep -c 'DIFFERENT, gap ' differing)" ]
fi

# -------------------------------------------------------------------------------------------------- bench
small="--encoder-layers 1 --decoder-layers 1 --d-model 32 --d-ff 64 --heads 2 --vocabulary 100 --sentences 2"
# shellcheck disable=SC2086 # several words
run bench translate $small --source-length 5 --target-length 7 --repeat 2 --beam 2
expect "translating is timed" says "target tokens/s"
# shellcheck disable=SC2086
run bench train $small --source-length 5 --target-length 7 --repeat 2 --steps 1 --dropout 0.2 --json
expect "training is timed" says '"target_tokens_per_second"'
expect "with the requested dropout" says '"dropout": 0.2'
expect "with the memory it took" says '"peak_resident_bytes"'
expect "and the share of the device's peak" says '"share_of_peak"'
expect "but no times of ops without --profile" not says '"profile"'
# shellcheck disable=SC2086
run bench train $small --source-length 5 --target-length 7 --repeat 1 --steps 1 --profile
expect "a profile has every op of a step" eval 'says "adam " && says "matmul " && says "smoothed_cross_entropy "'
add_up() { awk '/^op / { all = $(NF - 4) } / [0-9.]+%$/ { left += $3 } END { left -= all; exit !(all > 0 && left < 0.02 && left > -0.02) }' out; }
expect "whose times add up" add_up
expect "of a single step" grep -qE '^adam +1 ' out
expect "in the time of the device" says "device time: "
if [[ $usable != *vulkan* ]]; then
    echo "SKIPPED: a profile without timestamps: there is no Vulkan device"
else
    # shellcheck disable=SC2086
    HEADSCOPE_VULKAN_DISABLE=timestamps run bench train $small --source-length 5 --target-length 7 --repeat 1 --steps 1 --profile --device vulkan
    expect "without timestamps the host's time" says "host time, waiting for each op, because the device's queue has no timestamps"
fi
# shellcheck disable=SC2086
run bench train $small --config big --source-length 5 --target-length 7 --repeat 1 --steps 1 --json
expect "options change what a configuration chose, wherever they stand" eval 'says "\"d_model\": 32," && says "\"dropout\": 0.3"'
# shellcheck disable=SC2086
run bench train $small --adaptive-cutoffs 20,60 --source-length 5 --target-length 7 --repeat 1 --steps 1 --json
expect "an adaptive softmax is timed" says '"target_tokens_per_second"'
# shellcheck disable=SC2086
run bench translate $small --adaptive-cutoffs 20,60 --source-length 5 --target-length 7 --repeat 1 --json
expect "in translating, too" says '"target_tokens_per_second"'
# shellcheck disable=SC2086
run bench train $small --adaptive-cutoffs 20,5000 --source-length 5 --target-length 7 --repeat 1 --steps 1
expect "but not with a cluster beyond the vocabulary" refused '"output.adaptive.cutoffs" must ascend' "[20, 5000]"
run bench train --config huge
expect "an unknown configuration is rejected" misused "huge" "base"
run bench train --d-model 30 --heads 8
expect "an invalid shape is rejected" misused "--d-model 30"
run bench train --vocabulary 1000000 --sentences 1000000
expect "sizes that cannot fit are rejected at once" refused "GiB" "--sentences"
run bench translate --target-length 50000 --sentences 1000000
expect "translating, too" refused "GiB" "--sentences"

# Language models.
lm="--d-model 32 --d-ff 64 --heads 2 --vocabulary 100 --sentences 2 --target-length 7 --repeat 2"
for layers in "--encoder-layers 0 --decoder-layers 1" "--encoder-layers 1 --decoder-layers 0"; do
    # shellcheck disable=SC2086
    run bench train $lm $layers --steps 1 --profile
    expect "a language model is timed ($layers)" eval 'says "batch       2 texts of 7 tokens" && says "smoothed_cross_entropy "'
    expect "without a source" not says "source"
done
# shellcheck disable=SC2086
run bench complete $lm --config causal --encoder-layers 0 --decoder-layers 1 --source-length 5 --device cpu,cpu:oracle
expect "completing is timed on several devices" eval 'ended_with 0 && says "batch       2 prompts of 5 tokens, 7 new tokens each"'
expect "in tokens" grep -qE '^device +precision +tokens/s +ms/step' out
# shellcheck disable=SC2086
run bench complete $lm --decoder-layers 1 --source-length 5 --beam 2 --precision f16 --device cpu --profile --json
expect "with a beam, a precision, a profile and as JSON" holds '.bench == "complete" and .beam == 2 and .precision == "F16 weights" and (.profile | length) > 0 and .source_length == 5'
# shellcheck disable=SC2086
run bench complete $lm --decoder-layers 1 --adaptive-cutoffs 20,60 --source-length 5 --device cpu
expect "completing with an adaptive softmax is timed" ended_with 0
run bench complete --encoder-layers 1
expect "a model with an encoder is rejected" misused "causal language model" "bench translate"
run bench translate --config masked
expect "as translating is without a decoder" misused "encoder and decoder" "bench complete"
run bench train --encoder-layers 0 --decoder-layers 0
expect "a model needs layers" refused '"decoder_layers" must be a whole number from 1 to 1024, found 0'

# Several devices, taking turns.
lengths="--source-length 5 --target-length 7 --repeat 2"
# shellcheck disable=SC2086
run bench train $small $lengths --steps 1 --device cpu,cpu:oracle --json
expect "training is timed on several devices" ended_with 0
expect "with a result of each" holds '.results | map(.device) == ["cpu", "cpu:oracle"]'
expect "from equally many runs" holds '.results | map(.run_seconds | length) == [2, 2]'
expect "beside the CPU" holds '.results[0].ratio_to_cpu == 1 and .results[1].ratio_to_cpu > 0'
expect "and where it comes from" holds '.bench == "train" and (.headscope | test("^[0-9.]+$")) and (.date | test("^20..-..-..T..:..:..Z$"))'
expect "with the command to repeat it" holds '.command | startswith("headscope bench train ") and endswith("--device cpu,cpu:oracle --json")'
# shellcheck disable=SC2086
run bench translate $small $lengths --device cpu,abacus
expect "an unknown device makes the exit code 1" ended_with 1
expect "is named" complains 'abacus: unknown device "abacus"'
expect "in a line of the table" eval 'grep -qxE "abacus +FAILED: unknown device \"abacus\"" out && not says "There is"'
expect "and the other is timed" grep -qE '^cpu +F32 +[0-9]+ .* 1.00x$' out
# shellcheck disable=SC2086
run bench translate $small $lengths --device all+software --json
expect "all+software means every usable device" ended_with 0
expect "also software devices" [ "$(jq -r '.results[].device' out)" = "$("$headscope" devices --usable)" ]
# shellcheck disable=SC2086
HEADSCOPE_DEVICE=cpu,cpu:oracle run bench translate $small $lengths --json
expect "HEADSCOPE_DEVICE may name several" holds '.results | map(.device) == ["cpu", "cpu:oracle"]'
# shellcheck disable=SC2086
run bench translate --model "$model" $lengths --device cpu --json
expect "a model's sizes" holds '.d_model == 32 and .d_ff == 64 and .heads == 2 and .encoder_layers == 1 and .vocabulary == 96'
# shellcheck disable=SC2086
run bench translate --model "$model" $lengths --d-model 64 --device cpu --json
expect "which options change" holds '.d_model == 64 and .d_ff == 64'
run bench train --model "$model" --config base
expect "--model takes one model" misused "--model"
run bench train --model no-such-model
expect "which must exist" refused "no-such-model"

ops() { run bench ops --model "$model" --sentences 2 --length 3 --size 8 --repeat 2 "$@"; }
ops --device cpu,cpu:oracle --json
expect "every op is timed on several devices" ended_with 0
expect "in every family" holds '[.ops[].family] | unique | length == 18'
expect "on each" holds '[.ops[].results | map(.device) == ["cpu", "cpu:oracle"]] | all'
expect "with --repeat" holds '[.ops[].results[].run_seconds | length == 2] | all'
expect "and is right" holds '[.ops[].results[] | .compared_with == "cpu:oracle" and .share_of_tolerance <= 1] | all'
expect "with numbers" holds '[.ops[].results[] | .median_seconds > 0 and (.gflops_per_second // .gigabytes_per_second) > 0 and .ratio_to_cpu > 0] | all'
expect "in the model's shapes" holds '[.ops[] | select(.op == "matmul") | .shape] | index("8x8x8 nt") and index("6x64x32 nt") and index("1x96x32 nt")'
expect "and where it comes from" holds '.bench == "ops" and .repetitions == 2 and (.date | test("Z$")) and (.devices[0] | .id == "cpu" and .driver != "")'
ops --device cpu,cpu:oracle --op matmul --op loss
expect "some ops as a table" ended_with 0
expect "with a ratio to the CPU" grep -qE '^matmul +8x8x8 nn +GFLOP/s +[0-9.]+ +1.00x +[0-9.]+ +[0-9.]+x$' out
expect "and nothing else" not says "adam"
ops --device cpu --op search
expect "for one device without ratios" grep -qE '^gather_rows +8x2x3x16 +GB/s +[0-9.]+$' out
ops --device cpu,abacus --op search
expect "an unknown device makes the exit code 1" ended_with 1
expect "is named" complains 'abacus: unknown device "abacus"'
expect "in a line of the table" eval 'grep -qxE "abacus +FAILED: unknown device \"abacus\"" out && not says "There is"'
expect "and the other is timed" says "gather_rows"
ops --op matmull
expect "an unknown op is rejected" refused '"matmull"' 'did you mean "matmul"?' "masked_softmax"
ops --op softmax
expect "a part of a name is completed" refused '"softmax"; did you mean "masked_softmax"?'
ops --op ''
expect "an empty name is rejected" misused "--op: must not be empty"
ops --device cpu --precision f16 --op matmul
expect "weights in 16 bits if the device supports only those" ended_with 0
expect "with products with weights only" grep -qE '^matmul +8x8x8 nt ' out
ops --device cpu --precision tf32 --op matmul
expect "a precision that the device lacks" refused "--precision tf32"
ops --device all+software --op search --json
expect "all+software means every device" [ "$(jq -r '.devices[].id' out)" = "$("$headscope" devices --usable)" ]

# ---------------------------------------------------------------------------------------------- make-task
run make-task digits --output all --pairs 900000 --valid 50000 --test 50000
expect "all existing numbers can be generated" ended_with 0
expect "each once" [ "$(LC_ALL=C sort -u all/train.tsv all/valid.tsv all/test.tsv | wc -l)" -eq 1000000 ]
run make-task digits --output negative --seed -1
expect "a negative seed is rejected" complains "--seed"
expect "without writing a file" [ ! -e negative ]
printf 'b\xff\ta\n' >bad.tsv
run evaluate --hypotheses /dev/stdin --reference input.txt <bad.tsv
expect "invalid UTF-8 in standard input is an error" complains "standard input line 1"


# -------------------------------------------------------------------------------- several devices at once
run translate --model "$model" --device cpu --max-extra 8 input.txt
cp out alone
run translate --model "$model" --device cpu,cpu --max-extra 8 --stats input.txt
expect "two devices translate like one" same out alone
expect "and statistics list each device" complains "cpu (2): "
run translate --model "$model" --device all --max-extra 8 input.txt
expect "so do all" same out alone
HEADSCOPE_DEVICE=cpu,cpu run translate --model "$model" --max-extra 8 --stats input.txt
expect "HEADSCOPE_DEVICE may name several" eval 'same out alone && complains "cpu (2): "'
HEADSCOPE_DEVICE=all run translate --model "$model" --max-extra 8 input.txt
expect "or all" same out alone
HEADSCOPE_DEVICE=cpu,cpu run attention --model "$model" --text '1 7'
expect "but not for commands that take one device" refused 'HEADSCOPE_DEVICE is "cpu,cpu"' "name it by --device"
run translate --model "$model" --device cpu,abacus input.txt
expect "an unknown one is rejected" refused 'unknown device "abacus"'
run translate --model "$model" --device cpu,,cpu input.txt
expect "and an empty one" misused "names an empty device"
run translate --model "$model" --device cpu,all input.txt
expect "and all in a list" misused "--device cpu,all" "give all alone"
for several in all cpu,cpu; do
    run attention --model "$model" --text '1 7' --device "$several"
    expect "$several is rejected where one device is needed" refused "\"$several\"" "this takes one device"
done
run translate --model "$model" --device cpu,cpu --alignments input.txt
expect "alignments take one device" misused "--alignments needs a single --device"
if ! grep -qx vulkan:0 <<<"$usable"; then
    echo "SKIPPED: devices that are lost: there is no Vulkan device"
else
    HEADSCOPE_VULKAN_LOST_AT=2 run translate --model "$model" --device vulkan --max-extra 8 input.txt
    expect "a device that is lost twice is an error" ended_with 1
    expect "that says what was running" grep -qE '^headscope: the GPU was lost .*; it was running .*embed' err
    lost_at() { # SUBMISSION ARGS..: every Vulkan device is lost at that one
        HEADSCOPE_VULKAN_LOST_AT=$1 run "${@:2}"
    }
    # The shipped model takes several submissions to be read.
    shipped=$repository/assets/models/en-de
    printf 'Good morning!\n' >morning.txt
    run translate --model "$shipped" --device cpu --greedy morning.txt
    cp out morning
    for at in 1 3; do
        lost_at "$at" translate --model "$shipped" --device vulkan,cpu --greedy morning.txt
        expect "a device lost while loading the model is reopened" complains "reopened vulkan:0 after a failure: "
        expect "and skipped if it is lost again" complains "skipping vulkan:0: the GPU was lost"
        expect "and another does all the work" same out morning
    done
    lost_at 1 translate --model "$shipped" --device vulkan --greedy morning.txt
    expect "without another device that is an error" eval 'ended_with 1 && quiet && complains "headscope: the GPU was lost"'
    lost_at 1 translate --model "$shipped" --device vulkan,abacus --greedy morning.txt
    expect "an unknown device is still rejected" eval 'ended_with 1 && complains "unknown device \"abacus\""'
    lost_at 1 translate --model "$shipped" --device vulkan,vulkan --greedy morning.txt
    expect "if all are lost, that is reported once" [ "$(grep -c '^headscope: the GPU was lost' err)" -eq 1 ]
    expect "and none is skipped" not complains "skipping"
    HEADSCOPE_VULKAN_MAX_MEMORY=20 run translate --model "$shipped" --device vulkan,cpu --greedy morning.txt
    expect "a device without memory for the model is skipped" complains "skipping vulkan:0: out of memory"
    expect "and another does all the work" same out morning
    HEADSCOPE_VULKAN_MAX_MEMORY=20 run translate --model "$shipped" --device vulkan --greedy morning.txt
    expect "without another device that is an error" refused "out of memory on vulkan:0"
    run translate --model cut --device vulkan,cpu input.txt
    expect "an unreadable model is reported once" refused "cut/model.safetensors"

    # Later and later, until no batch is lost twice.
    lost_now_and_then() { # ARGS..
        local at
        for at in 6 9 13 19 28 42 63 94 141 211 316 474 711 1066 1600 2400 3600; do
            lost_at "$at" "$@"
            if "$until"; then break; fi
        done
    }
    until=well_ended
    well_ended() { ended_with 0; }
    again="reopened vulkan:0 after a failure: the GPU was lost"
    cut -f 1 data/train.tsv | head -n 40 >forty.txt
    cut -f 2 data/train.tsv | head -n 40 >forty.target
    run translate --model "$model" --device cpu --max-extra 8 --batch-tokens 64 forty.txt
    cp out forty
    lost_now_and_then translate --model "$model" --device vulkan --max-extra 8 --batch-tokens 64 forty.txt
    expect "a device that is lost sometimes is reopened" complains "$again"
    expect "and loses no line" same out forty
    run translate --alignments --model "$model" --device cpu --max-extra 8 --batch-tokens 64 forty.txt
    cp out aligned
    lost_now_and_then translate --alignments --model "$model" --device vulkan --max-extra 8 --batch-tokens 64 forty.txt
    expect "also one that reads weights in between" [ "$(grep -c "$again" err)" -ge 2 ]
    expect "with all results" same out aligned
    # Enough lines that a slow device gets some of each window, also beside the slow oracle.
    for _ in $(seq 6); do cat forty.txt; done >several.txt
    for _ in $(seq 6); do cat forty; done >several
    until=partly_done
    partly_done() { grep -qE '^vulkan:0: [1-9][0-9]* sentence' err && { complains "$again" || complains "vulkan:0 failed"; }; }
    lost_now_and_then translate --model "$model" --device vulkan,cpu:oracle --max-extra 8 --batch-tokens 64 --stats several.txt
    expect "beside another device it has done some work when it is lost" partly_done
    expect "as has the other" grep -qE '^cpu:oracle: [1-9][0-9]* sentence' err
    expect "and no line is lost" same out several
    both_again() { complains "$again" && complains "reopened vulkan:0 (2)"; }
    both_worked() { grep -qE '^vulkan:0: [1-9]' err && grep -qE '^vulkan:0 .2.: [1-9]' err; }
    until=both_done
    both_done() { ended_with 0 && both_again && both_worked; }
    lost_now_and_then translate --model "$model" --device vulkan,vulkan --max-extra 8 --batch-tokens 64 --stats several.txt
    until=well_ended
    expect "two devices that are lost sometimes are reopened" both_again
    expect "and both work" both_worked
    expect "and lose no line" same out several

    run evaluate --source forty.txt --reference forty.target --model "$model" --max-extra 8 --batch-tokens 64 --device vulkan
    cp out evaluated
    lost_now_and_then evaluate --source forty.txt --reference forty.target --model "$model" --max-extra 8 --batch-tokens 64 --device vulkan
    expect "evaluate also reopens the device" [ "$(grep -c "$again" err)" -ge 2 ]
    expect "with the same result" same out evaluated
    for _ in $(seq 70); do cat forty.txt; done >many.txt
    for _ in $(seq 70); do cat forty.target; done >many.target
    run score --model "$model" --source many.txt --target many.target --device vulkan
    cp out scored
    lost_now_and_then score --model "$model" --source many.txt --target many.target --device vulkan
    expect "score also reopens the device" complains "$again"
    expect "with the same result" same out scored
    lost_twice() { ended_with 1 && quiet && complains "$again" && complains "headscope: the GPU was lost"; }
    lost_at 2 attention --model "$model" --device vulkan --text '4 2'
    expect "attention repeats once only" lost_twice
    HEADSCOPE_VULKAN_MAX_MEMORY=1 run compare --model "$shipped" --devices cpu,vulkan,cpu:oracle --look 1 morning.txt
    expect "one of several compared devices may fail" complains "headscope: vulkan:0 failed: out of memory"
    expect "which its line reports" grep -qE '^vulkan:0 +FAILED  out of memory' out
    expect "and the exit code" eval 'ended_with 1 && complains "headscope: vulkan:0 was not compared"'
    expect "the others have their lines" grep -qE '^cpu:oracle +[0-9.]+ +1 ' out
    expect "and their weights" [ "$(grep -cE '^cpu:oracle +[0-9]' out)" -eq 2 ]
    HEADSCOPE_VULKAN_MAX_MEMORY=1 run compare --model "$shipped" --devices cpu,vulkan,cpu:oracle --look 1 --json morning.txt
    expect "also in JSON" holds '.devices | map([.device, .agrees, has("failure")]) == [["vulkan:0", false, true], ["cpu:oracle", true, false]]'
    HEADSCOPE_VULKAN_MAX_MEMORY=1 run compare --model "$shipped" --devices vulkan,cpu,cpu:oracle morning.txt
    expect "but not the reference" refused "out of memory on vulkan:0"
    # Later and later, until it is lost while others are compared with it.
    for at in 10 20 30 40 60 80 100 130 170 220 290 380 500 650 850 1100 1400; do
        lost_at "$at" compare --model "$model" --max-extra 8 --devices vulkan,cpu,cpu:oracle --look 40 --json forty.txt
        if [ -s out ]; then break; fi
    done
    expect "the reference may be lost later" complains "headscope: the reference vulkan:0 failed: "
    expect "which does not count as another device's failure" holds '.reference_failure and (.agrees | not) and (.devices | map(.agrees, .failure != "not compared") | any | not)'
    expect "and an error" eval 'ended_with 1 && complains "headscope: the reference vulkan:0 failed; cpu was not compared"'
    lost_at 2 compare --model "$model" --device vulkan forty.txt
    expect "compare repeats once only" lost_twice
fi

finish "the commands do as expected"
