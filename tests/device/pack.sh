#!/usr/bin/env bash
# Makes the kit that tests/device/run.sh needs on a GPU machine that has neither this project's packages nor a compiler:
# kit-speed.tar.xz has the program, its CUDA module and the libraries that they need, which is all that measuring takes,
# and kit-tests.tar.xz the test programs and the P100's module. run.sh runs what it has.
#
#   tests/device/pack.sh [OPTIONS]
#
#   --speed-alone       without the kit of tests, which adds to that of speed
#   --dry-run           for run.sh --dry-run: programs, emulated module and the tests' driver of one build, without nvcc
#   --variant FOLDER    also pack FOLDER/libheadscope_cuda13.so, whose training is timed beside the module's; may be
#                       repeated
#   --model FOLDER      also pack this model, for the parts that translate; tests/device/tree.sh leaves out all models
#   --make              configure and build first what is packed, with the toolkits of HEADSCOPE_CUDA_TOOLKITS='12;13',
#                       folders of a CUDA 12 and of a CUDA 13
#   --build FOLDER      where the programs and libheadscope_cuda13.so are (default build/device)
#   --ptx-build FOLDER  where libheadscope_cuda12.so is (default build/device-ptx): its kernels are PTX of compute_60
#                       alone, the P100's, for the driver of a newer card to compile
#   --output FOLDER     gets the kits and contents.txt (default out/device-kit)
#
# What travels, the kits and the tree (tests/device/tree.sh), may have 64 MiB in all. Kits that are larger are kept, and
# pack.sh fails.
#
# HEADSCOPE_HELD_OUT=FILE.tsv adds 500 lines of held-out text for `headscope compare`. HEADSCOPE_DEVICE_ARCHITECTURES
# says what --make compiles for (default 90).
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly MOST_MIB=64
# What NVIDIA's Vulkan driver is linked with, for a machine that has it and no display.
readonly DISPLAY_LIBRARIES=(libX11.so.6 libXext.so.6 libxcb.so.1 libXau.so.6 libXdmcp.so.6 libbsd.so.0 libmd.so.0
    libGLX.so.0 libGLdispatch.so.0 libEGL.so.1)
readonly TEST_PROGRAMS=(tests/test_ops tests/test_model tests/test_train tests/test_vulkan)

fail() {
    printf 'pack.sh: %s\n' "$*" >&2
    exit 1
}

make=no build=$repository/build/device ptx_build=$repository/build/device-ptx output=$repository/out/device-kit
kits=(speed tests) dry="" variants=() model=""
while [ $# -gt 0 ]; do
    case $1 in
        --speed-alone) kits=(speed) ;;
        --dry-run) dry=yes ;;
        --variant) variants+=("${2:?--variant needs a folder}") && shift ;;
        --model) model=${2:?--model needs a folder} && shift ;;
        --make) make=yes ;;
        --build) build=${2:?--build needs a folder} && shift ;;
        --ptx-build) ptx_build=${2:?--ptx-build needs a folder} && shift ;;
        --output) output=${2:?--output needs a folder} && shift ;;
        *) sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p' && exit 2 ;;
    esac
    shift
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ------------------------------------------------------------------------------------------------- build

toolkit() { # MAJOR: its folder
    local root
    while IFS= read -r -d ';' root; do
        [ -n "$root" ] || continue
        if "$root/bin/nvcc" --version 2>/dev/null | grep -q "release $1\."; then
            printf '%s' "$root"
            return
        fi
    done <<<"${HEADSCOPE_CUDA_TOOLKITS:-};"
    fail "HEADSCOPE_CUDA_TOOLKITS='${HEADSCOPE_CUDA_TOOLKITS:-}' names no CUDA $1, as in '/opt/cuda-12.4;/usr/local/cuda'"
}

library_of() { # TOOLKIT NAME
    find -L "$1" -name "$2" -path '*/lib*' -not -path '*/stubs/*' -print -quit
}

# The toolkit of CUDA 12 as its compiler and headers are, but with empty libraries of CUDA 13's names to link with: a
# machine with CUDA 13 has no cuBLAS 12, and the functions that are called are the same in both.
make_ptx_toolkit() { # TOOLKIT-12 FOLDER
    local part name library
    mkdir -p "$2/lib64"
    for part in bin include nvvm; do
        [ ! -e "$1/$part" ] || ln -sfn "$1/$part" "$2/$part"
    done
    ln -sfn "$(library_of "$1" libcudart_static.a)" "$2/lib64/libcudart_static.a"
    for name in cublas cublasLt; do
        library=$(library_of "$1" "lib$name.so")
        [ -n "$library" ] || fail "the toolkit in $1 has no lib$name.so"
        nm -D --defined-only "$library" |
            awk '$2 == "T" { sub(/@.*/, "", $3); printf ".globl %s\n.type %s, @function\n%s:\n", $3, $3, $3 }' |
            gcc -x assembler - -shared -nostdlib -Wl,-soname,"lib$name.so.13" -o "$2/lib64/lib$name.so"
    done
}

