#!/usr/bin/env bash
# The precompiled SPIR-V is up to date with the shaders.
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

# Checks a copy in which one file has an extra line.
changed() { # FILE
    rm -rf "$sandbox/shaders"
    cp -r "$repository/shaders" "$sandbox/shaders"
    printf '// changed\n' >>"$sandbox/shaders/$1"
    check "$sandbox"
}

check "$repository"
expect "the precompiled SPIR-V is up to date" ended_with 0

for file in matmul_cooperative.comp include/cooperative_product.glsl include/params.h; do
    changed "$file"
    expect "a change of $file is detected" ended_with 1
    expect "with its name" says "$file"
    expect "and what to do" says "shaders/precompiled/make.sh GLSLANG"
done

changed matmul.comp
expect "shaders that are not precompiled do not matter" ended_with 0

sed -i '/^\/\/ sha256 .*grid.glsl/d' "$sandbox/shaders/precompiled/matmul_cooperative.inc"
check "$sandbox"
expect "a missing hash is an error" ended_with 1
expect "with the file's name" says "include/grid.glsl"

# A fake compiler that writes a module of four words, and a fake validator.
cat >"$sandbox/glslangValidator" <<'COMPILER'
#!/bin/sh
case "$*" in
    *--version*) echo "Glslang Version: 11:99.0.0" ;;
    *) while [ "$1" != -o ]; do shift; done; printf '\003\002\043\007\000\005\001\000\001\002\003\004\377\376\375\374' >"$2" ;;
esac
COMPILER
validator() { # COMMAND
    printf '#!/bin/sh\n%s\n' "$1" >"$sandbox/spirv-val"
    chmod +x "$sandbox/glslangValidator" "$sandbox/spirv-val"
    output=$("$sandbox/shaders/precompiled/make.sh" "$sandbox/glslangValidator" 2>&1)
    code=$?
}
before=$(cat "$sandbox"/shaders/precompiled/*.inc)
# shellcheck disable=SC2016 # the validator's own parameters
validator 'echo "invalid: $*"; exit 1'
expect "what the validator refuses is an error" ended_with 1
expect "that it explains" says "invalid: --target-env vulkan1.2 /"
expect "and nothing is written" [ "$(cat "$sandbox"/shaders/precompiled/*.inc)" = "$before" ]
validator 'exit 0'
expect "make.sh compiles it" ended_with 0
output=$(cat "$sandbox/shaders/precompiled/matmul_cooperative.inc")
expect "and records the compiler" says "glslang 99.0.0"
expect "and writes words" says "0x07230203,0x00010500,0x04030201,0xfcfdfeff,"
check "$sandbox"
expect "then the check passes" ended_with 0

finish "the precompiled SPIR-V is up to date"
