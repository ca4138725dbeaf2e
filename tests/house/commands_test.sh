#!/usr/bin/env bash
# headscope devices, inspect and attention as a user meets them, on a model trained for three steps.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/commands.sh"

lines() { [ "$(grep -cF -- "$2" "$1")" -eq "$3" ]; }

# ------------------------------------------------------------------------------------------------ devices
run devices
expect "devices lists the CPU" says cpu
expect "one is the default" lines out "(default)" 1
run devices --usable
expect "the CPU is usable" grep -qx cpu out
run devices --json
expect "as JSON, too" says '"id": "cpu"'
expect "with the version of its keys" says '"schema": 1'
expect "with one default" lines out '"default": true' 1
HEADSCOPE_DEVICE=vulkan:99 run devices
expect "an unusable default is reported" says 'HEADSCOPE_DEVICE is "vulkan:99"'
expect "and is not an error of the list" ended_with 0
HEADSCOPE_DEVICE=cpu run devices
expect "a usable default is marked" grep -qx 'cpu  (default)' out
HEADSCOPE_CUDA_DRIVER=/nowhere/libcuda.so run devices
expect "a missing driver that was configured is reported" says "HEADSCOPE_CUDA_DRIVER names it: unset it"
run devices --help
expect "--help mentions the oracle" says "cpu:oracle"
expect "and the default before the examples, which end it" \
    [ "$(grep -n -e HEADSCOPE_DEVICE -e '^Examples:' out | sed 's/.*\(HEADSCOPE_DEVICE\|Examples\).*/\1/' | paste -sd ' ')" = "HEADSCOPE_DEVICE Examples" ]
"$headscope" devices --json >/dev/full 2>err
code=$?
expect "a full disk is an error" ended_with 1
expect "that is named" complains "standard output"

# ----------------------------------------------------------------------------------------- the command line
run --version
built='headscope [0-9]+\.[0-9]+\.[0-9]+ \(commit ([0-9a-f]{10}|unknown); cpu, cuda(, vulkan)?; [A-Za-z]+ [0-9.]+\)'
expect "--version prints what was built" grep -qxE "$built" out
cp out version
run -V
expect "so does -V" same out version
run translate --version
expect "also after a command" same out version
run --help
expect "--help shows examples" says "  headscope translate --text 'The weather is nice today.'"
run --help
cp out help
for words in "" help "help --help"; do
    # shellcheck disable=SC2086 # one word or none
    run $words
    expect "headscope $words prints the same" same out help
    expect "and is no error" ended_with 0
done
run translate --help
cp out help
run help translate
expect "headscope help translate is headscope translate --help" same out help
run help bench train
expect "also of a command's command" says "headscope bench train"
run version
expect "headscope version prints the same" same out version
run help trainslate
expect "help for a misspelled command gets a suggestion" misused '"trainslate"; did you mean "translate"?'
run bench
expect "a missing command of a command is an error" misused "headscope bench --help lists the commands"
run trainslate
expect "a misspelled command gets a suggestion" misused '"trainslate"; did you mean "translate"?'
run xyzzyx
expect "any other word gets advice" misused '"xyzzyx"; headscope --help lists them'
run --verbatim
expect "and an unknown option" misused '"--verbatim"'
run bench trian
expect "and a subcommand" misused 'headscope bench has no command "trian"; did you mean "train"?'
for asked in --help --version; do
    run trainslate $asked
    expect "as without $asked" misused '"trainslate"; did you mean "translate"?'
done
run bench trian --help
expect "also for a subcommand" misused 'headscope bench has no command "trian"; did you mean "train"?'
run make-task nothing --help
expect "whichever it is" misused 'headscope make-task has no command "nothing"'
run --bogus foo --help
expect "also an unknown option" misused '"--bogus"'
run --help --output x foo
expect "wherever --help stands" misused '"--output"'
run foo translate --help
expect "and a word before a command" misused '"foo"'
run translate --bogus --help
expect "and an option that the command lacks" misused 'headscope translate has no option "--bogus"'
run make-task --help
expect "make-task shows how" says "headscope make-task digits --output data/digits"
run translate --bogus
expect "an unknown option of a command is rejected" misused 'headscope translate has no option "--bogus"; headscope translate --help lists them'
run translate --baem=4
expect "a misspelled option gets a suggestion" misused 'has no option "--baem"; did you mean "--beam"?'
run --device cpu translate
expect "an option before the command is rejected" misused '"--device" belongs after the command: headscope translate --device'
run -z
expect "an unknown letter is rejected" misused 'headscope has no option "-z"'
run translate --beam zero
expect "an invalid value is rejected with the valid range" \
    misused "--beam: must be a whole number from 1 to 30, got zero; headscope translate --help explains it"
