#!/usr/bin/env bash
# Searches with libFuzzer (clang, ASan, UBSan) from each target's seeds: run.sh [TARGET..], all of them without a name.
# HEADSCOPE_FUZZ_SECONDS for each, 60 where it is not set.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${HEADSCOPE_FUZZ_SECONDS:-60}
[[ $seconds =~ ^[1-9][0-9]{0,6}$ ]] || { echo "run.sh: HEADSCOPE_FUZZ_SECONDS is '$seconds', expected a whole number of seconds from 1" >&2; exit 1; }
build=build/fuzz

cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DHEADSCOPE_FUZZ=ON -DHEADSCOPE_VULKAN=OFF \
    -DHEADSCOPE_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
names=("$@")
if [ $# -eq 0 ]; then
    for source in tests/fuzz/*_fuzz.cpp; do names+=("$(basename "$source" _fuzz.cpp)"); done
fi
for name in "${names[@]}"; do
    [ -f "tests/fuzz/${name}_fuzz.cpp" ] || { echo "run.sh: there is no target '$name': tests/fuzz/${name}_fuzz.cpp" >&2; exit 1; }
done
ninja -C "$build" "${names[@]/#/fuzz_}" "${names[@]/#/libfuzzer_}"
for name in "${names[@]}"; do
    corpus="$build/corpus/$name"
    "$build/tests/fuzz/fuzz_$name" --write-seeds "$corpus"
    echo "libfuzzer_$name, $seconds seconds"
    # What it finds stays in the folder and is begun with the next time.
    "$build/tests/fuzz/libfuzzer_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=0 \
        -verbosity=0 -print_funcs=0 -artifact_prefix="$build/corpus/$name-" "$corpus"
done
