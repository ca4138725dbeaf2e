# shellcheck shell=bash disable=SC2317 # parts are called by name
# The parts of run.sh: part_NAME is one, in a process of its own with the working folder DEVICE_WORK. Its exit status is
# the outcome, and what it prints is its log: "+ COMMAND" for every command, "NOTE: ..." for what the summary shows.
# $tests and $repository are run.sh's.
# shellcheck disable=SC2154

# ------------------------------------------------------------------------------------------------- the machine

# Exports where this machine has what the kit has not: the driver, cuBLAS, Vulkan's driver, compute-sanitizer, PyTorch.
set_up_machine() {
    local place
    if [ -z "$DEVICE_DRY" ]; then export HEADSCOPE_CUDA_MODULES=$DEVICE_KIT/modules; fi
    DEVICE_LIBRARIES=$DEVICE_KIT/lib
    place=$(cublas_folder)
    [ -z "$place" ] || DEVICE_LIBRARIES=$DEVICE_LIBRARIES:$place
    if ! ldconfig -p | grep -q 'libcuda\.so\.1 ' && [ -e /usr/local/nvidia/lib64/libcuda.so.1 ]; then
        DEVICE_LIBRARIES=$DEVICE_LIBRARIES:/usr/local/nvidia/lib64
    fi
    DEVICE_LIBRARIES=$DEVICE_LIBRARIES${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export DEVICE_LIBRARIES
    if ! headscope --version >/dev/null 2>&1; then DEVICE_LIBRARIES=$DEVICE_LIBRARIES:$DEVICE_KIT/spare; fi
    find_vulkan
    if [ -z "$DEVICE_VULKAN" ]; then # its driver may lack a display's libraries
        DEVICE_LIBRARIES=$DEVICE_LIBRARIES:$DEVICE_KIT/display
        find_vulkan
    fi
    DEVICE_SANITIZER=$(command -v compute-sanitizer)
    for place in /usr/local/cuda*/bin/compute-sanitizer /usr/local/cuda*/compute-sanitizer/compute-sanitizer; do
        [ -n "$DEVICE_SANITIZER" ] || [ ! -x "$place" ] || DEVICE_SANITIZER=$place
    done
    DEVICE_TORCH=$(if dry; then echo cpu; else echo cuda; fi)
    if ! "${PYTHON:-python3}" -c "import torch; assert '$DEVICE_TORCH' == 'cpu' or torch.cuda.is_available()" 2>/dev/null; then
        DEVICE_TORCH=""
    fi
    export DEVICE_VULKAN DEVICE_SANITIZER DEVICE_TORCH
}

# Sets DEVICE_VULKAN, and VK_DRIVER_FILES where the loader does not find the driver by itself.
find_vulkan() {
    local place
    DEVICE_VULKAN=$(vulkan_gpu)
    for place in /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json /etc/vulkan/icd.d/nvidia_icd*.json \
        /usr/share/vulkan/icd.d/nvidia_icd*.json /usr/lib/*/nvidia/*/nvidia_icd*.json; do
        if [ -z "$DEVICE_VULKAN" ] && [ -e "$place" ]; then
            export VK_DRIVER_FILES=$place
            DEVICE_VULKAN=$(vulkan_gpu)
        fi
    done
    [ -n "$DEVICE_VULKAN" ] || unset VK_DRIVER_FILES
}

cublas_folder() { # beside the modules' toolkit, or in PyTorch's wheels
    local folder
    for folder in /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib /usr/local/cuda-13*/lib64 \
        "$(python3 -c 'import nvidia; print(list(nvidia.__path__)[0])' 2>/dev/null)"/cu13/lib; do
        if [ -e "$folder/libcublas.so.13" ] && [ -e "$folder/libcublasLt.so.13" ]; then
            printf '%s' "$folder"
            return
        fi
    done
}

vulkan_gpu() { # the id of the first; on a dry run of any Vulkan device
    headscope devices --json 2>/dev/null | python3 "$tests/measure.py" vulkan ${DEVICE_DRY:+--software}
}

# Why a part cannot be run on this machine; fails where it can.
left_out() { # PART ARGUMENT..
    case "$*" in
        "ops ptx60") [ -n "$DEVICE_DRY" ] && echo "needs a real GPU" ;;
        *" vulkan"*) [ -z "$DEVICE_VULKAN" ] && echo "no GPU with Vulkan was found" ;;
        sanitizer*)
            if [ -n "$DEVICE_DRY" ]; then echo "needs a real GPU"; else
                [ -z "$DEVICE_SANITIZER" ] && echo "no compute-sanitizer was found"
            fi
            ;;
        *" compiled") [ -n "$DEVICE_DRY" ] && echo "needs a real GPU" ;;
        peer*)
            [ -z "$DEVICE_TORCH" ] && echo "no PyTorch for it was found (PYTHON names a Python that has it)"
            ;;
        *) false ;;
    esac
}

