#!/usr/bin/env bash
# Every example of every --help runs as it stands, with the model that ships and files of the names that they speak of.
# Left out are trainings, which take minutes, and devices that this machine has not.
# usage: examples_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317,SC2329 # functions are called by the examples
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/commands.sh"

ln -s "$repository/assets" assets
export HEADSCOPE_MODEL=$repository/assets/models/en-de
mkdir runs data && ln -s "$HEADSCOPE_MODEL" runs/my-model
printf 'The cat sleeps.\nGood morning!\n' >text.en
cp text.en test.en
printf 'Die Katze schläft.\nGuten Morgen!\n' >test.de
cp test.de theirs.de
paste test.en test.de >test.tsv
for i in $(seq 3500); do printf 'Sentence %s.\tSatz %s.\n' "$i" "$i"; done >deu.txt

headscope() { # a benchmark as short as can be; all else as it stands
    if [ "$1" = bench ]; then
        set -- "$@" --repeat 1 --encoder-layers 1 --decoder-layers 1
    fi
    "$program" "$@"
}
program=$headscope
unzip() { cat "${*: -1}"; } # of an archive that is not there, the file in it

examples() { # COMMAND..: the lines of its --help below "Examples:"
    "$program" "$@" --help | sed -n '/^Examples\?:$/,$p' | sed -n 's/^  //p'
}
usable=$("$program" devices --usable)
left_out() { # EXAMPLE: says why
    case $1 in
        *"headscope train "*) echo "a training" ;;
        *"--device vulkan:1"*) [[ $usable == *vulkan:1* ]] || echo "no second Vulkan device" ;;
        *"--device vulkan"*) [[ $usable == *vulkan* ]] || echo "no Vulkan device" ;;
        *--bf16*) "$program" bench translate --device cpu --bf16 --repeat 1 --d-model 32 --d-ff 32 --encoder-layers 1 \
            --decoder-layers 1 >/dev/null 2>&1 || echo "no fast bfloat16" ;;
    esac
}

count=0
for command in "" train prepare make-task "make-task digits" translate evaluate compare bench attention inspect devices; do
    # shellcheck disable=SC2086 # "make-task digits" is two words
    examples $command >examples.txt
    expect "headscope $command --help has examples" [ -s examples.txt ]
    while IFS= read -r example; do
        why=$(left_out "$example")
        if [ -n "$why" ]; then
            echo "left out ($why): $example"
            continue
        fi
        (eval "$example") </dev/null >out 2>err
        code=$?
        # Comparing in bfloat16 may well find a difference, which makes its exit code 1.
        if [[ $example == *--bf16* ]] && grep -q "sentences differ" err; then code=0; fi
        expect "it works: $example" ended_with 0
        count=$((count + 1))
    done <examples.txt
done
expect "there are examples to run" [ "$count" -ge 15 ]
finish
