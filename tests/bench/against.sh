#!/usr/bin/env bash
# This checkout beside another commit: the same works, in turns, so that whatever else the machine does meets both.
#
#   ./do bench --against COMMIT            all works, 5 rounds
#   ./do bench --against COMMIT train i8   the works whose names contain one of these words
#   ROUNDS=3 DEVICE=vulkan ./do bench --against COMMIT
#
# The other commit is built below build/against/ and kept there. For each work the table has the median time of both, and
# the median, the least and the most of the rounds' ratios: above 1, this checkout is faster. HEADSCOPE_THREADS counts for
# both.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
now=$1
commit=$2
shift 2
rounds=${ROUNDS:-5}
device=${DEVICE:-cpu}

readonly SHIPPED='--encoder-layers 6 --decoder-layers 3'
works() {
    cat <<WORKS
translate-1-f32         translate $SHIPPED --sentences 1 --source-length 12 --target-length 12
translate-1-i8          translate $SHIPPED --sentences 1 --source-length 12 --target-length 12 --precision i8
translate-1-f32-beam4   translate $SHIPPED --sentences 1 --source-length 12 --target-length 12 --beam 4
translate-32-f32        translate $SHIPPED --sentences 32 --source-length 12 --target-length 12
translate-32-i8         translate $SHIPPED --sentences 32 --source-length 12 --target-length 12 --precision i8
translate-32-f32-beam4  translate $SHIPPED --sentences 32 --source-length 12 --target-length 12 --beam 4
translate-32-i8-beam4   translate $SHIPPED --sentences 32 --source-length 12 --target-length 12 --beam 4 --precision i8
translate-long-f32      translate $SHIPPED --sentences 8 --source-length 200 --target-length 40
complete-1-f32          complete --sentences 1 --source-length 32 --target-length 64
complete-1-f16          complete --sentences 1 --source-length 32 --target-length 64 --precision f16
complete-1-i8           complete --sentences 1 --source-length 32 --target-length 64 --precision i8
complete-1-q4           complete --sentences 1 --source-length 32 --target-length 64 --precision q4
complete-32-f32         complete --sentences 32 --source-length 32 --target-length 32
train                   train $SHIPPED --sentences 64 --source-length 32 --target-length 32 --repeat 2
train-multi30k          train --d-model 128 --d-ff 256 --heads 4 --vocabulary 9700 --dropout 0.3 --sentences 256 --source-length 16 --target-length 16 --repeat 2
train-causal            train --config causal --sentences 4 --repeat 2
WORKS
}

fail() {
    echo "against.sh: $*" >&2
    exit 1
}

sha=$(git -C "$root" rev-parse --verify --quiet "$commit^{commit}") || fail "there is no commit '$commit' here"
there=$root/build/against/${sha:0:12}
before=$there/build/headscope
if [ ! -x "$before" ]; then
    echo "Building ${sha:0:12} in $there: minutes." >&2
    [ -d "$there/source" ] || git -C "$root" worktree add --quiet --detach "$there/source" "$sha"
    cmake -S "$there/source" -B "$there/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEADSCOPE_TESTS=OFF \
        -DHEADSCOPE_VIEWER=OFF >/dev/null
    cmake --build "$there/build" --target headscope >&2
fi

wanted() { # NAME WORD..
    local name=$1 word
    shift
    [ $# -gt 0 ] || return 0
    for word in "$@"; do
        [[ $name != *$word* ]] || return 0
    done
    return 1
}

seconds() { # PROGRAM WORDS.. of a work: the median run
    "$1" bench "${@:2}" --device "$device" --no-peak --json | jq '.run_seconds | sort | .[length / 2 | floor]'
}

results=$(mktemp)
trap 'rm -f "$results"' EXIT
for ((round = 1; round <= rounds; round++)); do
    while read -r name work; do
        wanted "$name" "$@" || continue
        read -ra words <<<"$work"
        [[ $work == *--repeat* ]] || words+=(--repeat 3)
        # The first of a pair may meet a colder processor: both take turns at it.
        if ((round % 2)); then
            other=$(seconds "$before" "${words[@]}")
            own=$(seconds "$now" "${words[@]}")
        else
            own=$(seconds "$now" "${words[@]}")
            other=$(seconds "$before" "${words[@]}")
        fi
        echo "$name $other $own" >>"$results"
    done < <(works)
done
[ -s "$results" ] || fail "no work is called like that: $(works | cut -d ' ' -f 1 | tr '\n' ' ')"

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $device, $(date +%F), load $(cut -d ' ' -f 1 /proc/loadavg), $rounds rounds"
jq -Rrn --arg before "${sha:0:12}" --arg now "$(git -C "$root" describe --always --dirty --abbrev=12)" '
    def median: sort | .[length / 2 | floor];
    def fixed: . * 1000 | round / 1000;
    ["work", "\($before) ms", "\($now) ms", "ratio", "from", "to", ""],
    ([inputs | split(" ") | {work: .[0], before: (.[1] | tonumber), now: (.[2] | tonumber)}] | group_by(.work)[]
     | map(.before / .now) as $ratios
     | [.[0].work, (map(.before * 1000) | median | fixed), (map(.now * 1000) | median | fixed),
        ($ratios | median | fixed), ($ratios | min | fixed), ($ratios | max | fixed),
        if ($ratios | median) < 0.95 then "SLOWER" else "" end]) | @tsv' "$results" | column -t -s "$(printf '\t')"
