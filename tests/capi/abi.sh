#!/usr/bin/env bash
# Writes what programs rely on in a header of the C library, as abidw describes it.
# usage: abi.sh INCLUDE-FOLDER OUTPUT.xml
# The description is of a library with the header's types and functions, which do nothing: what the real one shows beside
# them is tested by examples_test.sh.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
    echo '#include <headscope/headscope.h>'
    echo '#include <headscope/headscope.h>' | "${CC:-cc}" -I "$1" -E -P - | tr '\n' ' ' | sed 's/;/;\n/g' |
        grep 'hs_[a-z_]* *(' | grep -v typedef | sed 's/;$/ { __builtin_trap(); }/'
} >"$folder/library.c"
"${CC:-cc}" -std=c99 -g -shared -fPIC -I "$1" -Wl,-soname,libheadscope.so.0 -o "$folder/libheadscope.so" "$folder/library.c"
abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --out-file "$2" "$folder/libheadscope.so"
sed -i "s:$folder/::" "$2"
# What abidiff does not compare.
numbers=$(echo '#include <headscope/headscope.h>' | "${CC:-cc}" -I "$1" -E -P - | grep -o 'HS_[A-Z0-9_]* = [0-9]*' | sort)
abi=$(sed -n 's/^#define HS_ABI \([0-9]*\).*/HS_ABI = \1/p' "$1/headscope/headscope.h")
printf '%s\n' "$numbers" "$abi" | sed 's/.*/<!-- & -->/' >>"$2"
