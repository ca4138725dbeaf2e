#!/usr/bin/env bash
# What AMD's compiler makes of the kernels, without a GPU of theirs: RADV, Mesa's driver, compiles for any of them.
#
#   tests/compile_only/families.sh BUILD OUT [FAMILY..]   BUILD has headscope and compile_only (./do check amd builds
#                                                         them); OUT gets FAMILY.jsonl, a line each kernel of a whole
#                                                         conformance run, and FAMILY.txt, a table of them
#
# Fails where a kernel is not compiled, or keeps in memory what its registers cannot hold, and where the paper's models run
# one on such a GPU that conformance does not prove. 77: no driver knows any of the families.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

[ $# -ge 2 ] || {
    sed -n '4,6s/^# *//p' "$0" >&2
    exit 2
}
readonly HEADSCOPE=$1/headscope SHIM=$1/tests/libheadscope_compile_only.so OUT=$2
shift 2
# Since 2016: GCN 4 and 5, RDNA 1 to 3.
[ $# -gt 0 ] || set -- polaris10 vega10 navi10 navi21 navi31
mkdir -p "$OUT"

HEADSCOPE_REAL_VULKAN=$(ldconfig -p | sed -n 's/.*libvulkan\.so\.1 (libc6,.*64) => //p' | head -n 1)
[ -n "$HEADSCOPE_REAL_VULKAN" ] || {
    echo "SKIPPED: there is no libvulkan.so.1: install libvulkan1"
    exit 77
}
export HEADSCOPE_REAL_VULKAN
# Nothing is computed, so no trial can pass, and nothing is worth keeping.
export HEADSCOPE_VULKAN_DISABLE=matrix_trial,half_trial,tuning,pipeline_cache,driver_probe
unset DISPLAY WAYLAND_DISPLAY HEADSCOPE_DEVICE

# on FAMILY KERNELS ARGUMENTS..: headscope on that GPU, which appends to KERNELS what is compiled
on() {
    RADV_FORCE_FAMILY=$1 HEADSCOPE_COMPILED=$2 LD_PRELOAD=$SHIM "$HEADSCOPE" "${@:3}"
}

# work FAMILY KERNELS DEVICE: trains and translates with the paper's base model and ours. What comes of it is nonsense.
work() {
    local model precision
    for model in "--config base" "--model assets/models/en-de"; do
        for precision in f32 f16 bf16; do
            # shellcheck disable=SC2086 # two words
            on "$1" "$2" bench train $model --device "$3" --precision $precision --steps 1 --repeat 1 || true
            for batch in "1 --beam 1" "1 --beam 4" "7 --beam 1" "32 --beam 4"; do
                # shellcheck disable=SC2086
                on "$1" "$2" bench translate $model --device "$3" --precision $precision --sentences $batch --repeat 1 || true
            done
        done
    done
}

readonly SPILLED='.statistics["Spilled VGPRs"] > 0'
# The most and least of what the driver says of each kernel, in its words.
readonly TABLE='
    def most(name): map(.statistics[name]) | max; def least(name): map(.statistics[name]) | min;
    ["KERNEL", "N", "VGPRS", "SPILLED", "LDS", "SUBGROUPS", "BYTES"],
    (group_by(.module)[] | [.[0].module, length, most("VGPRs"), most("Spilled VGPRs"), most("LDS size"),
        least("Subgroups per SIMD"), most("Code size")]) | @tsv'

tried=0
failed=0
for family in "$@"; do
    kernels=$OUT/$family.jsonl
    used=$OUT/$family-work.jsonl
    log=$OUT/$family.log
    : >"$kernels"
    : >"$used"
    device=$( (on "$family" "$kernels" devices --json 2>"$log" || true) |
        jq -r '[.[] | select(.backend == "vulkan" and (.name // "" | test("RADV")))][0] | select(.) | "\(.id) \(.name), \(.driver)"')
    if [ -z "$device" ]; then
        echo "$family: no driver here knows it without its hardware ($(grep -m 1 -i radv "$log" || echo 'no RADV'))"
        continue
    fi
    tried=$((tried + 1))
    # All results are wrong, and that is no news.
    on "$family" "$kernels" conform --device "${device%% *}" --full --no-speed >"$log" 2>&1 || true
    work "$family" "$used" "${device%% *}" >>"$log" 2>&1
    jq -rs "$TABLE" "$kernels" | column -t >"$OUT/$family.txt"
    unproven=$OUT/$family-unproven.json
    jq -cn --slurpfile proven "$kernels" --slurpfile used "$used" \
        'def names: map([.module, .constants]); ($used | names) - ($proven | names) | unique[]' >"$unproven"
    said=$(jq -rs "\"\(length) kernels, \(map(select(.result != 0)) | length) not compiled, \" +
        \"\(map(select($SPILLED)) | length) larger than their registers, which are at most \(map(.statistics.VGPRs) | max)\"" \
        "$kernels")
    echo "$family (${device#* }): $said; $(jq -s 'unique_by([.module, .constants]) | length' "$used") used, $(wc -l <"$unproven") of them not proven"
    # As many as there are when nothing ends a run before its time.
    if ! jq -es "length > 2000 and all(.result == 0 and ($SPILLED | not))" "$kernels" >/dev/null ||
        ! jq -es 'length > 100' "$used" >/dev/null || [ -s "$unproven" ]; then
        failed=1
        tail -n 3 "$log"
        jq -c "select(.result != 0 or ($SPILLED)) | [.module, .constants, .result, .statistics[\"Spilled VGPRs\"]]" "$kernels"
        sed 's/^/not proven: /' "$unproven"
    fi
done
[ "$tried" -gt 0 ] || {
    echo "SKIPPED: RADV compiles for GPUs that are not there up to Mesa 25: install mesa-vulkan-drivers of one of those"
    exit 77
}
exit "$failed"
