#!/usr/bin/env bash
# headscope view as a user meets it without a display, on a model trained for three steps.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2317 # conditions expand later, called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
unset DISPLAY WAYLAND_DISPLAY
export HOME=$folder XDG_CONFIG_HOME=$folder/config

run make-task digits --output data --pairs 300 --valid 4 --test 4
expect "a task is made" ended_with 0
grep -v cooldown_steps "$repository/assets/configs/digits.json" >three-steps.json
run train three-steps.json --data data --output run --device cpu --steps 3
expect "and a model to look at is trained" ended_with 0

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
    expect "and told as JSON" eval 'ended_with 0 && json "$panel.json"'
done
expect "each panel is another picture" [ "$(cat ./*.svg | md5sum)" != "$(cat figure.svg{,,,,,,} | md5sum)" ]
expect "the steps of the decoding have candidates" with time.json '(.steps[0].candidates | length) == 10 and (.beam | length) > 0'
expect "every head's importance is told" with surgery.json '(.importance.heads | length) == 6 * 4'
expect "so are all blocks' parameters" with model.json '([.blocks[].parameters] | add) == .parameters'
view --device cpu --precision f16 --panel model --render f16.json
expect "the CPU keeps 16-bit weights" eval 'ended_with 0 && with f16.json ".arithmetic == \"F16 weights\""'
view --render figure.png --scale 2
expect "a bitmap is made" eval 'ended_with 0 && png figure.png'
view --render larger.png --scale 4
expect "and a larger one" [ "$(stat -c %s larger.png)" -gt "$(stat -c %s figure.png)" ]
view --panel matrix --render matrix.tsv
expect "the matrix as a table" [ "$(wc -l <matrix.tsv)" -eq 6 ]
run view run --text "1 7" --panel training --render training.json
expect "a training's folder is shown by its path alone" with training.json '.checkpoints == [3] and .open == 3'
run view run/model --text "1 7" --target "one seven" --panel time --render given.json
expect "so is a model's" eval 'ended_with 0 && with given.json ".given and ((.beam // []) | length) == 0"'

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
expect "numbers outside their limits become the nearest" eval 'ended_with 0 && grep -q "\"view.beam\" is 99.*: 30 was taken" err'
expect "each of them" eval 'grep -q "\"view.length_penalty\" is 50.*: 10 was taken" err'
run view my.headscope --render again.svg
expect "by its path, too, byte for byte" same opened.svg again.svg
expect "as it says" grep -q 'Layer2' opened.svg
run view --open my.headscope --panel heads --render heads-again.svg
expect "with another panel, if that is asked for" grep -q 'heads' heads-again.svg
saved run/model 12345 >other.headscope
run view other.headscope --render other.svg
expect "a view of another model is refused" refused "this view was saved with another model" 12345 "$parameters"
run view other.headscope --model run/model --render other.svg
expect "unless that model is asked for" eval 'ended_with 0 && same opened.svg other.svg'
saved nowhere 0 >gone.headscope
run view gone.headscope --render gone.svg
expect "so is one whose model is gone" refused nowhere
echo '{"format": "headscope view", "version": 9, "view": {}}' >newer.headscope
run view newer.headscope --render newer.svg
expect "and one of a version to come" refused newer.headscope version 9

# ------------------------------------------------------------------------------------------------- errors
view --render figure.bmp
expect "an unknown ending" refused "figure.bmp" ".svg, .png or .json"
view --panel time --render time.tsv
expect "a table of what is no matrix" refused "time.tsv" ".svg, .png or .json, or of the matrix alone in .tsv"
run view --help
expect "which the help names" says ".tsv (matrix) file"
expect "in groups, as other commands" grep -qx "Device:" out
view --render x.svg --script tour
expect "a script without a window" refused "--script" "--render"
view --render x.svg --record tour
expect "or a recording of one" refused "--record" "--render"
run view --open run --render x.svg
expect "a folder is no saved view" refused "cannot read 'run': Is a directory"
run view --open gone --render x.svg
expect "nor is what is not there" refused "cannot read 'gone': No such file or directory"
run view --model run/model --text '' --render x.svg
expect "and nothing is no text" refused "--text: it holds no text"
view --render x.svg --precision i8
expect "8 bits are not shown" refused "--precision" "i8"
view --render missing/figure.svg
expect "a folder that does not exist" refused missing/figure.svg
view --panel sideways --render x.svg
expect "a panel that there is not" refused sideways "figure, heads, matrix"
view --panel training --render x.svg
expect "a model is no training" refused "not a training"
run view --model nowhere --text 1 --render x.svg
expect "no model" refused nowhere
run view nowhere --render x.svg
expect "no such path" refused "nowhere is neither a saved view nor the folder"
run view run/model --model run/model --render x.svg
expect "two models" refused "run/model and --model run/model were given"
run view my.headscope --open my.headscope --render x.svg
expect "two views" refused "my.headscope and --open my.headscope were given"
run view --model run/model --text "$(printf '1 %.0s' $(seq 100))" --render x.svg
expect "a text that is too long" refused "at most 64"
run view --model run/model --text $'\xff' --render x.svg
expect "a text that is none" refused UTF-8
run view --model run/model --text "  " --render x.json
expect "no text" refused "--text: it holds no text"
view --scale 0 --render x.png
expect "no scale" refused "--scale" "0.1"
expect "nothing is left behind by any of these" not [ -e x.svg ]
expect "nor are settings, without a window" not [ -e config ]

# --------------------------------------------------------------------------------------------- the window
mkdir alone && cp "$headscope" alone/ || exit 1
code=0
alone/headscope view --model run/model >out 2>err || code=$?
expect "without the window's program it says what builds it" refused "there is no $folder/alone/headscope-viewer" \
    "libimgui-dev" "--render FILE"
if [ -x "$(dirname "$headscope")/headscope-viewer" ]; then
    view
    expect "without a display it says so" refused "no window can be opened" "display"
    expect "and how to draw without one" complains "--render FILE"
    view --script nowhere.script
    expect "but first that a script is not there" refused "cannot read the script 'nowhere.script': No such file or directory"
    printf 'wait\nwate\n' >bad.script
    view --script bad.script
    expect "or what it can do" refused 'bad.script, line 2: "wate"' "it can: size, wait"
fi
if [ -x "$(dirname "$headscope")/headscope-viewer" ] && ! "$headscope" devices | grep -q '^vulkan .*not built in'; then
    # A driver that does not survive being loaded.
    echo '__attribute__((constructor)) static void crash(void) { *(volatile int*)0 = 1; }' |
        "${CC:-cc}" -x c -shared -fPIC -o crashing.so - || exit 1
    echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "./crashing.so", "api_version": "1.2.0"}}' >crashing.json
    VK_DRIVER_FILES=$folder/crashing.json VK_ICD_FILENAMES=$folder/crashing.json view
    expect "a driver that crashes does not take it along" refused "a Vulkan driver crashed" "crashing.json"
else
    echo "SKIPPED: the viewer or the Vulkan backend is not built"
fi

finish "headscope view does as expected"