run attention --text 'The cat sleeps.' --least 0.3 --top 1 -o strong.svg
run attention --text 'The cat sleeps.' -o every.svg
lines_in() { grep -c '<line' "$1"; }
expect "--least and --top draw fewer lines" [ "$(lines_in strong.svg)" -lt "$(lines_in every.svg)" ]
run attention --text 'The cat sleeps.' --least 0.3
expect "and are refused where no line is drawn" misused "give -o FILE.svg"
run attention --text 'The cat sleeps.' --word cat --heads 1 --numbers -o numbers.svg
expect "--numbers writes a word's weights" grep -q '<g class="values">' numbers.svg
run attention --text 'The cat sleeps.' --kind cross --probabilities -o shaded.svg
expect "--probabilities shades the words of a translation" [ "$(grep -c 'probability [01]\.[0-9]*</title>' shaded.svg)" -ge 3 ]
run attention --text 'The cat sleeps.' --kind cross --json
# shellcheck disable=SC2016 # jq's variables
expect "JSON has them" eval 'jq -e ".query_probabilities | length >= 3 and all(. > 0 and . <= 1)" out >shown'
run attention --text 'The cat sleeps.' --kind encoder --probabilities -o shaded.svg
expect "which others have not" misused "--probabilities are those of words that the model wrote"
run attention --text 'The cat sleeps.' --numbers -o numbers.svg
expect "but of no word there are none" misused "give --word, --position, --class-token or --find"
run attention --text 'The cat sleeps.' -o page.html
expect "a page says what each line stands for" grep -q 'class="line" data-query="0" data-key="0" data-head="1"' page.html
run attention --text 'The cat sleeps.' --lens -o lens.svg
expect "the lens is drawn" grep -q 'What the model would write after each layer' lens.svg
run attention --text 'The cat sleeps.' --saliency --theme dark -o saliency.png
expect "and saliency" eval 'ended_with 0 && [ -s saliency.png ]'
run attention --text 1 --layer 0
expect "the minimum is reported without a maximum" misused "--layer: must be a whole number from 1 to 2147483647, got 0"
run translate --sample --seed 99999999999999999999
expect "a seed has 64 bits" misused "--seed: must be a whole number from 0 to 18446744073709551615, got 99999999999999999999"
run complete --samples 2 a
expect "options that need others are usage errors" misused "--samples needs --sample"
run translate 'Hello world.'
expect "a text where a file is expected gets advice" \
    refused "there is no file 'Hello world.'; to give a text instead: headscope translate --text 'Hello world.'"
expect "which is no error of usage" ended_with 1
echo "it's 5" >reference
run evaluate --reference reference --hypotheses "it's"
expect "also one of an option" refused "echo 'it'\\''s' | headscope evaluate --hypotheses -"
for words in tokenize compare; do
    run "$words" 'Hello world.'
    expect "headscope $words says what to do" refused "headscope $words --text 'Hello world.'"
done
for words in "complete --file" "score --text" "evaluate --tsv" "trees linearise" "evaluate --text"; do
    # shellcheck disable=SC2086
    run $words 'Hello world.'
    expect "headscope $words says what to do" refused "echo 'Hello world.' | headscope $words"
done
run translate gone/there.txt
expect "what looks like a file gets none" refused "cannot read 'gone/there.txt'"
expect "of that kind" [ "$(grep -c echo err)" -eq 0 ]
run translate --beam 010
expect "octal numbers are rejected" misused "--beam: must be a whole number from 1 to 30, got 010"
run translate --beam
expect "an option without its value is rejected" misused "--beam: expected a value, found none; headscope translate --help explains it"
run translate --beam 2 --beam 3
expect "and one given twice" misused "--beam: expected 1 value, found 2: give it once"
run translate --greedy=3
expect "and a flag with a value" misused "--greedy takes no value"
for command in attention compare evaluate translate tune view "bench train"; do
    # shellcheck disable=SC2086 # two words
    run $command --device ''
    expect "headscope $command with an empty device is rejected" misused "--device: must not be empty"
done
for command in train "bench train"; do
    # shellcheck disable=SC2086
    run $command --help
    expect "headscope $command --help lists its precisions" says "{f32,tf32,bf16,f16}"
    # shellcheck disable=SC2086
    run $command --precision i8
    expect "and rejects others" misused "--precision: i8 not in"