make_all() {
    local toolkit12 toolkit13
    toolkit12=$(toolkit 12)
    toolkit13=$(toolkit 13)
    cmake -G Ninja -S "$repository" -B "$build" -DCMAKE_BUILD_TYPE=Release -DHEADSCOPE_CUDA=ON -DHEADSCOPE_VIEWER=OFF \
        "-DHEADSCOPE_CUDA_TOOLKITS=$toolkit13" "-DHEADSCOPE_CUDA_ARCHITECTURES=${HEADSCOPE_DEVICE_ARCHITECTURES:-90}"
    cmake --build "$build" --parallel "$(nproc)" \
        --target headscope headscope_cuda13 headscope_fake_vulkan headscope_fake_cuda_driver "${TEST_PROGRAMS[@]##*/}"
    mkdir -p "$ptx_build"
    make_ptx_toolkit "$toolkit12" "$(realpath "$ptx_build")/toolkit"
    cmake -G Ninja -S "$repository" -B "$ptx_build" -DCMAKE_BUILD_TYPE=Release -DHEADSCOPE_CUDA=ON -DHEADSCOPE_VIEWER=OFF \
        -DHEADSCOPE_TESTS=OFF "-DHEADSCOPE_CUDA_TOOLKITS=$(realpath "$ptx_build")/toolkit" -DHEADSCOPE_CUDA_ARCHITECTURES=60-virtual
    cmake --build "$ptx_build" --parallel "$(nproc)" --target headscope_cuda12
}

# -------------------------------------------------------------------------------------------------- kit

packed() { # FILE FOLDER [--strip]: into the kit that is being made
    [ -f "$1" ] || fail "there is no $1: build it, or let --make do so"
    install -D -m 755 "$1" "$kit/$2/$(basename "$1")"
    [ "${3:-}" != --strip ] || strip --strip-unneeded "$kit/$2/$(basename "$1")"
}

cublas_folder() { dirname "$(library_of "${CUDA_PATH:-/usr/local/cuda}" libcublas.so.13)"; }

# What a module says of itself, from the same struct that the program reads (backends/cuda/module.h). Opening it shows
# that cuBLAS has every function that it calls.
facts_of() { # MODULE
    LD_LIBRARY_PATH=$(cublas_folder) python3 - "$1" <<'PYTHON'
import ctypes
import sys


class Module(ctypes.Structure):
    _fields_ = [("contract", ctypes.c_char_p), ("toolkit", ctypes.c_int), ("sm", ctypes.POINTER(ctypes.c_int)),
                ("ptx", ctypes.c_int), ("emulated", ctypes.c_bool)]


entry = ctypes.CDLL(sys.argv[1], mode=2).headscope_cuda_module
entry.restype = ctypes.POINTER(Module)
module = entry().contents
sm = []
while module.sm[len(sm)]:
    sm.append(str(module.sm[len(sm)]))
print(f"{','.join(sm) or 'none'}|{module.ptx}")
PYTHON
}

check_module() { # FILE WHAT-IS-EXPECTED SM-PATTERN PTX
    local sm ptx
    IFS='|' read -r sm ptx < <(facts_of "$1") || fail "$1 cannot be opened, see above"
    if [[ ",$sm," != *$3* ]] || [ "$ptx" != "$4" ]; then
        fail "$1 has machine code for $sm and PTX $ptx, and is to have $2"
    fi
    # The program itself, on the H200 of the tests' driver, says whether it takes the module.
    HEADSCOPE_CUDA_DRIVER=$build/tests/fake_cuda/driver.so HEADSCOPE_CUDA_MODULES=$(dirname "$1") \
        LD_LIBRARY_PATH=$(cublas_folder) "$build/headscope" devices >"$work/devices"
    if ! grep -q '^cuda:0' "$work/devices" || grep -q '^cuda:0.*cannot be used' "$work/devices"; then
        fail "$build/headscope does not take $1: $(grep '^cuda' "$work/devices")"
    fi
}

