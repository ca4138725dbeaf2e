#!/usr/bin/env bash
# headscope view without a display, on a model trained for three steps.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2317 # conditions expand later, called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
unset DISPLAY WAYLAND_DISPLAY
export HOME=$folder XDG_CONFIG_HOME=$folder/config

run make-task digits --output data --pairs 300 --valid 4 --test 4
expect "make-task works" ended_with 0
grep -v cooldown_steps "$repository/assets/configs/digits.json" >three-steps.json
run train three-steps.json --data data --output run --device cpu --steps 3
expect "a model is trained" ended_with 0

view() { run view --model run/model --text "1 7 4 7" "$@"; }
whole_svg() { [ "$(tail -n 1 "$1")" = "</svg>" ] && grep -q '<title id="title">.' "$1"; }
png() { [ "$(head -c 4 "$1" | tail -c 3)" = PNG ]; }
json() { jq empty "$1"; }
with() { jq -e "$2" "$1" >/dev/null; } # FILE CONDITION

# ----------------------------------------------------------------------------------------------- --render
for panel in figure heads matrix time surgery model compare; do
    view --panel "$panel" --render "$panel.svg"
    expect "the panel $panel is drawn" eval 'ended_with 0 && whole_svg "$panel.svg"'
    view --panel "$panel" --render "$panel.json"
    expect "the panel $panel is written as JSON" eval 'ended_with 0 && json "$panel.json"'
done
expect "panels differ" [ "$(cat ./*.svg | md5sum)" != "$(cat figure.svg{,,,,,,} | md5sum)" ]
expect "the steps of the decoding have candidates" with time.json '(.steps[0].candidates | length) == 10 and (.beam | length) > 0'
expect "JSON has every head's importance" with surgery.json '(.importance.heads | length) == 6 * 4'
expect "JSON has all blocks' parameters" with model.json '([.blocks[].parameters] | add) == .parameters'
view --device cpu --precision f16 --panel model --render f16.json
expect "the CPU has 16-bit weights" eval 'ended_with 0 && with f16.json ".arithmetic == \"F16 weights\""'
view --device cpu --precision i8 --panel model --render i8.json
expect "8-bit weights too" eval 'ended_with 0 && with i8.json ".arithmetic == \"I8 weights\""'
view --render figure.png --scale 2
expect "a PNG is written" eval 'ended_with 0 && png figure.png'
view --render larger.png --scale 4
expect "--scale makes it larger" [ "$(stat -c %s larger.png)" -gt "$(stat -c %s figure.png)" ]
view --panel matrix --render matrix.tsv
expect "the matrix is written as a table" [ "$(wc -l <matrix.tsv)" -eq 6 ]
run view run --text "1 7" --panel training --render training.json
expect "a training's folder needs no option" with training.json '.checkpoints == [3] and .open == 3'
run view run/model --text "1 7" --target "one seven" --panel time --render given.json
expect "nor does a model's" eval 'ended_with 0 && with given.json ".given and ((.beam // []) | length) == 0"'

# -------------------------------------------------------------------------------- models without self-attention
for crosses in true false; do
    jq ".model.encoder_mixer = \"lstm\" | .model.decoder_mixer = \"lstm\" | .model.cross_attention = $crosses" \
        three-steps.json >lstm.json
    run train lstm.json --data data --output "lstm-$crosses" --device cpu --steps 2
    run view "lstm-$crosses" --text "1 7" --panel training --render training.svg
    expect "the training of LSTMs is drawn" eval 'ended_with 0 && whole_svg training.svg'
    run view "lstm-$crosses" --text "1 7" --panel surgery --render surgery.json
    expect "the importance of few or no heads is measured" with surgery.json '.edits == []'
done
run attention --model lstm-true --text "1 7" --layer 1 -o - --format json
expect "the only kind of attention needs no --kind" eval 'ended_with 0 && grep -q Output-Input out'
run view lstm-true --text "1 7" --render cross.svg
expect "the window shows the only kind, too" grep -q 'Output-Input' cross.svg
run attention --model lstm-false --text "1 7"
expect "a model without attention has nothing to show" refused "the model has no attention"
run view lstm-false --text "1 7" --render none.svg
expect "a figure of it is refused" refused "has no attention"
jq '.model.generation = "mask_predict"' three-steps.json >masks.json
run train masks.json --data data --output masks --device cpu --steps 2
run view masks --panel model --render masks.svg
expect "the map of a model that fills in masks is drawn" eval 'ended_with 0 && whole_svg masks.svg'
run view masks --panel training --render masks.svg
expect "and its training" eval 'ended_with 0 && whole_svg masks.svg'