done
run bench translate --help
expect "translate has those of weights too" says "{f32,tf32,bf16,f16,i8,q8,q4}"
for asked in --help --version "devices --help"; do
    # shellcheck disable=SC2086
    "$headscope" $asked >/dev/full 2>err
    code=$?
    expect "headscope $asked on a full disk is an error" ended_with 1
    expect "that is named" complains "standard output"
done
HEADSCOPE_VULKAN_DISABLED=tuning run --version
expect "a misspelled variable is reported" complains 'unknown environment variable HEADSCOPE_VULKAN_DISABLED; did you mean HEADSCOPE_VULKAN_DISABLE?'
expect "without ending the program" ended_with 0
HEADSCOPE_SOMETHING=1 HEADSCOPE_TEST_DEVICES=cpu run --version
expect "others are ignored" [ ! -s err ]
while IFS= read -r name; do
    expect "the variable $name is known" grep -qF -- "$name" "$repository"/src/options/environment.cpp "$repository"/backends/vulkan/{vulkan_backend,device/switches}.cpp
done < <(grep -rhoE '"HEADSCOPE_[A-Z0-9_]+"|\b(settings|environment)\.(get|has|on)\("[A-Z0-9_]+"' "$repository"/{src,backends,viewer} \
    --include='*.cpp' --include='*.h' --exclude=environment.cpp | grep -oE '"[A-Z0-9_]+"' | sort -u)
while IFS= read -r name; do
    expect "the variable $name is documented" grep -qF -- "| \`$name" "$repository/docs/environment.md"
done < <(grep -oE 'HEADSCOPE_[A-Z0-9_]+' "$repository/src/options/environment.cpp" | sort -u)

# Options of all commands.
cp "$repository/assets/examples/everyday.en" everyday.en
run translate --greedy everyday.en
cp out plain
run translate --greedy --quiet everyday.en -o written.de
expect "-o names the file of the translations" eval 'ended_with 0 && quiet && same written.de plain'
head -n 1 everyday.en >one.en
run -q translate --greedy one.en -o written.de
expect "which are then all that is in it" eval 'ended_with 0 && [ "$(wc -l <written.de)" -eq 1 ]'
run translate --greedy one.en -o one.en
expect "but not the file that is read" refused "one.en"
expect "which stays as it was" same one.en <(head -n 1 everyday.en)
run translate --greedy --text "$(cat one.en)"
expect "--text is the text itself" eval 'ended_with 0 && [ "$(cat out)" = "$(head -n 1 plain)" ]'
run translate --text a one.en
expect "and excludes a FILE" misused "--text"
run translate --greedy --verbose one.en
expect "--verbose reports the model" complains "en-de: translation model, 9,935,616 parameters"
expect "and the device" complains "headscope: device cpu: "
run --verbose --quiet devices
expect "--quiet and --verbose exclude each other" misused "--quiet"
printf '\xef\xbb\xbf' | cat - one.en >marked.en
run translate --greedy marked.en
expect "a note is printed" complains "byte order mark"
run translate --greedy -q marked.en
expect "but not with --quiet" [ ! -s err ]
run -q translate --baem
expect "an error is printed even so" misused "--baem"
run --color always translate --baem
expect "errors are red with --color always" complains $'\e[31mheadscope:\e[0m headscope translate has no option'
run --color always translate --greedy marked.en
expect "and notes dim" complains $'\e[2mheadscope: '
if command -v script >/dev/null; then
    on_terminal() { script -qec "$*" /dev/null; }
    on_terminal "$headscope" translate --baem >shown
    expect "a terminal has colours" grep -qF $'\e[31m' shown
    for how in NO_COLOR=1 TERM=dumb; do
        on_terminal env "$how" "$headscope" translate --baem >shown
        expect "but not with $how" not grep -qF $'\e[' shown
    done
    printf '\004' | on_terminal "$headscope" translate --greedy >shown
    expect "what is read from a terminal ends with Ctrl-D" grep -qF "reading from the terminal; Ctrl-D ends" shown
else
    echo "SKIPPED: script is missing"
fi
run inspect -m en-causal
expect "a bundled model is found by its name" eval 'ended_with 0 && says models/en-causal'
run inspect en-cuasal
expect "a misspelt one gets a suggestion" refused "(en-causal, en-de, en-masked, en-trees); did you mean 'en-causal'?"
run view en-causal --render causal.svg
expect "also by headscope view" ended_with 0

