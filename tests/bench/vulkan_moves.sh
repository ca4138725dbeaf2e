#!/bin/sh
# What a Vulkan device can move at all, by each way to load and store that a kernel has (docs/benchmarks.md).
#
#   tests/bench/vulkan_moves.sh build/release [DEVICE]     DEVICE: its number in the loader's order, 0 without it
set -eu

if [ $# -lt 1 ]; then
    sed -n '2,4s/^# \{0,1\}//p' "$0"
    exit 2
fi
source=$(dirname "$0")/vulkan_moves.comp
program=$1/tests/bench_vulkan_moves
[ -x "$program" ] || { echo "vulkan_moves.sh: no program '$program': ./do build --all makes it" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

compile() { # KERNEL [OPTION..]
    kernel=$1
    shift
    glslangValidator --target-env vulkan1.2 -V "-D$kernel" "$@" -o "$folder/$kernel.spv" "$source" >"$folder/log" ||
        { cat "$folder/log" >&2; exit 1; }
}

for kernel in fours words texels texels_both read_fours read_words read_texels write_fours; do
    compile "$kernel"
done
for kernel in uniform_words uniform_floats uniform_step broadcast read_uniform read_lanes write_words; do
    compile "$kernel" -DUNIFORM
done
"$program" "$folder" "${2:-0}"