# The shared libraries of files, but those that every machine has and cuBLAS, which is larger than a kit may be.
pack_libraries() { # FILE..
    local line library
    ldd "$@" | awk '/=>/ { print $1, $3 }' | sort -u >"$work/libraries"
    while read -r line library; do
        case $line in
            libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | libresolv.so.* | ld-linux* | linux-vdso*) ;;
            libcublas*) ;;
            libstdc++.so.* | libgcc_s.so.*) packed "$(realpath "$library")" spare && rename "$library" spare ;;
            *)
                [ -f "$library" ] || fail "$line, which the programs need, is not found"
                packed "$(realpath "$library")" lib && rename "$library" lib
                ;;
        esac
    done <"$work/libraries"
    # Opened at run time.
    library=$(installed libvulkan.so.1)
    [ -n "$library" ] || fail "there is no libvulkan.so.1: install Vulkan's loader"
    packed "$(realpath "$library")" lib && rename "$library" lib
    for line in "${DISPLAY_LIBRARIES[@]}"; do
        library=$(installed "$line")
        if [ -n "$library" ]; then packed "$(realpath "$library")" display && rename "$library" display; fi
    done
}

installed() { # LIBRARY: its file
    ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ && !file { file = $NF } END { print file }'
}

rename() { # LIBRARY FOLDER: packed under its real name, wanted under this one
    local real
    real=$(basename "$(realpath "$1")")
    [ "$real" = "$(basename "$1")" ] || mv "$kit/$2/$real" "$kit/$2/$(basename "$1")"
}

pack_speed() {
    local variant name
    packed "$build/headscope" bin --strip
    if [ -n "$dry" ]; then
        packed "$build/tests/fake_cuda/driver.so" driver
        for name in "$build"/tests/cuda_emulation/modules/libheadscope_cuda*.so; do packed "$name" modules --strip; done
    else
        packed "$build/libheadscope_cuda13.so" modules --strip
        check_module "$kit/modules/libheadscope_cuda13.so" "machine code" '[0-9]' 0
    fi
    for variant in "${variants[@]}"; do
        name=$(basename "$(realpath "$variant")")
        packed "$variant/libheadscope_cuda13.so" "modules-$name" --strip
    done
    pack_libraries "$kit"/bin/* "$kit"/modules*/*
    git -C "$repository" log -1 --format='%H %cd' --date=iso >"$kit/commit"
    git -C "$repository" status --porcelain --untracked-files=no | sed 's/^/changed since: /' >>"$kit/commit"
}

pack_tests() {
    local program
    for program in "${TEST_PROGRAMS[@]}"; do packed "$build/$program" bin --strip; done
    packed "$build/tests/libheadscope_fake_vulkan.so" bin --strip
    if [ -z "$dry" ]; then
        packed "$ptx_build/libheadscope_cuda12.so" ptx60 --strip
        check_module "$kit/ptx60/libheadscope_cuda12.so" "PTX 60 alone" ',none,' 60
    fi
    pack_libraries "$kit"/bin/*
    (cd "$work/speed/kit" && find . -type f -print0) | (cd "$kit" && xargs -0 rm -f) # what that kit has
    if [ -n "${HEADSCOPE_HELD_OUT:-}" ]; then
        head -n 500 "$HEADSCOPE_HELD_OUT" >"$kit/held-out.tsv"
    fi
    if [ -n "$model" ]; then
        mkdir -p "$kit/model"
        cp "$model"/* "$kit/model"
    fi
}

# xz makes machine code smaller than nvcc's --compress-mode=size does, and less of what that has compressed.
pack() { # KIT
    kit=$work/$1/kit
    mkdir -p "$kit"
    "pack_$1"
    tar -C "$work/$1" -c kit | xz --threads=0 "$(if [ -n "$dry" ]; then echo -0; else echo -9; fi)" >"$output/kit-$1.tar.xz"
    (cd "$kit" && find . -type f -printf '%P %s\n' | sort) |
        awk -v kit="$1" '{ printf "%-6s %-40s %8.2f MiB\n", kit, $1, $2 / 1048576 }' >>"$output/contents.txt"
}

mib() { awk -v bytes="$1" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }'; }

[ "$make" = no ] || make_all
[ -z "$dry" ] || [ -f "$build/tests/fake_cuda/driver.so" ] || fail "there is no $build/tests/fake_cuda/driver.so: build it"
mkdir -p "$output"
rm -f "$output"/kit-*.tar.xz
: >"$output/contents.txt"
for each in "${kits[@]}"; do pack "$each"; done
cat "$output/contents.txt"
all=$("$repository/tests/device/tree.sh" size)
printf 'tree             %10s\n' "$(mib "$all")"
for each in "$output"/kit-*.tar.xz; do
    bytes=$(stat -c %s "$each")
    printf '%s %10s\n' "$(basename "$each")" "$(mib "$bytes")"
    all=$((all + bytes))
done
[ "$all" -le $((MOST_MIB * 1048576)) ] || [ -n "$dry" ] ||
    fail "$(mib "$all") are more than the $MOST_MIB MiB that may travel: make the tree small with tests/device/tree.sh small" \
        "(which leaves 15 MiB), or pack with --speed-alone"
printf 'all together     %10s\n' "$(mib "$all")"
