#!/usr/bin/env bash
# The examples in C, C++, Rust and Go are compiled with the C library and say what the command says.
# usage: examples_test.sh HEADSCOPE-PROGRAM (libheadscope.so lies beside it)
# shellcheck disable=SC2016,SC2034,SC2317 # conditions expand later, called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
library=$(dirname "$headscope")
export LD_LIBRARY_PATH=$library
examples=$repository/docs/examples
text='The cat sleeps because it is tired.'
run translate --greedy --device cpu --text "$text"
greedy=$(cat out)
run translate --device cpu --text "$text"
searched=$(cat out)

compiled() { # WHAT COMMAND..
    local what=$1
    shift
    "$@" >out 2>err
    code=$?
    expect "$what is compiled" ended_with 0
}
run_it() { # PROGRAM ARGUMENT..
    "./$1" "${@:2}" >out 2>err
    code=$?
}

for name in translate attention; do
    compiled "$name.c" "${CC:-cc}" -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$repository/include" \
        "$examples/c/$name.c" -L"$library" -lheadscope -o "c-$name"
done
run_it c-translate "$text"
expect "C translates as the command" eval 'ended_with 0 && [ "$(head -n 1 out)" = "$greedy" ]'
run_it c-translate "$(printf 'bad \xff byte')"
expect "and says why it does not" eval 'ended_with 1 && grep -q UTF-8 err'
run_it c-attention "$text" heads.svg
expect "C draws attention" \
    eval 'ended_with 0 && grep -q "looks the furthest" out && [ "$(tail -n 1 heads.svg)" = "</svg>" ]'

compiled look.cpp "${CXX:-c++}" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$repository/include" \
    "$examples/cpp/look.cpp" -L"$library" -lheadscope -o cpp-look
run_it cpp-look "$text"
expect "C++ translates as the command" \
    eval 'ended_with 0 && [ "$(head -n 1 out)" = "$searched" ] && grep -q "8 heads" out'

if command -v rustc >/dev/null; then
    compiled translate.rs rustc -D warnings "$examples/rust/translate.rs" -L "$library" -l headscope -o rust-translate
    run_it rust-translate "$text"
    expect "Rust translates as the command" eval 'ended_with 0 && [ "$(cat out)" = "$searched" ]'
else
    echo "SKIPPED: rustc is missing"
fi
if command -v go >/dev/null; then
    export CGO_CFLAGS=-I$repository/include CGO_LDFLAGS="-L$library -lheadscope" GOCACHE=$folder/go GO111MODULE=off
    compiled translate.go go build -o go-translate "$examples/go/translate.go"
    run_it go-translate "$text"
    expect "Go translates as the command" eval 'ended_with 0 && [ "$(cat out)" = "$searched" ]'
else
    echo "SKIPPED: go is missing"
fi

# The library shows its functions alone.
nm -D --defined-only "$library/libheadscope.so" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort >shown
grep -o '^[a-z].*hs_[a-z_]*(' "$repository/include/headscope/headscope.h" | grep -v typedef | grep -o 'hs_[a-z_]*($' |
    tr -d '(' | sort -u >declared
expect "libheadscope shows what headscope.h declares" diff shown declared
finish "examples of the C library"
