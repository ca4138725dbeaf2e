# shellcheck shell=bash disable=SC2317 # parts are called by name
# The parts of run.sh that check: part_NAME is one, in a process of its own with the working folder DEVICE_WORK. Its
# exit status is the outcome, and what it prints is its log. $tests and $repository are run.sh's.
# shellcheck disable=SC2154

part_machine() {
    nvidia-smi 2>&1 || dry || return 1
    ldd --version | head -n 1
    nproc
    python3 -c 'import torch; print("torch", torch.__version__)'
    echo "libraries: $DEVICE_LIBRARIES"
    run headscope devices
    headscope devices --json >devices.json
    cat "$DEVICE_KIT/commit"
    headscope devices --usable >usable
    grep -q '^cuda' usable || {
        echo "no cuda device can be used"
        return 1
    }
}

part_data() {
    run headscope make-task digits --output data --pairs "$(pick 300 20000)" || return 1
    # Every step in the log, checkpoints on the way, and dropout, whose bits are the same everywhere.
    measure config "$repository/assets/configs/digits.json" "$(pick tiny whole)" >config.json
}

# ------------------------------------------------------------------------------------------------- tests

# The ops whose kernels no card has run yet, in the dtypes that they are for: a process each.
readonly CHANGED=("attention f16" "attention bf16" "attention f32" "add_layer_norm f16,bf16,f32"
    "add_layer_norm_backward f16,bf16,f32" "smoothed_cross_entropy f16,bf16,f32" "bias_activation f16,bf16,f32"
    "bias_activation_backward f16,bf16,f32" "sum_rows f16,bf16,f32" "embed f16,bf16,f32" "embed_backward f16,bf16,f32"
    "dropout,adam f16,bf16,f32" "linear f16,bf16,f32" "log_softmax_top_k,cache_append f16,bf16,f32")
