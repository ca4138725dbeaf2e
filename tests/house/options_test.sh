#!/usr/bin/env bash
# Every option of every command is used by a test: one of the scripts under tests/, or an example of the command's help,
# which tests/house/examples_test.sh runs. Looks at the scripts, and runs nothing but --help.
# usage: options_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2086,SC2317 # "make-task digits" is two words; the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"

# COMMAND OPTION REASON: what no script uses.
cat >exceptions <<'TEXT'
view --script the window plays it, which needs a display: tests/viewer_window/interface_test.cpp
view --record the same
TEXT

commands_of() { # COMMAND..
    "$headscope" "$@" --help | sed -n '/^Subcommands:$/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}
options_of() { # COMMAND..: "--name" of each, but for --help
    "$headscope" "$@" --help | sed -n '/^Options:$/,/^$/s/^  \(-[a-z],\)\?\(--[a-z0-9-]*\).*/\2/p' | grep -vx -- --help
}
examples_of() { # COMMAND..: the lines of its --help below "Examples:"
    "$headscope" "$@" --help | sed -n '/^Examples\?:$/,$p' | sed -n 's/^  //p'
}

mapfile -t scripts < <(find "$repository/tests" -name '*.sh' ! -name options_test.sh; echo "$repository/do")
# Comments use nothing; a line that goes on in the next is one.
for script in "${scripts[@]}"; do
    sed -e ':more' -e '/\\$/{N;s/\\\n/ /;b more' -e '}' -e '/^ *#/d' "$script" >"script-${script//\//_}"
done

# The command is run in the file as a word of its own after the program's name, whatever that is called there.
used() { # COMMAND OPTION
    local file
    if examples_of $1 | grep -E -- "headscope $1 " | grep -qE -- "(^|[ \"'])$2([ =\"']|$)"; then return 0; fi
    for file in script-*; do
        if grep -qE -- "(run|headscope\"?|program\"?|HEADSCOPE\"?) $1( |$)" "$file" &&
            grep -qE -- "(^|[ \"'(])$2([ =\"')]|$)" "$file"; then
            return 0
        fi
    done
    return 1
}
excepted() { grep -qE -- "^$1 $2 ..*" exceptions; }

count=0
check() { # COMMAND..
    local option
    for option in $(options_of $1); do
        count=$((count + 1))
        if excepted "$1" "$option"; then
            expect "headscope $1 $option is no exception any more: a test uses it" not used "$1" "$option"
        else
            expect "headscope $1 $option is used by a test" used "$1" "$option"
        fi
    done
}
for command in $(commands_of); do
    check "$command"
    for inner in $(commands_of "$command"); do check "$command $inner"; done
done
expect "options are found" [ "$count" -ge 100 ]
finish "all $count options are used by tests"
