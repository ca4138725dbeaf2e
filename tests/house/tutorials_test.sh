#!/usr/bin/env bash
# Runs the commands of every tutorial, its indented blocks, in order and in a folder of its own. `<!-- test: COMMANDS -->`
# prepares what the commands of its section need; `<!-- not run: REASON -->` leaves out the next block.
# usage: tutorials_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # functions are called by the tutorials
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/commands.sh"

program=$headscope
headscope() {
    case "$1 $2" in # a training that takes a minute ends after a few steps
        "train assets/configs/digits.json") set -- "$@" --minutes 0.05 ;;
    esac
    "$program" "$@"
}

# Prints lines of "run COMMAND", "test COMMANDS" and "leave REASON".
steps_of() { # FILE
    awk '
        function flush(i) {
            for (i = 1; i <= count; ++i) print "run " commands[i]
            count = 0
        }
        /^```/ { fenced = !fenced; next }
        fenced { next }
        /^<!-- test: / { sub(/^<!-- test: /, ""); sub(/ -->$/, ""); print "test " $0; next }
        /^<!-- not run: / { sub(/^<!-- not run: /, ""); sub(/ -->$/, ""); reason = $0; inside = 0; next }
        /^    [^ ]/ {
            if (reason != "") { if (!inside) print "leave " reason; inside = 1; next }
            sub(/^    /, "")
            commands[++count] = $0
            next
        }
        /^[^ ]/ && inside { reason = ""; inside = 0 }
        /^## / { flush() }
        END { flush() }' "$1"
}

usable=$("$program" devices --usable)
total=0
for tutorial in "$repository"/docs/tutorials/*.md; do
    name=$(basename "$tutorial" .md)
    rm -rf desk && mkdir desk && ln -s "$repository/assets" desk/assets
    ran=0
    steps_of "$tutorial" >steps
    while IFS= read -r step; do
        words=${step#* }
        case $step in
            "leave "*) echo "$name: left out: $words" ;;
            "test "*) (cd desk && eval "$words") || expect "$name is prepared: $words" false ;;
            *vulkan*) [[ $usable == *vulkan* ]] || { echo "skipped (no Vulkan device): $words"; continue; } ;;&
            "run "*)
                (cd desk && eval "$words") </dev/null >out 2>err
                code=$?
                expect "$name: $words" ended_with 0
                ran=$((ran + 1))
                ;;
        esac
    done <steps
    total=$((total + ran))
done
expect "there are commands to run" [ "$total" -ge 20 ]
finish "all tutorials run"