run inspect en-de --json
expect "inspect has all keys as JSON" [ "$(jq '.keys["attention.heads"]' out)" = 8 ]
run complete Could
cp out plain
run complete Could -o completed
cp completed kept
run complete -o completed --help
expect "--help leaves that file alone" same completed kept
run complete Could -o completed
expect "complete writes to a file" eval 'ended_with 0 && quiet && same completed plain'
run score --source one.en --target one.en
cp out plain
run score --source one.en --target one.en -o scored
expect "so does score" eval 'ended_with 0 && quiet && same scored plain'

# The keys of JSON.
documented() { # COMMAND..: whether docs/command-line.md has each key
    local key
    [ "$(jq -s '.[0].schema' out)" = 1 ] || return 1
    jq -r 'keys_unsorted[]' out | sort -u >keys
    while read -r key; do grep -qF "\`$key\`" "$repository/docs/command-line.md" || return 1; done <keys
    [ "$(wc -l <keys)" -gt 1 ]
}
while read -r words; do
    # shellcheck disable=SC2086
    run $words --json
    expect "docs/command-line.md has the keys of headscope $words --json" eval 'ended_with 0 && documented'
done <<'TEXT'
translate --greedy one.en
translate --n-best 2 --alignments one.en
tokenize one.en
complete Could
fill -m en-masked --top 1 She[MASK].
score --source one.en --target one.en
compare -d cpu --with cpu:oracle --look 0 one.en
inspect en-de
inspect en-de --sites
devices
conform -d cpu --op fill --quick --no-speed
bench ops -d cpu --op fill --repeat 1
TEXT

run devices gpu
expect "an extra word is rejected" misused 'headscope devices: unexpected argument "gpu"'
run data
expect "and a missing option" misused "required" "headscope data --help explains it"

# ---------------------------------------------------------------------------------------------- attention
run make-task digits --output data --pairs 300 --valid 4 --test 4
expect "a task is generated" ended_with 0
grep -v cooldown_steps "$repository/assets/configs/digits.json" >three-steps.json
run train three-steps.json --data data --output run --device cpu --steps 3
expect "and a model is trained" ended_with 0

run inspect run/model
expect "inspect lists the configuration" grep -qE '^    attention.heads +4$' out
expect "its path first" grep -qx "run/model" out
expect "with its parameters" grep -qE '^    parameters +[1-9][0-9]+$' out
cp out inspected
run inspect --model run/model
expect "also with --model" same out inspected
run inspect run/model --model run/model
expect "but not both" misused "--model"
run inspect run/model --key encoder_layers
expect "or a single value" grep -qx 2 out
expect "without its key" [ "$(wc -l <out)" -eq 1 ]
run inspect run/model --key norm.placement
expect "strings without quotes" grep -qx post out
run inspect run/model --sites
expect "inspect lists the sites of the model" grep -qx decoder.0.cross_attention.z out
expect "the logits last" [ "$(tail -n 1 out)" = logits ]
run inspect run/model --key haeds
expect "an unknown key" misused "'haeds'"
run inspect nowhere
expect "a missing model" refused nowhere

look() { run attention --model run/model --device cpu --text "1 7 4 7" "$@"; }