# ------------------------------------------------------------------------------------------------- commands

run() { # COMMAND..: says and does it
    local words="$*"
    printf '+ %s\n' "${words//$DEVICE_WORK\//}"
    "$@"
}
headscope() { LD_LIBRARY_PATH=$DEVICE_LIBRARIES "$DEVICE_KIT/bin/headscope" "$@"; }
tested() { # PROGRAM BACKEND [TESTS]: Catch2's, on one backend alone
    printf '+ HEADSCOPE_TEST_DEVICES=%s %s %s\n' "$2" "$1" "${*:3}"
    HEADSCOPE_TEST_DEVICES=$2 HEADSCOPE_REQUIRE_BACKENDS=${2%%:*} LD_LIBRARY_PATH=$DEVICE_LIBRARIES \
        "$DEVICE_KIT/bin/$1" "${@:3}" >"$1.$2.out" 2>&1
    local code=$?
    cat "$1.$2.out"
    echo "NOTE: $(tail -n 2 "$1.$2.out" | grep -v '^$' | tr -s '= ' | paste -sd ' ')"
    return $code
}
dry() { [ -n "$DEVICE_DRY" ]; }
pick() { if dry; then echo "$1"; else echo "$2"; fi; } # DRY REAL
measure() { python3 "$tests/measure.py" "$@"; }

# ------------------------------------------------------------------------------------------------- the list

each_correct_part() { # RUN-A-PART END: the long ones first
    local go=$1 end=$2 precision
    "$go" "$end" 250 ops_cuda "every op against the double oracle" ops cuda
    "$go" "$end" 250 ops_ptx60 "the same with the P100's PTX (compute_60), compiled by the driver" ops ptx60
    "$go" "$end" 250 ops_vulkan "every op against the double oracle on Vulkan" ops vulkan
    "$go" "$end" 170 memcheck_ops "compute-sanitizer memcheck: kernels of some families" sanitizer memcheck ops
    "$go" "$end" 170 racecheck_ops "compute-sanitizer racecheck: kernels of some families" sanitizer racecheck ops
    "$go" "$end" 120 memcheck_train "compute-sanitizer memcheck: training and translating" sanitizer memcheck train
    "$go" "$end" 120 racecheck_train "compute-sanitizer racecheck: training and translating" sanitizer racecheck train
    "$go" "$end" 120 model_cuda "whole models, PyTorch's vectors, training beside the oracle" model cuda
    "$go" "$end" 120 model_vulkan "the same on Vulkan" model vulkan
    "$go" "$end" 120 own_vulkan "the Vulkan backend's own tests" own vulkan
    "$go" "$end" 120 train_cuda "the trainer's tests" trainer cuda
    for precision in f32 bf16 f16; do
        "$go" "$end" 100 "curves_$precision" "training in $precision beside the CPU in f32" curves $precision
        "$go" "$end" 100 "repeat_$precision" "two trainings alike, bit for bit, in $precision" repeat $precision
    done
    "$go" "$end" 100 resume "stopped and resumed, against unbroken" resume
    "$go" "$end" 100 devices_change "a checkpoint of cuda goes on on cpu, and one of cpu on cuda" devices_change
    "$go" "$end" 100 translations "translations beside the CPU's" translations cuda
    "$go" "$end" 100 translations_vulkan "the same on Vulkan" translations vulkan
}

