#!/usr/bin/env bash
# The SPIR-V of shaders that distributions' older compilers do not know, for those to take as it is.
#
#   shaders/precompiled/make.sh COMMAND..              compiles them anew: glslangValidator 16 or newer, with spirv-val
#                                                      of the same age beside it, perhaps after what starts programs:
#       lib=forky/usr/lib/x86_64-linux-gnu
#       make.sh $lib/ld-linux-x86-64.so.2 --library-path $lib forky/usr/bin/glslangValidator
#   shaders/precompiled/make.sh --check                whether what is here was made of the sources as they are
#
# NAME.inc is made of shaders/NAME.comp, NAME_16.inc of the same for tensors in 16 bits. A new one begins as an empty file.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
shaders=$(cd "$here/.." && pwd)

# sources FILE: it and all that it includes, once each, as paths in shaders/
sources() {
    local pending=("$1") found=() file name
    while [ ${#pending[@]} -gt 0 ]; do
        file=${pending[0]}
        pending=("${pending[@]:1}")
        case " ${found[*]} " in *" $file "*) continue ;; esac
        found+=("$file")
        while read -r name; do
            pending+=("include/$name")
        done < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$shaders/$file")
    done
    printf '%s\n' "${found[@]}" | sort
}

# hashes NAME: those of a shader's sources, as the head of its file has them
hashes() {
    local file
    sources "$(shader "$1").comp" | while read -r file; do
        printf '// sha256 %s %s\n' "$(sha256sum <"$shaders/$file" | cut -d ' ' -f 1)" "$file"
    done
}

# shader NAME: what NAME.inc is made of: NAME_16 is the module of NAME for tensors in 16 bits.
shader() {
    printf '%s' "${1%_16}"
}

# make NAME COMPILER..: NAME.inc
make() {
    local name=$1 folder definitions=(-DHEADSCOPE_SUBGROUPS) validator
    shift
    validator=("${@:1:$#-1}" "${!#%glslangValidator}spirv-val")
    [ "$(shader "$name")" = "$name" ] || definitions+=(-DHEADSCOPE_16_BITS)
    folder=$(mktemp -d)
    "$@" --quiet --target-env vulkan1.2 "${definitions[@]}" "-I$shaders/include" -o "$folder/spirv" \
        "$shaders/$(shader "$name").comp"
    "${validator[@]}" --target-env vulkan1.2 "$folder/spirv"
    {
        printf '// SPIR-V of shaders/%s.comp, by shaders/precompiled/make.sh with %s.\n' "$(shader "$name")" \
            "$("$@" --version | sed -n 's/^Glslang Version: [0-9]*:/glslang /p')"
        hashes "$name"
        # Words as they are, whatever the byte order of this machine.
        od -An -v -tx1 -w32 "$folder/spirv" | sed -E 's/ (..) (..) (..) (..)/0x\4\3\2\1,/g'
    } >"$folder/inc"
    mv "$folder/inc" "$here/$name.inc"
    rm -r "$folder"
}

# check NAME: says what differs
check() {
    local name=$1 differs
    differs=$({ diff <(grep '^// sha256 ' "$here/$name.inc") <(hashes "$name") || true; } |
        sed -n 's/^[<>].* //p' | sort -u)
    [ -n "$differs" ] || return 0
    printf 'shaders/precompiled/%s.inc was not made of these sources as they are now:\n%s\n' "$name" "$differs" >&2
    printf 'make it anew: shaders/precompiled/make.sh GLSLANG, with glslangValidator 16 or newer (its head says how\n' >&2
    printf 'one that is unpacked in a folder is started)\n' >&2
    return 1
}

[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
for file in "$here"/*.inc; do
    name=$(basename "$file" .inc)
    if [ "$1" = --check ]; then check "$name"; else make "$name" "$@"; fi
done
