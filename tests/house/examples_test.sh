#!/usr/bin/env bash
# Runs every example of every --help, with the bundled model and small files of the expected names; training runs are
# short and benchmarks small. Skips examples that need a device that this machine lacks.
# usage: examples_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317,SC2329 # functions are called by the examples
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/commands.sh"

# In their own folder, since some examples write to "out", like this test.
mkdir desk && cd desk || exit 1
ln -s "$repository/assets" assets
mkdir runs data && ln -s ../assets/models/en-de runs/my-model
ln -s "$repository/tests/import/models/hf-marian-tied" opus-mt-en-de
printf 'The cat sleeps.\nGood morning!\n' >text.en
cp text.en test.en
printf 'Die Katze schläft.\nGuten Morgen!\n' >test.de
cp test.de theirs.de
paste test.en test.de >test.tsv
for thing in key dog hat river; do printf 'Tom lost his %s.\tTom hat das verloren.\n' "$thing"; done >pairs.tsv
for i in $(seq 3500); do printf 'Sentence %s.\tSatz %s.\n' "$i" "$i"; done >deu.txt
cut -f1 deu.txt | tee my.en | gzip >my.en.gz
cut -f2 deu.txt | tee my.de | gzip >my.de.gz
cp my.en my.txt
cp text.en prompts.txt
cp text.en test.txt
cp text.en valid.txt
cp text.en summaries.en
for i in $(seq 40); do printf '{"prompt": "Sentence %s.", "response": "Satz %s."}\n' "$i" "$i"; done >responses.jsonl
for i in $(seq 40); do printf '{"prompt": "Sentence %s.", "ranked": ["Satz %s.", "Satz."]}\n' "$i" "$i"; done >ranked.jsonl
for i in $(seq 40); do printf '{"text": "Sentence %s.", "label": "%s"}\n' "$i" "$([ $((i % 2)) = 0 ] && echo good || echo bad)"; done >reviews.jsonl
cp text.en reviews.txt
printf '{"question": "mo", "context": "kaleb rito", "answers": ["rito"]}\n' >questions.jsonl
ln -s "$repository/tests/import/models/hf-bert-answers" bert-squad
ln -s "$repository/tests/import/models/hf-vit" vit
cp vit/picture.png cat.png
head -n 3 ranked.jsonl | tee ratings.jsonl >other.jsonl
printf '{"prompt": "Sentence %s."}\n' 1 2 3 >prompts.jsonl

mkdir runs/first runs/second
for step in 10 20 30; do
    echo "{\"kind\": \"train\", \"step\": $step, \"nll\": $((400 / step)), \"learning_rate\": 0.0$step}"
done | tee runs/first/log.jsonl >runs/second/log.jsonl

cat >my.json <<'JSON'
{
  "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 64, "d_ff": 128, "heads": 2, "max_length": 64},
  "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
  "tokenizer": {"type": "bpe", "vocabulary": 96, "shared": true},
  "training": {"steps": 3, "max_length": 64, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 50}
}
JSON
for i in $(seq 20); do printf '(S (NP (DT The) (NN cat) (CD %s)) (VP (VBZ sleeps)) (. .))\n' "$i"; done >treebank.trees
cp treebank.trees gold.trees
cp treebank.trees test.trees
cp "$repository/tests/trees/evalb/COLLINS.prm" my.prm
for what in words tags sequences; do "$headscope" trees linearise --print $what treebank.trees >$what.txt; done
"$headscope" trees linearise treebank.trees >parser.tsv
sed 's/train.tsv/parser.tsv/; s/valid.tsv/parser.tsv/; s/"type": "bpe", "vocabulary": 96, "shared": true/"type": "words", "shared": false/
    s/"max_length": 64}/"tying": "none", &/' my.json >parser.json
"$headscope" train parser.json --output runs/parser 2>/dev/null
ln -s parser runs/of-words
mkdir -p data/trees && cp parser.tsv data/trees/parser.tsv && cp parser.tsv data/trees/test.tsv && cp gold.trees grammar.trees
mkdir -p site-packages/onnx/backend/test/data
ln -s "$repository/tests/golden/onnx" site-packages/onnx/backend/test/data/node
"$headscope" make-task digits --output data/digits --pairs 2000 --valid 8 --test 8 >/dev/null && cp data/digits/{train,valid}.tsv .
for task in causal masked; do "$headscope" train --text my.txt --task $task --output runs/$task --steps 2 2>/dev/null; done
cp -r "$repository/tests/import/models/hf-gpt2" runs/sft
"$headscope" import runs/sft --output runs/talks 2>/dev/null && rm -r runs/sft && mv runs/talks runs/sft
echo '{"chat": "olmo"}' >runs/sft/decoding.json
printf 'mo\n' >messages.txt
"$headscope" train --text ranked.jsonl --task reward --from runs/causal --output runs/reward --steps 2 2>/dev/null
"$headscope" train --text reviews.jsonl --task classify --output runs/mood --steps 2 2>/dev/null
cd .. || exit 1