look
expect "without -o there is a table" says "Input-Input Layer2: the strongest key of each head"
run attention --model "$repository/assets/models/en-de" --device cpu --text "It is late."
expect "of the paper's layer, the fifth of six, where the model has it" says "Input-Input Layer5: the strongest key of each head"
expect "of all four heads" says "head 4"
expect "of every token" says "<EOS>"
look --layer 1 --heads 2,3 --word 7:2 -o figure.svg
expect "a figure is written" grep -q '^</svg>$' figure.svg
expect "of one layer" grep -qF "Input-Input Layer1" figure.svg
expect "with one selected cell" lines figure.svg 'fill="#d3d3d3"' 1
expect "and nothing on standard output" quiet
look --layer 1 --heads 2,3 --word 7:2 -o -
expect "- is standard output" same out figure.svg
look --word 7 -o both.svg
expect "a word that occurs twice is selected twice" lines both.svg 'fill="#d3d3d3"' 2
look --pads 3 -o pads.svg
expect "pads are shown on request" lines pads.svg '&lt;pad&gt;</text>' 6
look --kind cross --target "eins sieben" -o cross.svg
expect "cross-attention of a given target" grep -qF "Output-Input Layer2" cross.svg
look --kind decoder
expect "the decoder's attention of its own translation" says "Output-Output Layer2"
look --palette okabe-ito --heads 1 -o colours.svg
expect "the other palette" grep -qF 'stroke="#0072b2"' colours.svg
look --layer 1 --heads 2 --matrix -o matrix.svg
expect "one head as a matrix" grep -qF "Input-Input Layer1, head 2" matrix.svg
expect "with the cells" grep -qF '<g class="cells"' matrix.svg
look --layer 1 --heads 2 --matrix
expect "as numbers" [ "$(awk -F '\t' '{ print NF }' out | sort -u | tr -d '\n')" = 6 ]
look --all-heads --sort sharpness
expect "every head's statistics" [ "$(wc -l <out)" -eq 9 ]
look --all-heads -o heads.svg
expect "every head small" [ "$(grep -cE '>L[12] H[1-4]</text>' heads.svg)" -eq 8 ]
look --all-heads -o - --format json
expect "the whole record as JSON" grep -qF '"format":"headscope attention record"' out
look --layer 1 --heads 2 -o figure.json
expect "a figure as JSON" grep -qF '"title":"Input-Input Layer1"' figure.json
look --layer 1 --heads 2 --scale 1 -o small.png
look --layer 1 --heads 2 --theme dark -o - --format png
expect "a PNG on standard output" [ "$(head -c 4 out | tail -c 3)" = PNG ]
expect "larger than at scale 1" [ "$(wc -c <out)" -gt "$(wc -c <small.png)" ]
look --find link=1,4 --best 2 --word 1 -o found.svg
expect "a search reports its results" grep -qE '^layer [12], head [1-4]: 1 → 4 0\.[0-9]{2}$' err
cp err best
expect "and draws it" lines found.svg 'fill="#d3d3d3"' 1
look --find link=1,4 --rank 2 --word 1 -o second.svg
expect "or another result further down" eval '! grep -qxFf <(sed -n "s/^\(layer [12], head [1-4]\): 1 → 4.*/\1/p" best) err && grep -qE "^layer [12], head [1-4]: 1 → 4" err'
look --text-size 20 --heads 1 -o large.svg
expect "another text size" grep -qF 'font-size="20"' large.svg
look --kind decoder --beam 1
cp out greedy
look --kind decoder --beam 3
expect "--beam applies to the model's translation" eval 'ended_with 0 && [ -s greedy ]'
look --theme dark -o dark.svg
expect "the dark theme" grep -qF 'fill="#1d1f23"' dark.svg
if command -v xmllint >/dev/null; then
    for file in *.svg; do
        expect "$file is well-formed" xmllint --noout "$file"
    done
fi

look --layer 7
expect "a layer that does not exist" refused "must be between 1 and 2"
look --heads 0
expect "head 0" refused "head must be between 1 and 4"
for option in --heads --position; do
    look "$option" 5-7
    expect "a range of $option is rejected" not ended_with 0
    expect "with the expected form" complains 'must be numbers separated by commas, such as 1,5, got "5-7"'
done
look --word 9
expect "a missing word" refused "is not among: 1 7 4 7 <EOS>"
look --kind sideways
expect "an unknown kind" refused "encoder, decoder or cross"
look -o figure.bmp
expect "an unknown format" misused "use .svg, .png, .pdf, .html or .json"
look -o - --format bmp
expect "also on standard output" misused "use .svg, .png, .pdf, .html or .json"
look -o figure.svg --format svg
expect "--format with a file" misused "--format is only for -o -"
look --matrix -o matrix.svg
expect "a matrix of every head" misused "a matrix shows one head, but 4 are selected"
look --find nonsense
expect "an unknown search" misused "anaphora=WORD"
look --find anaphora=9
expect "a search for a missing word" refused "is not among: 1 7 4 7 <EOS>"
look --find long-distance --rank 99
expect "a rank out of range" misused "--rank 9" "the search found"
look --all-heads --sort size
expect "an order that there is not" refused "entropy, distance, sharpness, diagonal"
look --text-size nan
expect "an invalid text size" misused "--text-size: must be a number from 1 to 1000, got nan"
look --scale nan -o huge.png
expect "an invalid scale" misused "--scale: must be a number from 0.05 to 100, got nan"
look --scale 90 --text-size 900 -o huge.png
expect "a bitmap that is too large" refused "a scale of"
expect "which leaves no file" not [ -e huge.png ]
look --kind cross --pads 2
expect "pads while translating" misused "--target"
look -o missing/figure.svg
expect "a folder that does not exist" refused "missing/figure.svg"
run attention --model nowhere --device cpu --text 1
expect "an unknown model" refused nowhere
run attention --model run/model --device cpu --text "  "
expect "an empty text" misused "--text is empty"
run attention --model run/model --device cpu --text $'\xff'
expect "invalid UTF-8" refused "UTF-8"
run attention --model run/model --device cpu --text "$(printf '1 %.0s' $(seq 100))"
expect "a text that is too long" refused "at most 64"
run attention --model run/model
expect "a missing option is a usage error" not ended_with 0
expect "that names it" complains "--text"

