#!/usr/bin/env bash
# Every option of every command is used by a script under tests/ or by an example of --help, which
# tests/house/examples_test.sh runs. Also checks that options reject invalid values. Runs only --help and commands that
# fail.
# usage: options_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2086,SC2317 # "make-task digits" is two words; the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"

commands_of() { # COMMAND..
    "$headscope" "$@" --help | sed -n '/^Examples\?:$/q; s/^  \([a-z][a-z0-9-]*\)   *[A-Z].*/\1/p'
}
options_of() { # COMMAND..: "--name" or "-n,--name" of each, except those of all commands
    "$headscope" "$@" --help | sed -n '/^Examples\?:$/q; s/^  \(\(-[a-z],\)\?--[a-z0-9-]*\).*/\1/p' | grep -vE -- '--(help|quiet|verbose|color)$'
}
examples_of() { # COMMAND..: the lines of its --help below "Examples:"
    "$headscope" "$@" --help | sed -n '/^Examples\?:$/,$p' | sed -n 's/^  //p'
}

# The command lines of a script, one per line: drops comments, joins continued lines, splits pipes and lists, and includes
# the arguments that examples_test.sh adds to examples. A command that is expected to fail does not count as use.
command_lines() { # SCRIPT
    sed -e ':more' -e '/\\$/{N;s/\\\n/ /;b more' -e '}' -e '/^ *#/d' "$1" |
        awk 'NR > 1 && !/^ *expect .* (refused|misused) / { print before } { before = $0 } END { print before }' |
        sed -E 's/^ *"([a-z -]+) "\*\) (arguments\+=\(|with )/run \1 (/; s/ (\|\|?|&&) |; /\n/g'
}
# Expands calls of the script's functions to what they run with "$@", and variables that contain options.
calls_replaced() {
    awk '
        { sub(/^ +/, ""); for (variable in options) gsub("\\$" variable, options[variable]) }
        $1 in runs { $0 = runs[$1] " " $0 }
        /^[a-z_]+="--/ { options[substr($0, 1, index($0, "=") - 1)] = substr($0, index($0, "--")) }
        /^[a-z0-9_]+\(\) \{/ { name = substr($0, 1, index($0, "(") - 1); sub(/^[a-z0-9_]+\(\) \{ */, "") }
        name != "" && /"\$@"/ { runs[name] = $0 }
        /^\}/ { name = "" }
        { print }'
}
mapfile -t scripts < <(find "$repository/tests" -name '*.sh' ! -name options_test.sh; echo "$repository/do")
for script in "${scripts[@]}"; do command_lines "$script" | calls_replaced; done >command-lines

# Matches the program under any of its names, the command, then the option.
used() { # COMMAND OPTION, as --help names it: -o,--output
    grep -qE -- "(run|headscope\"?|program\"?|HEADSCOPE\"?) $1 (.*[ \"'(])?(${2/,/|})([ =\"')]|$)" command-lines
}

# Text, and numbers that no option accepts, are rejected with our own message.
rejects_value() { misused "$option: must be" "headscope $1 --help explains it"; }
check_numbers() { # COMMAND..
    local option value
    for option in $("$headscope" $1 --help | sed -n 's/^  \(-[a-z],\)\?\(--[a-z0-9-]*\) N\( .*\)\?$/\2/p'); do
        numbers=$((numbers + 1))
        for value in x nan inf -1 1e99 ''; do
            [ "$option $value" != "--length-penalty -1" ] || continue  # the only number that may be negative
            run $1 "$option" "$value" </dev/null
            expect "headscope $1 $option '$value' is refused" rejects_value "$1"
        done
    done
}
# A flag with a value and an option without one are rejected.
check_values() { # COMMAND..
    local option
    for option in $(options_of $1); do
        option=${option#-?,}
        if "$headscope" $1 --help | grep -qE -- "^  (-[a-z],)?$option [A-Z{]"; then
            run $1 "$option" </dev/null
            expect "headscope $1 $option without a value is refused" misused "$option: expected a value, found none"
        elif ! "$headscope" $1 --help | grep -qE -- "^  (-[a-z],)?$option \\[[A-Z]"; then # [FILE] may be left out
            run $1 "$option=3" </dev/null
            expect "headscope $1 $option=3 is refused" misused "$option takes no value"
        fi
    done
}
# Options without a group are below "Options:", which only `view` may have; one without a description has only its
# range, in brackets.
grouped_and_described() { # COMMAND
    [ "$1" = view ] || ! grep -qE '^Options:|^  [^ ]*--[a-z0-9-]+( [^ ]+)?( \.\.\.)?  +\(' out
}

count=0
numbers=0
check() { # COMMAND..
    local option
    check_numbers "$1"
    check_values "$1"
    run $1 --help
    expect "headscope $1 --help groups its options and describes each" grouped_and_described "$1"
    examples_of $1 >>command-lines
    for option in $(options_of $1); do
        count=$((count + 1))
        expect "headscope $1 $option is used by a test" used "$1" "$option"
    done
}
for command in $(commands_of); do
    check "$command"
    for inner in $(commands_of "$command"); do check "$command $inner"; done
done
expect "options are found" [ "$count" -ge 100 ]
expect "options that take numbers are found" [ "$numbers" -ge 40 ]
finish "all $count options are used by tests"
