#!/usr/bin/env bash
# The SPIR-V that is kept beside the shaders was made of them as they are, and who changes one without the other is told.
# shellcheck disable=SC2317 # conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
output=
show() { printf '%s\n' "$output"; }
says() { grep -qF -- "$1" <<<"$output"; }

check() { # FOLDER
    output=$("$1/shaders/precompiled/make.sh" --check 2>&1)
    code=$?
}

# A copy with a line more in one file.
changed() { # FILE
    rm -rf "$sandbox/shaders"
    cp -r "$repository/shaders" "$sandbox/shaders"
    printf '// changed\n' >>"$sandbox/shaders/$1"
    check "$sandbox"
}

check "$repository"
expect "what is kept is of these sources" ended_with 0

for file in matmul_cooperative.comp include/cooperative_product.glsl include/params.h; do
    changed "$file"
    expect "a change of $file is seen" ended_with 1
    expect "it is named" says "$file"
    expect "and what to do is said" says "shaders/precompiled/make.sh GLSLANG"
done

changed matmul.comp
expect "what is compiled everywhere does not matter" ended_with 0

sed -i '/^\/\/ sha256 .*grid.glsl/d' "$sandbox/shaders/precompiled/matmul_cooperative.inc"
check "$sandbox"
expect "a file without a hash is no pass" ended_with 1
expect "and named" says "include/grid.glsl"

# A compiler that notes what it is asked, and whose module is four words.
cat >"$sandbox/compiler" <<'COMPILER'
#!/bin/sh
case "$*" in
    *--version*) echo "Glslang Version: 11:99.0.0" ;;
    *) while [ "$1" != -o ]; do shift; done; printf '\003\002\043\007\000\005\001\000\001\002\003\004\377\376\375\374' >"$2" ;;
esac
COMPILER
chmod +x "$sandbox/compiler"
output=$("$sandbox/shaders/precompiled/make.sh" "$sandbox/compiler" 2>&1)
code=$?
expect "it is made anew" ended_with 0
output=$(cat "$sandbox/shaders/precompiled/matmul_cooperative.inc")
expect "by a compiler that is named" says "glslang 99.0.0"
expect "as words" says "0x07230203,0x00010500,0x04030201,0xfcfdfeff,"
check "$sandbox"
expect "and then passes" ended_with 0

finish "the SPIR-V that is kept is that of its sources"