# ---------------------------------------------------------------------------------------- an experiment
mkdir -p table3/base-s1 && cp -r run/model run/log.jsonl table3/base-s1/ && echo '{"experiment": "table3"}' >table3/experiment.json || exit 1
cat >table3/table.json <<'JSON'
{"experiment": "table3", "rows": [
 {"row": "base", "varied": "", "paper": {"perplexity": 4.92, "bleu": 25.8, "parameters_millions": 65},
  "ours": {"parameters": 1000, "perplexity": {"mean": 7.5, "deviation": null}, "bleu": {"mean": 30, "deviation": null},
           "trials": [{"seed": 1, "minutes": 2, "perplexity": 8, "bleu": 30}]}},
 {"row": "A1", "varied": "h 1", "paper": {"perplexity": 5.29, "bleu": 24.9, "parameters_millions": null}}]}
JSON
run view table3 --text "1 7" --panel training --render table3.svg
expect "the table of an experiment is drawn" eval 'ended_with 0 && whole_svg table3.svg && grep -q ">7.50<" table3.svg'
run view table3/base-s1 --text "1 7" --panel training --render table3.json
expect "also from one of its trainings" with table3.json '.experiment[1].row == "A1"'
sed -i 's/"mean": 7.5/"mean": "7.5"/' table3/table.json
run view table3 --panel training --render x.svg
expect "a damaged table" refused "table3/table.json" "rows[0].ours.perplexity.mean"

# ------------------------------------------------------------------------------------------ a saved view
saved() { # MODEL PARAMETERS
    cat <<JSON
{"format": "headscope view", "version": 1, "model": "$1", "model_name": "model", "parameters": $2, "device": "cpu",
 "view": {"text": "1 7 4 7", "layer": 2, "heads": [2, 3], "word": 1, "overview": false}}
JSON
}
parameters=$("$headscope" inspect run/model --key parameters)
saved run/model "$parameters" >my.headscope
run view --open my.headscope --render opened.svg
expect "a saved view is drawn" eval 'ended_with 0 && whole_svg opened.svg'
jq '.view.beam = 99 | .view.length_penalty = 50' my.headscope >wide.headscope
run view wide.headscope --render wide.svg
expect "numbers out of range are clamped" eval 'ended_with 0 && grep -q "\"view.beam\" is 99.*: using 30" err'
expect "each of them" eval 'grep -q "\"view.length_penalty\" is 50.*: using 10" err'
run view my.headscope --render again.svg
expect "its path alone gives the same picture" same opened.svg again.svg
expect "the saved view chooses the layer" grep -q 'Layer2' opened.svg
run view --open my.headscope --panel heads --render heads-again.svg
expect "--panel overrides the saved view" grep -q 'heads' heads-again.svg
saved run/model 12345 >other.headscope
run view other.headscope --render other.svg
expect "a view of another model is an error" refused "this view was saved with another model" 12345 "$parameters"
run view other.headscope --model run/model --render other.svg
expect "unless --model is given" eval 'ended_with 0 && same opened.svg other.svg'
saved nowhere 0 >gone.headscope
run view gone.headscope --render gone.svg
expect "a missing model is an error" refused nowhere
echo '{"format": "headscope view", "version": 9, "view": {}}' >newer.headscope
run view newer.headscope --render newer.svg
expect "a newer version is an error" refused newer.headscope version 9

# ---------------------------------------------------------------------------------------- language models
for task in brackets cloze; do
    run make-task "$task" --output "$task-data"
    grep -v cooldown_steps "$repository/assets/configs/$task.json" >"$task.json"
    run train "$task.json" --data "$task-data" --output "$task" --device cpu --steps 3
    expect "a language model is trained on $task" ended_with 0
done
run view brackets/model --text '( [ ]' --panel time --render completed.json
expect "a prompt is continued" eval \
    'ended_with 0 && with completed.json ".prompt == \"( [ ]\" and .prompt_tokens > 0 and (.steps | length) > .prompt_tokens"'