part_gate() {
    local code
    side_by_side "$(pick 2 "${#CHANGED[@]}")" gate_of | tee gated
    code=${PIPESTATUS[0]}
    echo "NOTE: $(grep -c '^+ ' gated) processes$(awk '/^FAILED|^NO COVER/ { print ";", $0 }' gated | head -n 3)"
    return "$code"
}
gate_of() { # NUMBER
    local op dtypes
    read -r op dtypes <<<"$(pick "sum_rows f16,bf16" "${CHANGED[$1 - 1]}")"
    HEADSCOPE_THREADS=1 run headscope conform --device cuda --quick --no-speed --op "$op" --dtype "$dtypes"
}

# Test cases that compare gradients on the oracle alone or test the harness itself, and hidden ones, are left out.
readonly OPS_TESTS="~[gradients]~[run]~[report]~[onnx]~[case]~[tune]~[side_by_side]~[judge]~[harness]~[.]"
ops_tests() { # NUMBER
    if dry; then
        echo "search agrees with the oracle"
    elif [ "$1" = 1 ]; then
        echo "$OPS_TESTS,every device agrees with ONNX's vectors,keys that a mask forbids do not matter*"
    else
        echo "$OPS_TESTS"
    fi
}
part_ops() { # cuda|vulkan|ptx60
    export HEADSCOPE_THREADS=1
    if [ "$1" = ptx60 ]; then
        export HEADSCOPE_CUDA_MODULES=$DEVICE_KIT/ptx60 CUDA_CACHE_PATH=$DEVICE_WORK/ptx-cache
        echo "+ export HEADSCOPE_CUDA_MODULES=kit/ptx60 CUDA_CACHE_PATH=ptx-cache"
        # The driver compiles once, and what it compiled is there for all.
        run headscope conform --device cuda --quick --no-speed --op square_sum || return 1
        tested test_ops cuda 14 ops_tests
    else
        tested test_ops "$(test_device "$1")" "$(pick 2 14)" ops_tests
    fi
}

part_model() { # cuda|vulkan
    model_tests() { pick "cached decoding*" "~[.]"; }
    tested test_model "$(test_device "$1")" 1 model_tests
}
part_trainer() {
    trainer_tests() { pick "A checkpoint can be opened in 16 bits" "~[full_disk]~[.]"; }
    tested test_train cuda 1 trainer_tests
}
part_own() {
    own_tests() { printf '%s\n' -f "own.$1"; }
    local processes
    processes=$(pick 2 14)
    deal_tests test_vulkan "$(pick "[slices],[floats]" "~[.]")" "$processes" own.
    tested test_vulkan vulkan "$processes" own_tests
}
part_conform() { # cuda|vulkan [timed]
    local device code families=(elementwise matmul linear bias layer_norm batch_norm attention additive edit_attention
        embedding blocks convolution experts loss optimizer recurrent rotary search)
    device=$(test_device "$1")
    conform_of() { # NUMBER: a family each
        HEADSCOPE_THREADS=1 run headscope conform --device "$device" --quick --no-speed --op "${families[$1 - 1]}" \
            --json "bench/conform-$1-$device.json"
    }
    if dry; then families=(search); fi
    if [ "${2:-}" = timed ]; then
        run headscope conform --device "$device" --quick --op "$(IFS=, && echo "${families[*]}")" \
            --json "bench/conform-$1.json" | tee "conformed-$1"
    else
        side_by_side "${#families[@]}" conform_of | tee "conformed-$1"
    fi
    code=${PIPESTATUS[0]}
    echo "NOTE: $(tail -n 1 "conformed-$1")"
    return "$code"
}

part_sanitizer() { # TOOL ops|train
    export HEADSCOPE_CUDA_GRAPHS=0
    # cuBLAS's kernels for Hopper synchronise by means that racecheck does not know.
    local tool=("$DEVICE_SANITIZER" --tool "$1" --error-exitcode 86 --print-limit 20 --kernel-regex-exclude kns=nvjet)
    echo "+ export HEADSCOPE_CUDA_GRAPHS=0"
    if [ "$2" = ops ]; then
        # Of the cases of each family a part: a sanitizer takes a hundred times as long.
        export HEADSCOPE_TEST_DEVICES=cuda HEADSCOPE_TEST_PART=1/12 LD_LIBRARY_PATH=$DEVICE_LIBRARIES
        echo "+ export HEADSCOPE_TEST_DEVICES=cuda HEADSCOPE_TEST_PART=1/12"
        run "${tool[@]}" "$DEVICE_KIT/bin/test_ops" \
            "[attention]~[gradients]~[.],[layer_norm]~[gradients]~[.],[loss]~[gradients]~[.]"
    else
        export LD_LIBRARY_PATH=$DEVICE_LIBRARIES
        run "${tool[@]}" "$DEVICE_KIT/bin/headscope" train config.json --data data --output "sane-$1" --device cuda \
            --steps 3 --precision bf16 &&
            run "${tool[@]}" "$DEVICE_KIT/bin/headscope" translate --model "sane-$1/model" --device cuda \
                "$repository/assets/examples/everyday.en"
    fi
}

# ------------------------------------------------------------------------------------------------- training

# Few enough that rounding has not grown to the first digits.
steps() { pick 6 50; }
trained() { # FOLDER DEVICE PRECISION ARGUMENTS..
    run headscope train config.json --data data --output "$1" --device "$2" --precision "$3" --steps "$(steps)" "${@:4}"
}

part_curves() { # PRECISION
    trained "curve-$1-cuda" cuda "$1" && trained "curve-$1-cpu" cpu f32 &&
        measure curves "curve-$1-cuda" "curve-$1-cpu" "$1"
}

part_repeat() { # PRECISION
    trained "first-$1" cuda "$1" && trained "second-$1" cuda "$1" && measure alike "first-$1" "second-$1"
}

# Stopped by a signal wherever it is, and gone on with.
part_resume() {
    trained whole cuda f32 || return 1
    echo "+ headscope train config.json --data data --output parts --device cuda --precision f32 --steps $(steps) & kill -TERM \$!"
    LD_LIBRARY_PATH=$DEVICE_LIBRARIES "$DEVICE_KIT/bin/headscope" train config.json --data data --output parts \
        --device cuda --precision f32 --steps "$(steps)" &
    local training=$! stopped
    until ls parts/checkpoints/step-*.safetensors >/dev/null 2>&1 || ! kill -0 $training 2>/dev/null; do sleep 0.02; done
    kill -TERM $training
    if wait $training; then
        echo "the training ended before it was stopped"
        return 1
    fi
    stopped=$(find parts/checkpoints -name 'step-*' | sort | tail -n 1)
    trained parts cuda f32 --resume && measure alike whole parts &&
        echo "NOTE: stopped after $(basename "$stopped" .safetensors)"
}

goes_on() { # FROM TO: half on each, against all on the second
    trained "unbroken-$2" "$2" f32 &&
        run headscope train config.json --data data --output "from-$1" --device "$1" --steps $(($(steps) / 2)) &&
        trained "from-$1" "$2" f32 --resume && measure curves "from-$1" "unbroken-$2" f32
}

part_devices_change() {
    goes_on cuda cpu && goes_on cpu cuda
}

part_translations() { # cuda|vulkan
    local device text=("$repository/assets/examples/everyday.en")
    device=$(test_device "$1")
    if [ -f "$DEVICE_KIT/held-out.tsv" ] && ! dry; then text=(--tsv "$DEVICE_KIT/held-out.tsv"); fi
    if dry; then head -n 1 "${text[0]}" >few.en && text=(few.en); fi
    run headscope compare --device "$device" --with cpu "${text[@]}" | tee compared
    local code=${PIPESTATUS[0]}
    echo "NOTE: $(grep -m 1 ' sentences identically' compared)"
    [ "$1" = vulkan ] || run headscope compare --device "$device" --with cpu --precision bf16 "${text[@]}" || true
    return "$code"
}
