#!/usr/bin/env bash
# Man pages and completion have every command and option of --help; bash completes by them.
# usage: manual_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/commands.sh"

run manual --output share
expect "man pages and completion are written" eval 'ended_with 0 && quiet'
run manual --output again --json
expect "JSON lists them" wrote again/man/man1/headscope.1 again/fish/vendor_completions.d/headscope.fish
bash=share/bash-completion/completions/headscope
zsh=share/zsh/site-functions/_headscope
fish=share/fish/vendor_completions.d/headscope.fish

commands_of() { # COMMAND..
    "$headscope" "$@" --help | sed -n '/^Examples\?:$/q; s/^  \([a-z][a-z0-9-]*\)   *[A-Z].*/\1/p'
}
options_of() { # COMMAND..: each name in a line
    "$headscope" "$@" --help | sed -n '/^Examples\?:$/q; s/^  \(-[A-Za-z-][a-z0-9-]*\(,--[a-z0-9-]*\)\?\).*/\1/p' | tr ',' '\n'
}
check() { # COMMAND..
    local name="headscope${*:+ $*}" option
    local page=share/man/man1/${name// /-}.1
    pages=$((pages + 1))
    expect "$name has a man page" [ -s "$page" ]
    sed -n "/^        '$name')$/,/^            ;;$/p" $bash >bash_words
    sed -n "/^        '$name')$/,/ ;;$/p" $zsh >zsh_words
    for option in $(options_of "$@"); do
        options=$((options + 1))
        expect "$name $option is in the man page" grep -qE -- "^\.B (.*,)?${option//-/\\\\-}([, ]|\$)" "$page"
        expect "$name $option is completed by bash" grep -qE -- "^            words='(.* )?${option}[ ']" bash_words
        expect "by zsh" grep -qF -- ")${option}[" zsh_words
        letters=${option#-} words=${option#--}
        [ "$words" = "$option" ] && how="-s $letters" || how="-l $words"
        expect "and by fish" grep -qE -- "^complete -c headscope -n 'test \(__headscope_command\) = \"$name\"'.* $how " $fish
    done
}
pages=0 options=0
check
for command in $(commands_of); do
    check "$command"
    for inner in $(commands_of "$command"); do check "$command" "$inner"; done
done
expect "pages are found" [ "$pages" -ge 30 ]
expect "with options" [ "$options" -ge 300 ]
expect "there are no other pages" [ "$(find share/man -type f | wc -l)" -eq "$pages" ]

# bash itself.
# shellcheck source=/dev/null
. "$bash"
completed() { # WORD..: what bash offers for the last word
    COMP_WORDS=(headscope "$@") COMP_CWORD=$# COMPREPLY=()
    _headscope
    printf '%s\n' "${COMPREPLY[@]}" >offered
}
offers() { grep -qxF -- "$1" offered; }
completed tra
expect "bash completes a command" eval 'offers translate && offers train && ! offers bench'
completed bench tr
expect "and a command's command" eval 'offers train && offers translate && ! offers trees'
completed bench train --st
expect "and its options" [ "$(cat offered)" = --steps ]
completed translate --precision b
expect "and values" [ "$(cat offered)" = bf16 ]
mkdir folder && : >file
completed translate -m f
expect "and folders" [ "$(cat offered)" = folder ]
completed translate f
expect "and leaves files to bash" [ "$(cat offered)" = "" ]
completed --quiet translate --be
expect "also after an option of all commands" [ "$(cat offered)" = --beam ]

for file in "zsh -n $zsh" "fish -n $fish"; do
    if command -v "${file%% *}" >/dev/null; then
        # shellcheck disable=SC2086 # a program and its arguments
        expect "$file finds no fault" $file
    else
        echo "SKIPPED: ${file%% *} is missing"
    fi
done
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww -z share/man/man1/*.1 >out 2>err
    code=$?
    expect "groff has no complaint" eval 'ended_with 0 && [ ! -s err ]'
else
    echo "SKIPPED: groff is missing"
fi
finish "$pages pages and $options options are in the man pages and the completion of three shells"
