#!/usr/bin/env bash
# Searches with libFuzzer (clang, ASan, UBSan) from each target's seeds: run.sh [SECONDS for each target]
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
build=build/fuzz

cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DHEADSCOPE_FUZZ=ON -DHEADSCOPE_VULKAN=OFF \
    -DHEADSCOPE_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
names=()
for source in tests/fuzz/*_fuzz.cpp; do
    name=$(basename "$source" _fuzz.cpp)
    names+=("$name")
done
ninja -C "$build" "${names[@]/#/fuzz_}" "${names[@]/#/libfuzzer_}"
for name in "${names[@]}"; do
    corpus="$build/corpus/$name"
    "$build/tests/fuzz/fuzz_$name" --write-seeds "$corpus"
    echo "libfuzzer_$name, $seconds seconds"
    # What it finds stays in the folder and is begun with the next time.
    "$build/tests/fuzz/libfuzzer_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=0 \
        -verbosity=0 -artifact_prefix="$build/corpus/$name-" "$corpus"
done