each_measured_part() { # RUN-A-PART END: what matters most first, nothing beside it
    local go=$1 end=$2 precision
    "$go" "$end" 60 train_bf16 "speed of training in bf16" bench train bf16
    "$go" "$end" 60 peer_train_bf16 "the same in PyTorch, eager" peer train bf16 eager
    "$go" "$end" 100 peer_train_bf16_compiled "the same in PyTorch, compiled" peer train bf16 compiled
    for precision in f16 tf32 f32; do
        "$go" "$end" 60 "train_$precision" "speed of training in $precision" bench train $precision
    done
    for precision in f32 bf16; do
        "$go" "$end" 45 "translate_$precision" "speed of greedy decoding in $precision" bench translate $precision
        "$go" "$end" 45 "peer_translate_$precision" "the same in PyTorch" peer translate $precision eager
    done
    "$go" "$end" 45 profile "where the time of a training step goes, bf16" profile
    for precision in tf32 f16 f32; do
        "$go" "$end" 45 "peer_train_$precision" "training in PyTorch in $precision, eager" peer train $precision eager
    done
    "$go" "$end" 90 conform_vulkan "every op on Vulkan: how far from the oracle, and how fast" conform vulkan
    "$go" "$end" 90 conform_cuda "the same on CUDA" conform cuda
    "$go" "$end" 45 train_vulkan "speed of training on Vulkan, small" bench_small train vulkan
    "$go" "$end" 45 translate_vulkan "speed of greedy decoding on Vulkan, small" bench_small translate vulkan
    "$go" "$end" 120 ops_speed "every op on every device beside the CPU" bench_ops
    "$go" "$end" 90 tune_vulkan "the fastest way of each product on Vulkan" tune
    "$go" "$end" 60 tune_vulkan_f16 "the same of products in F16, by matrices" tune f16
    "$go" "$end" 45 tuned_vulkan "the small training on Vulkan once more, tuned" bench_small train vulkan tuned
}