# Sets options in `arguments`, replacing existing values.
with() { # OPTION VALUE..
    local i found
    while [ $# -gt 0 ]; do
        found=false
        for i in "${!arguments[@]}"; do
            if [ "${arguments[i]}" = "$1" ]; then arguments[i + 1]=$2 found=true; fi
        done
        $found || arguments+=("$1" "$2")
        shift 2
    done
}
headscope() {
    local arguments=("$@")
    case "$*" in
        "conform --onnx"* | "conform "*" --op "*) ;;
        "conform "*) arguments+=(--op square_sum --no-speed) ;;
        "bench ops --device cpu,vulkan") arguments+=(--op matmul --repeat 1 --sentences 2 --length 3 --size 16) ;;
        "bench ops "*) with --repeat 1 --sentences 2 --length 3 --size 16 ;;
        "bench all-reduce "*) with --repeat 1 --megabytes 1 ;;
        "tune "*) with --config small --repeat 1 --sentences 2 --length 3 --size 16 ;;
        "bench "*causal* | "bench complete "*) with --repeat 1 --decoder-layers 1 --target-length 8 ;;
        "bench "*) with --repeat 1 --encoder-layers 1 --decoder-layers 1 ;;
        "experiment long-range "*) with --steps 2 --distances 2 --depth 1 --d-model 8 --batch 2 ;;
        "experiment attention-scores "*) with --steps 2 --length 8 ;;
        "train "*" --finish"* | "train "*" --overfit-one-batch"*) ;;
        "train "*) with --minutes 0.05 ;;
    esac
    # Keeps tuning results of the examples away from other commands; the driver's cache is shared.
    local drivers=${XDG_CACHE_HOME:-$HOME/.cache}
    MESA_SHADER_CACHE_DIR=$drivers XDG_CACHE_HOME=$PWD/cache "$program" "${arguments[@]}"
}
program=$headscope
unzip() { cat "${*: -1}"; } # prints the file instead of extracting it from a missing archive

examples() { # COMMAND..: the lines of its --help below "Examples:"
    "$program" "$@" --help | sed -n '/^Examples\?:$/,$p' | sed -n 's/^  //p'
}
usable=$("$program" devices --usable)
left_out() { # EXAMPLE: prints why it is skipped
    case $1 in
        "headscope view"*--render*) ;;
        "headscope view"*) echo "a window, see tests/viewer_window" ;;
        "headscope tune "*" --size "* | "headscope tune "*" --model "*) echo "as long as the tuning before, see tests/ops" ;;
        *"--device cuda"* | *",cuda"*) [[ $usable == *cuda* ]] || echo "no CUDA device" ;;
        *"vulkan:1"*) [[ $usable == *vulkan:1* ]] || echo "no second Vulkan device" ;;
        *"--devices all+software"*) [[ $usable == *$'\n'* ]] || echo "no two devices" ;;
        *"--device vulkan"* | *",vulkan"*) [[ $usable == *vulkan* ]] || echo "no Vulkan device" ;;
        *--precision*) "$program" bench translate --device cpu --precision bf16 --repeat 1 --d-model 32 --d-ff 32 --encoder-layers 1 \
            --decoder-layers 1 >/dev/null 2>&1 || echo "no fast bfloat16" ;;
    esac
}

# Lists all commands and subcommands.
commands_of() { # COMMAND..
    "$program" "$@" --help | sed -n '/^Examples\?:$/q; s/^  \([a-z][a-z0-9-]*\)   *[A-Z].*/\1/p'
}
commands=("")
for command in $(commands_of); do
    commands+=("$command")
    for inner in $(commands_of "$command"); do commands+=("$command $inner"); done
done
are_found() { [ "${#commands[@]}" -ge 10 ] && [[ " ${commands[*]} " == *" make-task digits "* ]]; }
expect "commands and subcommands are found" are_found

count=0
done_already=$'\n'
for command in "${commands[@]}"; do
    rm -rf desk/out
    mkdir -p desk/out
    if [ "$command" != train ]; then ln -s ../runs/causal desk/out/lm && ln -s ../runs/masked desk/out/masked; fi
    if [ "$command" = chat ] || [ "$command" = rank ]; then ln -s ../runs/sft desk/out/sft; fi
    if [ "$command" = score ] || [ "$command" = evaluate ]; then ln -s ../runs/reward desk/out/reward; fi
    if [ "$command" = attention ]; then ln -s ../runs/mood desk/out/mood; fi
    if [ "$command" = classify ] || [ "$command" = evaluate ]; then
        ln -s ../runs/mood desk/out/mood && ln -s ../runs/mood desk/out/entailment
    fi
    if [ "$command" = calibrate ]; then cp -rL desk/runs/my-model desk/out/mine; fi
    if [ "$command" = plot ]; then mkdir -p desk/out/digits && cp desk/runs/first/log.jsonl desk/out/digits/; fi
    # shellcheck disable=SC2086 # "make-task digits" is two words
    examples $command >examples.txt
    expect "headscope $command --help has examples" [ -s examples.txt ]
    while IFS= read -r example; do
        if [[ $done_already == *$'\n'"$example"$'\n'* ]]; then continue; fi # "bench train" repeats those of "bench"
        done_already+=$example$'\n'
        why=$(left_out "$example")
        if [ -n "$why" ]; then
            echo "skipped ($why): $example"
            continue
        fi
        (cd desk && eval "$example") </dev/null >out 2>err
        code=$?
        # A comparison in bfloat16 may find a difference and exit with 1.
        if [[ $example == *--precision* ]] && grep -q "sentences differ" err; then code=0; fi
        expect "example runs: $example" ended_with 0
        count=$((count + 1))
    done <examples.txt
done
expect "there are examples to run" [ "$count" -ge 15 ]
finish "all examples run"