# --------------------------------------------------------------------------------- translations and their scores
cut -f 1 data/test.tsv >source.txt
run translate --model run/model --max-extra 8 source.txt
cp out translations
run translate --model run/model --max-extra 8 --precision f32 source.txt
expect "F32 is the default" eval 'ended_with 0 && same out translations'
run evaluate --model run/model --max-extra 8 --tsv data/test.tsv --beam 1 --output searched
run evaluate --model run/model --max-extra 8 --tsv data/test.tsv --greedy --output greedy
expect "greedy equals a beam of 1" eval 'ended_with 0 && same greedy searched'
run score --model run/model --device cpu --tsv data/test.tsv
expect "pairs are scored on the given device" [ "$(wc -l <out)" -eq 4 ]
run score --model run/model --device cpu:oracle --tsv data/test.tsv
expect "also on another" [ "$(wc -l <out)" -eq 4 ]
run compare --model run/model --devices cpu,cpu:oracle --max-extra 8 --batch-tokens 1 source.txt
expect "two devices also agree one sentence at a time" says "translate 4 of 4 sentences identically"

# ------------------------------------------------------------------------------------------------- benchmarks
one_layer="--encoder-layers 1 --decoder-layers 1 --source-length 3 --target-length 3 --sentences 2 --repeat 1"
# shellcheck disable=SC2086 # several words
run bench train --model run/model $one_layer --steps 1 --device cpu --json
expect "a step of a model's width is timed" [ "$(jq .d_model out)" -eq "$("$headscope" inspect run/model --key d_model)" ]
# shellcheck disable=SC2086
run bench translate --config base $one_layer --device cpu --profile
expect "translating is profiled in the paper's sizes" eval 'ended_with 0 && says "matmul " && says "512"'
run bench ops --config base --op loss --sentences 1 --length 2 --repeat 1 --device cpu --json
expect "its ops are timed" eval 'ended_with 0 && says "37000"'
run bench ops --config base --op bias_activation --sentences 400 --length 25 --repeat 1 --device cpu
expect "a long shape does not run into its unit" eval 'ended_with 0 && says "10000x2048 relu, dropout GB/s"'
run bench ops --config base --op attention_backward --sentences 1 --length 9 --window 2 --repeat 1 --device cpu
expect "restricted attention is timed in both forms" eval \
    'ended_with 0 && says "1x8x9x9x64 within 2 " && says "1x8x9x9x64 causal within 2 "'

run bench ops --op attention --length 4..20 --repeat 1 --device cpu --json
expect "a range of lengths doubles" [ "$(jq -c '[.ops[].length]' out)" = "[4,8,16]" ]
expect "and shows the growth from length to length" [ "$(jq -c '[.ops[].results[0] | has("growth")]' out)" = "[false,true,true]" ]
run bench ops --op attention --length 4..8 --repeat 1 --device cpu
expect "of one sentence by default" eval 'ended_with 0 && says "1x8x4x4x32 " && says "growth"'
run bench ops --length 4..8 --device cpu
expect "a range needs ops" misused "needs --op"
run bench ops --op adam --length 4..8 --device cpu
expect "whose time depends on it" refused "depends on the length"
run bench ops --length 8..4 --device cpu
expect "and its ends in order" misused "got 8..4"
# shellcheck disable=SC2086
run bench train --config base $one_layer --steps 1 --device cpu --no-peak --json
expect "the peak can be left out" [ "$(jq 'has("share_of_peak"), has("teraflops_per_second")' out | tr '\n' ' ')" = "false true " ]
# shellcheck disable=SC2086
run bench translate $one_layer --device cpu --no-peak
expect "of translating, too" eval 'ended_with 0 && not says " reaches"'
run bench complete --decoder-layers 1 --source-length 3 --target-length 3 --sentences 2 --repeat 1 --device cpu --no-peak
expect "and of completing" eval 'ended_with 0 && not says " reaches"'

finish "the commands do as expected"
