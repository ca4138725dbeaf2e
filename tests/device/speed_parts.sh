# shellcheck shell=bash disable=SC2317 # parts are called by name
# The parts of run.sh that measure, alone on the machine: part_NAME is one, in a process of its own with the working
# folder DEVICE_WORK. What they measure goes into bench/, which measure.py and summary.py read. $tests and $repository
# are run.sh's.
# shellcheck disable=SC2154

shape() { # train|translate [REPEAT] [SENTENCES]
    if dry; then
        echo "$1 --encoder-layers 1 --decoder-layers 1 --d-model 32 --d-ff 64 --heads 2 --vocabulary 96 --sentences 2" \
            "--source-length 8 --target-length 8 --repeat 1$([ "$1" = train ] && echo ' --steps 1')"
    elif [ "$1" = train ]; then
        echo "train --config base --steps 5 --repeat ${2:-5}"
    else
        echo "translate --config base --repeat ${2:-3}${3:+ --sentences $3}"
    fi
}

part_bench() { # train|translate PRECISION [cuda|vulkan|one|beam]
    local device=cuda how=${3:-} sentences=""
    local more=()
    case $how in
        vulkan) device=$DEVICE_VULKAN ;;
        one) sentences=1 ;;
        beam) more=(--beam 4) ;;
    esac
    # shellcheck disable=SC2046 # the shape is several words
    run headscope bench $(shape "$1" "" "$sentences") "${more[@]}" --no-peak --device "$device" --precision "$2" --json |
        tee "bench/headscope-$1-$2-$how.json"
    return "${PIPESTATUS[0]}"
}

part_bench_small() { # train|translate DEVICE [LABEL]
    # shellcheck disable=SC2046
    run headscope bench $(if dry; then shape "$1"; else echo "$1"; fi) --device "$(test_device "$2")" --no-peak --json |
        tee "bench/headscope-$1-f32-small_$2${3:+_$3}.json"
    return "${PIPESTATUS[0]}"
}

part_profile() { # [PRECISION vulkan]
    # shellcheck disable=SC2046
    run headscope bench $(shape train 1) --no-peak --device "$(test_device "${2:-cuda}")" --precision "${1:-bf16}" \
        --profile --json | tee "bench/profile${2:+-$2}.json"
    local code=${PIPESTATUS[0]}
    [ -n "${2:-}" ] || measure profile bench/profile.json "${DEVICE_DRY:+dry}" || code=1
    return "$code"
}

# What a word of HEADSCOPE_CUDA_DISABLE is measured with (predictions.py): the arguments of headscope bench.
ablated_work() { # WORK
    case $1 in
        train) echo "$(shape train) --precision bf16" ;;
        train_tf32) echo "$(shape train) --precision tf32" ;;
        long) echo "$(pick "$(shape train)" "train --config causal --sentences 4 --target-length 2048 --repeat 3") --precision bf16" ;;
        decode) echo "$(shape translate "" 1) --precision bf16" ;;
        decode_f32) echo "$(shape translate "" 1) --precision f32" ;;
    esac
}

# How long a step takes with others in place of the kernels that a word of HEADSCOPE_CUDA_DISABLE names, for every word
# that the program knows. Each number is written at once.
part_ablations() {
    local word work
    # The program lists its words where it meets one that it does not know.
    HEADSCOPE_CUDA_DISABLE='?' headscope devices --json | measure switches >words || return 1
    while read -r word work; do
        if [ ! -e "bench/with-all-$work.json" ]; then
            # shellcheck disable=SC2046 # the work is several words
            run headscope bench $(ablated_work "$work") --no-peak --device cuda --json >"bench/with-all-$work.json" || return 1
        fi
        # shellcheck disable=SC2046
        HEADSCOPE_CUDA_DISABLE=$word run headscope bench $(ablated_work "$work") --no-peak --device cuda --json \
            >"bench/without-$word.json" || return 1
        measure ablation "bench/with-all-$work.json" "$word" "bench/without-$word.json"
    done <words
}

part_variants() {
    local folder name
    # shellcheck disable=SC2046
    run headscope bench $(shape train) --no-peak --device cuda --precision bf16 --json >bench/with-all-train.json || return 1
    for folder in "$DEVICE_KIT"/modules-*; do
        name=${folder##*/modules-}
        # shellcheck disable=SC2046
        HEADSCOPE_CUDA_MODULES=$folder run headscope bench $(shape train) --no-peak --device cuda --precision bf16 --json \
            >"bench/variant-$name.json" || return 1
        measure variant bench/with-all-train.json "$name" "bench/variant-$name.json"
    done
}

part_products() {
    # shellcheck disable=SC2046
    run headscope bench ops --op matmul,linear --device cuda --precision bf16 --repeat 3 --json \
        $(if dry; then echo --sentences 2 --length 3 --size 16; else
            echo --config base --sentences 625 --length 40 --size 8192; fi) >bench/products.json || return 1
    measure ops bench/products.json
}

part_lengths() {
    local device
    for device in cuda ${DEVICE_VULKAN:+"$DEVICE_VULKAN"}; do
        run headscope bench ops --op attention,attention_backward --length "$(pick 4..8 128..8192)" --device "$device" \
            --precision "$(pick f32 f16)" --repeat "$(pick 1 3)" || return 1
    done
}

part_ceilings() {
    run "${PYTHON:-python3}" "$tests/ceilings.py" "$DEVICE_TORCH" "$(pick 64 8192)" | tee bench/ceilings.json
    return "${PIPESTATUS[0]}"
}

part_peer() { # train|translate PRECISION eager|compiled
    # shellcheck disable=SC2046
    run "${PYTHON:-python3}" "$repository/tests/bench/pytorch_peer.py" $(shape "$1") --device "$DEVICE_TORCH" --precision "$2" \
        --profile $([ "$3" = compiled ] && echo --compile) | tee "bench/pytorch-$1-$2-$3.json"
    return "${PIPESTATUS[0]}"
}

# One launch of each kernel in the middle of its op's case, with every counter and the card's own clocks.
part_counters() {
    local op kernel
    while read -r op kernel; do
        LD_LIBRARY_PATH=$DEVICE_LIBRARIES run "$DEVICE_NCU" --set full --clock-control none --kernel-name "regex:$kernel" \
            --launch-skip 2 --launch-count 1 "$DEVICE_KIT/bin/headscope" bench ops --op "$op" --device cuda \
            --precision bf16 --config base --sentences 100 --length 40 --repeat 1 || return 1
    done <<'OPS'
attention_backward attend_short_back
attention attend_short
add_layer_norm_backward norm_rows_back
smoothed_cross_entropy cross_entropy
OPS
}

part_bench_ops() {
    # shellcheck disable=SC2046
    run headscope bench ops --device all --json $(dry && echo --op search --sentences 2 --length 3 --repeat 1) |
        tee bench/ops.json
    return "${PIPESTATUS[0]}"
}

part_tune() { # PRECISION
    # shellcheck disable=SC2046
    run headscope tune --device vulkan --precision "$1" --json $(if dry; then echo --sentences 2 --length 3 --size 16 --repeat 1; else
        echo --sentences 64 --length 32 --size 512 --size $([ "$1" = f16 ] && echo 2048 || echo 1024); fi) |
        tee "bench/tuned-$1.json"
    return "${PIPESTATUS[0]}"
}
