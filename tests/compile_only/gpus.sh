#!/usr/bin/env bash
# What a vendor's compiler makes of the kernels, without a GPU of theirs: Mesa's drivers compile for any that they know.
#
#   tests/compile_only/gpus.sh BUILD OUT VENDOR [GPU..]   BUILD has headscope and compile_only (./do check amd, intel and
#                                                         nvidia build them); OUT gets GPU.jsonl, a line each kernel of a
#                                                         conformance run, GPU-work.jsonl, those of training and decoding,
#                                                         and GPU.txt, a table of both
#
# Fails where a kernel is not compiled, where the paper's models run one on such a GPU that conformance does not prove or
# that keeps in memory what its registers cannot hold, and on AMD's, whose registers all paths fit, where any kernel does.
# 77: no driver here knows any of the GPUs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

[ $# -ge 3 ] || {
    sed -n '4,7s/^# *//p' "$0" >&2
    exit 2
}
readonly HEADSCOPE=$1/headscope SHIM=$1/tests/libheadscope_compile_only.so OUT=$2 VENDOR=$3
shift 3

# Of PCI, and NVIDIA's chipset. Intel: Skylake, Ice Lake, Tiger Lake, Arc A770. NVIDIA: Turing, Ampere, Ada.
declare -rA IDS=([skl]=8086:1912 [icl]=8086:8a52 [tgl]=8086:9a49 [dg2]=8086:56a0
    [tu106]=10de:1f08:166 [ga106]=10de:2503:176 [ad104]=10de:2786:194)
# Whether every path's kernels have to fit registers: Intel's and NVIDIA's are forced into some that they would not choose.
case $VENDOR in
    amd) # GCN 4 and 5, RDNA 1 to 3
        [ $# -gt 0 ] || set -- polaris10 vega10 navi10 navi21 navi31
        readonly DRIVER=RADV MISSING='RADV compiles for GPUs that are not there up to Mesa 25' EVERY=true
        ;;
    intel)
        [ $# -gt 0 ] || set -- skl icl tgl dg2
        readonly DRIVER=Intel MISSING='there is no Vulkan driver of Intel, or it was built without libdrm-dev' EVERY=false
        ;;
    nvidia)
        [ $# -gt 0 ] || set -- tu106 ga106 ad104
        readonly DRIVER=NVK MISSING='NVK is part of Mesa from 25 on, as in Debian 13' EVERY=false
        ;;
    *)
        echo "gpus.sh: there is no vendor '$VENDOR': amd, intel or nvidia" >&2
        exit 2
        ;;
esac
mkdir -p "$OUT"

# /sbin is not in everyone's PATH.
HEADSCOPE_REAL_VULKAN=${HEADSCOPE_REAL_VULKAN:-$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p |
    sed -n 's/.*libvulkan\.so\.1 (libc6,.*64) => //p' | head -n 1)}
[ -n "$HEADSCOPE_REAL_VULKAN" ] || {
    echo "SKIPPED: there is no libvulkan.so.1: install libvulkan1"
    exit 77
}
export HEADSCOPE_REAL_VULKAN
# Nothing is computed, so no trial can pass, and nothing is worth keeping.
export HEADSCOPE_VULKAN_DISABLE=trials,tuning,pipeline_cache,driver_probe
unset DISPLAY WAYLAND_DISPLAY HEADSCOPE_DEVICE
node=$(mktemp /tmp/gpu.XXXXXX) # Intel's driver keeps 19 characters of its name
readonly node
trap 'rm -f "$node"' EXIT

# on GPU KERNELS ARGUMENTS..: headscope on that GPU, which appends to KERNELS what is compiled
on() {
    truncate -s 0 "$node"
    local chosen=(RADV_FORCE_FAMILY="$1")
    [ "$VENDOR" = amd ] || chosen=(HEADSCOPE_GPU="${IDS[$1]}" HEADSCOPE_GPU_NODE="$node" MESA_SHADER_CACHE_DISABLE=1)
    env "${chosen[@]}" HEADSCOPE_COMPILED="$2" LD_PRELOAD="$SHIM" "$HEADSCOPE" "${@:3}"
}

# work GPU KERNELS DEVICE: trains and translates with the paper's base model and ours. What comes of it is nonsense.
work() {
    local model precision
    for model in "--config base" "--model assets/models/en-de"; do
        for precision in f32 f16 bf16; do
            # shellcheck disable=SC2086 # two words
            on "$1" "$2" bench train $model --device "$3" --precision $precision --steps 1 --repeat 1 || return 1
            for batch in "1 --beam 1" "1 --beam 4" "7 --beam 1" "32 --beam 4"; do
                # shellcheck disable=SC2086
                on "$1" "$2" bench translate $model --device "$3" --precision $precision --sentences $batch --repeat 1 ||
                    return 1
            done
        done
    done
}