run view cloze/model --text 'the dogs near the [MASK] bark' --panel time --render filled.json
expect "a mask is filled in" eval 'ended_with 0 && with filled.json "[.steps[].candidates | length] == [10]"'
run view cloze/model --text 'the dogs' --target bark --render x.svg
expect "which continues no text" refused "a masked language model continues no text"
run view cloze/model --panel figure --render example.svg
expect "the first start shows an example with a mask" eval 'ended_with 0 && grep -q "\[MASK\]" example.svg'
run view cloze --text 'the dogs near the [MASK] bark' --panel training --render training-masked.json
expect "so is one of a training's checkpoint" eval 'ended_with 0 && with training-masked.json ".open == 3 and .attention"'
run view brackets/model --text '(' --panel surgery --render pulled.json
expect "heads are measured" with pulled.json '(.importance.heads | length) == 3 * 4'
saved brackets/model 0 | jq '.other_model = "cloze/model" | .view = {text: "(", panel: "compare"}' >mixed.headscope
run view mixed.headscope --render mixed.json
expect "models of two families are not compared" with mixed.json \
    '.right.problem | contains("masked language model and cannot be compared with a causal language model")'

# ------------------------------------------------------------------------------------------------- errors
view --render figure.bmp
expect "an unknown extension" refused "figure.bmp" ".svg, .png, .pdf, .html or .json"
view --panel time --render time.tsv
expect "a table of another panel" refused "time.tsv" ".svg, .png, .pdf, .html or .json, or .tsv for the matrix"
run view --help
expect "the help lists the formats" says ".svg, .png, .pdf"
expect "the help has groups" grep -qx "Device:" out
view --render x.svg --script tour
expect "a script without a window" misused "--script" "--render"
run view --open run --render x.svg
expect "a folder as a saved view" refused "cannot read 'run': Is a directory"
run view --open gone --render x.svg
expect "a missing saved view" refused "cannot read 'gone': No such file or directory"
run view --model run/model --text '' --render x.svg
expect "an empty text" misused "--text: it holds no text"
view --render missing/figure.svg
expect "a missing output folder" refused missing/figure.svg
view --panel sideways --render x.svg
expect "an unknown panel" refused sideways "figure, heads, matrix"
view --panel training --render x.svg
expect "the training panel of a model" refused "not a training"
view --panel tree --render x.svg
expect "the tree of a model that translates" refused "nothing to draw: This model does not write trees"
run view --model nowhere --text 1 --render x.svg
expect "a missing model" refused nowhere
run view nowhere --render x.svg
expect "a missing path" refused "'nowhere' is neither a folder nor a model"
run view run/model --model run/model --render x.svg
expect "two models" misused "run/model and --model run/model were given"
run view my.headscope --open my.headscope --render x.svg
expect "two views" misused "my.headscope and --open my.headscope were given"
run view --model run/model --text "$(printf '1 %.0s' $(seq 100))" --render x.svg
expect "a text that is too long" refused "at most 64"
run view --model run/model --text $'\xff' --render x.svg
expect "a text that is not UTF-8" refused UTF-8
run view --model run/model --text "  " --render x.json
expect "a blank text" misused "--text: it holds no text"
view --scale 0 --render x.png
expect "a scale of 0" misused "--scale" "0.1"
expect "errors leave no files" not [ -e x.svg ]
expect "no settings are written without a window" not [ -e config ]

# --------------------------------------------------------------------------------------------- the window
mkdir alone && cp "$headscope" alone/ || exit 1
code=0
alone/headscope view --model run/model >out 2>err || code=$?
expect "without the window's program, the error says how to build it" refused "neither $folder/alone/headscope-viewer" \
    "libimgui-dev" "--render FILE"
if [ -x "$(dirname "$headscope")/headscope-viewer" ]; then
    view
    expect "a missing display is an error" refused "cannot open a window" "display"
    expect "which mentions --render" complains "--render FILE"
    view --script nowhere.script
    expect "a missing script is reported first" refused "cannot read the script 'nowhere.script': No such file or directory"
    printf 'wait\nwate\n' >bad.script
    view --script bad.script
    expect "an unknown command is reported with the known ones" refused 'bad.script, line 2: unknown command "wate"' "must be one of size, wait"
fi
if [ -x "$(dirname "$headscope")/headscope-viewer" ] && ! "$headscope" devices | grep -q '^vulkan .*not built in'; then
    # A driver that does not survive being loaded.
    echo '__attribute__((constructor)) static void crash(void) { *(volatile int*)0 = 1; }' |
        "${CC:-cc}" -x c -shared -fPIC -o crashing.so - || exit 1
    echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "./crashing.so", "api_version": "1.2.0"}}' >crashing.json
    VK_DRIVER_FILES=$folder/crashing.json VK_ICD_FILENAMES=$folder/crashing.json view
    expect "a crashing driver does not crash the program" refused "a Vulkan driver crashed" "crashing.json"
else
    echo "SKIPPED: the viewer or the Vulkan backend is not built"
fi

finish "headscope view does as expected"