part_machine() {
    nvidia-smi 2>&1 || dry || return 1
    ldd --version | head -n 1
    nproc
    python3 -c 'import torch; print("torch", torch.__version__)'
    echo "libraries: $DEVICE_LIBRARIES"
    run headscope devices
    run headscope devices --json >devices.json
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

# "~[.]" leaves out hidden tests: each needs a process or minutes of its own.
ops_tests() { pick "[bias]" "~[harness]~[.]"; }

part_ops() { # cuda|vulkan|ptx60
    if [ "$1" = ptx60 ]; then
        export HEADSCOPE_CUDA_MODULES=$DEVICE_KIT/ptx60 CUDA_CACHE_DISABLE=1
        echo "+ export HEADSCOPE_CUDA_MODULES=kit/ptx60 CUDA_CACHE_DISABLE=1"
        tested test_ops cuda "$(ops_tests)"
    else
        tested test_ops "$(test_device "$1")" "$(ops_tests)"
    fi
}
test_device() { if [ "$1" = vulkan ]; then echo "$DEVICE_VULKAN"; else echo "$1"; fi; }

part_model() { tested test_model "$(test_device "$1")" "$(pick 'cached decoding*' '~[.]')"; }
part_own() { tested test_vulkan vulkan; }
part_trainer() { tested test_train cuda "$(pick '[devices]' '~[full_disk]~[.]')"; }

part_sanitizer() { # TOOL ops|train
    export HEADSCOPE_CUDA_GRAPHS=0
    # cuBLAS's kernels for Hopper synchronise by means that racecheck does not know.
    local tool=("$DEVICE_SANITIZER" --tool "$1" --error-exitcode 86 --print-limit 20 --kernel-regex-exclude kns=nvjet)
    echo "+ export HEADSCOPE_CUDA_GRAPHS=0"
    if [ "$2" = ops ]; then
        export HEADSCOPE_TEST_DEVICES=cuda LD_LIBRARY_PATH=$DEVICE_LIBRARIES
        run "${tool[@]}" "$DEVICE_KIT/bin/test_ops" \
            "[bias]~[.],[embedding]~[.],[search]~[.]"
    else
        export LD_LIBRARY_PATH=$DEVICE_LIBRARIES
        run "${tool[@]}" "$DEVICE_KIT/bin/headscope" train config.json --data data --output "sane-$1" --device cuda \
            --steps 3 --precision bf16 &&
            run "${tool[@]}" "$DEVICE_KIT/bin/headscope" translate --model "sane-$1/model" --device cuda \
                "$repository/assets/examples/everyday.en"
    fi
    local code=$?
    return $code
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
    if dry; then head -n 3 "${text[0]}" >few.en && text=(few.en); fi
    run headscope compare --device "$device" --with cpu "${text[@]}" | tee compared
    local code=${PIPESTATUS[0]}
    echo "NOTE: $(grep -m 1 ' sentences identically' compared)"
    [ "$1" = vulkan ] || run headscope compare --device "$device" --with cpu --precision bf16 "${text[@]}" || true
    return "$code"
}

# ------------------------------------------------------------------------------------------------- speed

shape() { # train|translate
    if dry; then
        echo "$1 --encoder-layers 1 --decoder-layers 1 --d-model 32 --d-ff 64 --heads 2 --vocabulary 96 --sentences 2" \
            "--source-length 8 --target-length 8 --repeat 1$([ "$1" = train ] && echo ' --steps 1')"
    elif [ "$1" = train ]; then
        echo "train --config base --steps 5 --repeat 5"
    else
        echo "translate --config base --repeat 3"
    fi
}

part_conform() { # cuda|vulkan
    # shellcheck disable=SC2046 # two words
    run headscope conform --device "$(test_device "$1")" --quick $(dry && echo --op search) \
        --json "bench/conform-$1.json" | tee conformed
    local code=${PIPESTATUS[0]}
    echo "NOTE: $(tail -n 1 conformed)"
    return "$code"
}

part_bench() { # train|translate PRECISION
    # shellcheck disable=SC2046 # the shape is several words
    run headscope bench $(shape "$1") --device cuda --precision "$2" --json | tee "bench/headscope-$1-$2-${3:-}.json"
    return "${PIPESTATUS[0]}"
}

part_bench_small() { # train|translate DEVICE [LABEL]
    local device
    device=$(test_device "$2")
    # shellcheck disable=SC2046
    run headscope bench $(if dry; then shape "$1"; else echo "$1"; fi) --device "$device" --json |
        tee "bench/headscope-$1-$2-${3:-}.json"
    return "${PIPESTATUS[0]}"
}

part_bench_ops() {
    # shellcheck disable=SC2046
    run headscope bench ops --device all --json $(dry && echo --op search --sentences 2 --length 3 --repeat 1) |
        tee bench/ops.json
    return "${PIPESTATUS[0]}"
}

part_tune() { # PRECISION
    # shellcheck disable=SC2046
    run headscope tune --device vulkan --precision "${1:-f32}" --json $(if dry; then echo --sentences 2 --length 3 --size 16 --repeat 1; else
        echo --sentences 64 --length 32 --size 512 --size $([ "${1:-}" = f16 ] && echo 2048 || echo 1024); fi) |
        tee "bench/tuned-${1:-f32}.json"
    return "${PIPESTATUS[0]}"
}

part_peer() { # train|translate PRECISION eager|compiled
    # shellcheck disable=SC2046
    run "${PYTHON:-python3}" "$repository/tests/bench/pytorch_peer.py" $(shape "$1") --device "$DEVICE_TORCH" --precision "$2" \
        $([ "$3" = compiled ] && echo --compile) | tee "bench/pytorch-$1-$2-$3.json"
    return "${PIPESTATUS[0]}"
}

part_profile() {
    # shellcheck disable=SC2046
    run headscope bench $(shape train) --device cuda --precision bf16 --profile --json | tee bench/profile.json
    return "${PIPESTATUS[0]}"
}