# What each driver calls the same. A number, or this fails.
# shellcheck disable=SC2016 # jq's variables
readonly WORDS='
    def of_any(names): . as $all | first((names | $all.statistics[.] | numbers), error("no number of \([names]): \($all)"));
    def spilled: of_any("Spilled VGPRs", "Spill Count", "Spills to memory");
    def registers: .statistics | .VGPRs // .["Number of GPRs"] // "-";
    def cycles: of_any("Inverse Throughput", "Cycle Count", "Static cycle count");
    def size: .statistics["Subgroup size"];'
# shellcheck disable=SC2016
readonly TABLE="$WORDS"'
    ["KERNEL", "N", "REGISTERS", "SPILLED", "CYCLES", "SUBGROUPS OF"],
    (map(select(.result == 0)) | group_by(.module)[] | [.[0].module, length, (map(registers) | max), (map(spilled) | max), (map(cycles) | max),
        (map(size) | unique | join(" "))]) | @tsv'

tried=0
failed=0
for gpu in "$@"; do
    kernels=$OUT/$gpu.jsonl
    used=$OUT/$gpu-work.jsonl
    log=$OUT/$gpu.log
    : >"$kernels"
    : >"$used"
    device=$( (on "$gpu" "$kernels" devices --json 2>"$log" || true) |
        jq -r --arg driver "$DRIVER" '[.devices[] | select(.backend == "vulkan" and ((.name // "") + (.driver // "") | test($driver)))][0] |
            select(.) | "\(.id) \(.name), \(.driver)"')
    if [ -z "$device" ]; then
        echo "$gpu: no driver here knows it without its hardware"
        continue
    fi
    tried=$((tried + 1))
    # All results are wrong, and that is no news; that a device was lost, or the program was, would be.
    report=$OUT/$gpu-report.json
    rm -f "$report"
    how=(--full)
    if [ "$EVERY" = false ]; then
        # Beside the device's own choice what it chooses for products that are too large to be quick, and where no
        # tensor in F16 was made yet, so that conversions of F16 were not tried.
        paths=$( (on "$gpu" "$kernels" conform --device "${device%% *}" --quick --no-speed --op fill --json - 2>"$log" || true) |
            jq -r '[.devices[0].paths[] | select(startswith("large-") or . == "no-half-conversions")] | join(",")')
        how=(--quick --path "$paths")
    fi
    on "$gpu" "$kernels" conform --device "${device%% *}" "${how[@]}" --no-speed --json "$report" >"$log" 2>&1 || true
    if ! jq -e '(.devices[0].failure // "") == "" and ([.devices[].results[].cases] | add > 0)' "$report" >/dev/null; then
        failed=1
        echo "$gpu: conformance did not end: $(tail -n 1 "$log")"
        continue
    fi
    work "$gpu" "$used" "${device%% *}" >>"$log" 2>&1 || {
        failed=1
        echo "$gpu: training or decoding did not end: $(tail -n 1 "$log")"
        continue
    }
    jq -rs "$TABLE" "$kernels" "$used" >"$OUT/$gpu.txt"
    problems=$OUT/$gpu-problems.json
    jq -cn --slurpfile proven "$kernels" --slurpfile used "$used" --argjson every "$EVERY" "$WORDS"'
        def form: [.module, .constants, .asked];
        ($proven + $used | .[] | select(.result != 0) | {not_compiled: form}),
        ((if $every then $proven else [] end) + $used | unique_by(form) | .[] | select(.result == 0 and spilled > 0) |
            {larger_than_registers: form, spilled: spilled}),
        (($used | map(form)) - ($proven | map(form)) | unique[] | {not_proven: .}),
        ("gather_rows", "matmul_rows", "log_softmax_top_k", "adam" |
            select(. as $name | $used | any(.module == $name) | not) | {not_used: .})' >"$problems"
    echo "$gpu (${device#* }): $(jq -rs "$WORDS"'"\(length) kernels, \(map(select(.result == 0 and spilled > 0)) | length) larger than their registers"' "$kernels"); $(
        jq -rs "$WORDS"'unique_by([.module, .constants, .asked]) | "\(length) used, \(map(select(.result == 0 and spilled > 0)) | length) of them larger"' "$used"), $(
        grep -c not_proven "$problems" || true) not proven"
    if [ -s "$problems" ]; then
        failed=1
        cat "$problems"
    fi
done
[ "$tried" -gt 0 ] || {
    echo "SKIPPED: $MISSING: install mesa-vulkan-drivers of one that does"
    exit 77
}
exit "$failed"
