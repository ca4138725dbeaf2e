# shellcheck shell=bash
# What run.sh finds on the machine, and what it lacks. $tests and $repository are run.sh's.
# shellcheck disable=SC2154

# Exports where this machine has what the kit has not: the driver, cuBLAS, Vulkan's driver, compute-sanitizer, PyTorch.
set_up_machine() {
    local place
    export HEADSCOPE_CUDA_MODULES=$DEVICE_KIT/modules
    if dry; then export HEADSCOPE_CUDA_DRIVER=$DEVICE_KIT/driver/driver.so; fi
    export HEADSCOPE_SOURCE_DIR=$repository HEADSCOPE_FAKE_VULKAN=$DEVICE_KIT/bin/libheadscope_fake_vulkan.so
    for place in "$DEVICE_KIT/model" "$repository/assets/models/en-de"; do
        if [ -d "$place" ]; then export HEADSCOPE_MODEL=$place && break; fi
    done
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
    DEVICE_NCU=$(command -v ncu)
    for place in /usr/local/cuda*/bin/ncu; do
        [ -n "$DEVICE_NCU" ] || [ ! -x "$place" ] || DEVICE_NCU=$place
    done
    DEVICE_TORCH=$(if dry; then echo cpu; else echo cuda; fi)
    if ! "${PYTHON:-python3}" -c "import torch; assert '$DEVICE_TORCH' == 'cpu' or torch.cuda.is_available()" 2>/dev/null; then
        DEVICE_TORCH=""
    fi
    export DEVICE_VULKAN DEVICE_SANITIZER DEVICE_NCU DEVICE_TORCH
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
    case "$1" in
        ops | model | own | trainer)
            [ -x "$DEVICE_KIT/bin/test_ops" ] || { echo "needs the kit of tests" && return; }
            [ "$1" != own ] || [ -n "$DEVICE_VULKAN" ] || { echo "no GPU with Vulkan was found" && return; }
            ;;
        translations) [ -n "${HEADSCOPE_MODEL:-}" ] || { echo "needs a model (pack.sh --model)" && return; } ;;
        variants)
            [ -n "$(find "$DEVICE_KIT" -maxdepth 1 -name 'modules-*')" ] || { echo "the kit has none" && return; }
            ;;
        tune) [ -n "$DEVICE_VULKAN" ] || { echo "no GPU with Vulkan was found" && return; } ;;
        counters) [ -n "$DEVICE_NCU" ] || { echo "no ncu was found" && return; } ;;
        sanitizer)
            ! dry || { echo "needs a real GPU" && return; }
            [ -n "$DEVICE_SANITIZER" ] || { echo "no compute-sanitizer was found" && return; }
            [ "$3" != ops ] || [ -x "$DEVICE_KIT/bin/test_ops" ] || { echo "needs the kit of tests" && return; }
            ;;
        peer | ceilings)
            [ -n "$DEVICE_TORCH" ] || { echo "no PyTorch for it was found (PYTHON names a Python that has it)" && return; }
            ;;
    esac
    case "$*" in
        "ops ptx60" | *" compiled"*) dry && echo "needs a real GPU" ;;
        *" vulkan"*) [ -z "$DEVICE_VULKAN" ] && echo "no GPU with Vulkan was found" ;;
        *) false ;;
    esac
}
