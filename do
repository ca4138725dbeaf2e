#!/usr/bin/env bash
# Everything one does with this repository, from a bare Debian or Ubuntu. ./do alone says what there is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly MODEL=${HEADSCOPE_MODEL:-assets/models/en-de}
HEADSCOPE=build/release/headscope
# What building, running and testing need; names as in Debian 12 and 13 and Ubuntu 24.04.
readonly PACKAGES=(
    build-essential cmake ninja-build pkg-config
    libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev libsentencepiece-dev
    libdnnl-dev catch2 unzip
    libvulkan-dev glslang-tools spirv-tools mesa-vulkan-drivers
)
readonly CHECK_PACKAGES=(clang clang-tidy clang-format libomp-dev shellcheck vulkan-validationlayers libxml2-utils)
readonly CHECKS=(format shell agreement digits cpuonly sanitize validation subgroups plain mutants tidy fuzz)
# How a part of check ends that proved nothing because something that a person has to give is not there.
readonly SKIPPED=77

usage() {
    cat <<'TEXT'
Headscope: the Transformer on every GPU, with heads you can see.

  ./do demo             build, translate the example sentences on every device found, draw attention figures (--preset ci)
  ./do test             build and run the tests
  ./do check [PART..]   the longer proofs: format shell agreement digits cpuonly sanitize validation subgroups plain
                        mutants tidy fuzz
  ./do bench [ARGS..]   headscope bench, built for this machine
  ./do build            only build: build/release/headscope (--all: tests as well; --preset debug)
  ./do format           clang-format over every C++ file
  ./do packages         install what the distribution has and this machine lacks (demo and test do it, too)
  ./do clean            remove build/ and out/

Every command may be run again: what is done stays done, and what needs no network asks for none.
  HEADSCOPE_MODEL=FOLDER            the model of demo and check, in place of assets/models/en-de
  HEADSCOPE_HELD_OUT=FILE.tsv       held-out text for check agreement, 500 lines of "source TAB target" or more
  HEADSCOPE_NO_INSTALL=1            never install packages; the build then names what it does not find
  HEADSCOPE_REQUIRE_BACKENDS=cpu,vulkan   make the tests fail, not skip, where one of these has no device
TEXT
}

say() { if [ -t 1 ]; then printf '\033[1m%s\033[0m\n' "$*"; else printf '%s\n' "$*"; fi; }
fail() {
    printf 'do: %s\n' "$*" >&2
    exit 1
}

# ---------------------------------------------------------------------------------------------- packages

distribution() {
    # shellcheck disable=SC1091
    (. /etc/os-release 2>/dev/null && printf '%s' "${PRETTY_NAME:-an unknown system}") || printf 'an unknown system'
}

missing_packages() {
    local package
    for package in "$@"; do
        # "install ok installed"; a removed package keeps a record as "deinstall ok config-files".
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || printf '%s\n' "$package"
    done
}

need_packages() {
    [ -z "${HEADSCOPE_NO_INSTALL:-}" ] || return 0
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        fail "$(distribution) has no apt-get: packages are installed on Debian and Ubuntu only.
    Install what corresponds to: $*
    Then run this again with HEADSCOPE_NO_INSTALL=1."
    fi
    local missing sudo=()
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            fail "packages are missing and there is no sudo. As root: apt-get install ${missing[*]}"
        sudo=(sudo)
    fi
    say "Installing from $(distribution): ${missing[*]}"
    "${sudo[@]}" apt-get update -qq ||
        fail "apt-get update failed: is there a network? Needed are: ${missing[*]}"
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
        >/dev/null || fail "apt-get could not install: ${missing[*]}"
}

# ------------------------------------------------------------------------------------------------- build

configured() { # PRESET
    if [ ! -f "build/$1/build.ninja" ]; then
        local log="build/$1.configure.log"
        mkdir -p build
        cmake --preset "$1" >"$log" 2>&1 || {
            cat "$log" >&2
            fail "cmake could not configure build/$1, see above"
        }
        grep 'Headscope' "$log" || true
    fi
}

preset_of() { # COMMAND [--preset NAME]
    local command=$1
    shift
    case ${1:-} in
        "") printf release ;;
        --preset) printf '%s' "${2:?--preset needs a name}" ;;
        *) fail "unknown option of $command: $1" ;;
    esac
}

build() { # PRESET [TARGET..]
    local preset=$1
    shift
    configured "$preset"
    cmake --build "build/$preset" --parallel "$(nproc)" ${1:+--target "$@"}
}

build_program() { # [--preset NAME] [--all]
    local preset=release target=(headscope)
    while [ $# -gt 0 ]; do
        case $1 in
            --preset) preset=${2:?--preset needs a name} && shift ;;
            --all) target=() ;;
            *) fail "unknown option of build: $1 (there are --preset NAME and --all)" ;;
        esac
        shift
    done
    need_packages "${PACKAGES[@]}"
    build "$preset" "${target[@]}"
    say "built build/$preset/headscope"
}

# -------------------------------------------------------------------------------------------------- demo

seconds() { date +%s.%N; }
elapsed() { awk -v from="$1" -v to="$(seconds)" 'BEGIN { printf "%.2f", to - from }'; }

# Translates every example sentence on one device; leaves STEM.de, STEM.stats and STEM.time.
translate_examples() { # DEVICE STEM
    local start
    start=$(seconds)
    if ! cat assets/examples/*.en |
        "$HEADSCOPE" translate --stats --model "$MODEL" --device "$1" >"$2.de" 2>"$2.stats"; then
        cat "$2.stats" >&2
        fail "translating on $1 failed, see above"
    fi
    elapsed "$start" >"$2.time"
}

# Device, seconds of the whole command, tokens a second while translating, share of lines equal to the CPU's.
table_row() { # DEVICE STEM
    paste out/demo/cpu.de "$2.de" |
        awk -F '\t' -v device="$1" -v time="$(cat "$2.time")" \
            -v speed="$(sed -n 's|.* \([0-9.]*\) target tokens/s.*|\1|p' "$2.stats")" '
            $1 == $2 { equal++ }
            END { printf "  %-12s %9.2f %12.0f %11.0f %%\n", device, time, speed, 100 * equal / NR }'
}

print_translations() {
    paste <(cat assets/examples/*.en) out/demo/cpu.de |
        awk -F '\t' '{ printf "  en  %s\n  de  %s\n\n", $1, $2 }'
}

# The paper's Figures 3, 4 and 5, drawn for this model: layer 5, or the last where it has fewer.
draw_figures() {
    local first second heads
    first=$(sed -n 1p assets/examples/paper.en)
    second=$(sed -n 2p assets/examples/paper.en)
    heads=$("$HEADSCOPE" inspect "$MODEL" --key heads)
    figure figure3 "$first" --word making
    figure figure4-above "$second" --heads "$(head_of "$heads" 5)"
    figure figure4-below "$second" --heads "$(head_of "$heads" 5),$(head_of "$heads" 6)" --word its
    figure figure5-left "$second" --heads "$(head_of "$heads" 3)"
    figure figure5-right "$second" --heads "$(head_of "$heads" 4)"
}

# The paper's models have eight heads; in one that has fewer, counting goes round.
head_of() { printf '%s' "$((($2 - 1) % $1 + 1))"; } # HEADS-OF-THE-MODEL PAPER-HEAD

figure() { # NAME TEXT OPTION..
    local name=$1 text=$2
    shift 2
    "$HEADSCOPE" attention --model "$MODEL" --text "$text" --kind encoder "$@" -o "out/$name.svg"
}

demo() { # [--preset NAME]
    local preset
    preset=$(preset_of demo "$@")
    HEADSCOPE=build/$preset/headscope
    need_packages "${PACKAGES[@]}"
    build "$preset" headscope
    if [ ! -f "$MODEL/config.json" ]; then
        fail "there is no model in $MODEL (config.json, model.safetensors and a SentencePiece model are expected there).
    Everything else is built: $HEADSCOPE --help. docs/training.md says how to train a model."
    fi
    mkdir -p out/demo
    local devices device
    mapfile -t devices < <("$HEADSCOPE" devices --usable)
    for device in "${devices[@]}"; do
        say "Translating on $device"
        translate_examples "$device" "out/demo/${device//:/-}"
    done
    print_translations
    say "  device         seconds     tokens/s  like the CPU"
    for device in "${devices[@]}"; do
        table_row "$device" "out/demo/${device//:/-}"
    done
    "$HEADSCOPE" devices | grep -A3 'cannot be used' || true
    draw_figures
    say "What the encoder's heads look at in layer 5 (or the last), drawn like the paper's Figures 3 to 5:"
    printf '  %s\n' out/figure*.svg
}

# ------------------------------------------------------------------------------------------------- tests

run_tests() { # [--preset NAME]
    local preset
    preset=$(preset_of test "$@")
    need_packages "${PACKAGES[@]}"
    build "$preset"
    ctest --test-dir "build/$preset" --output-on-failure --parallel "$(nproc)"
}

# ------------------------------------------------------------------------------------------------ checks

sources() { git ls-files '*.h' '*.cpp'; }

check_format() { sources | xargs clang-format --dry-run --Werror; }

check_shell() { git ls-files -z '*.sh' | xargs -0 shellcheck -x ./do .ci/run; }

skip() {
    printf 'SKIPPED: %s\n' "$@"
    exit "$SKIPPED"
}

# Greedy translations of held-out text on Vulkan and the CPU: identical, but for ties, which are listed with their gap.
check_agreement() {
    if [ -z "${HEADSCOPE_HELD_OUT:-}" ]; then
        skip "HEADSCOPE_HELD_OUT names no file, and held-out text is too large for this repository." \
            "docs/training.md (\"Real text\") and assets/configs/prepare-tatoeba.sh say how to get it, then" \
            "HEADSCOPE_HELD_OUT=data/tatoeba/test.tsv ./do check agreement"
    fi
    build release headscope
    "$HEADSCOPE" compare --model "$MODEL" --device vulkan --with cpu --tsv "$HEADSCOPE_HELD_OUT" --limit 500 |
        tee out/check/agreement.txt
    grep -q ' of 500 sentences identically' out/check/agreement.txt ||
        fail "'$HEADSCOPE_HELD_OUT' holds fewer than 500 sentences"
}

# The self-made task is learnt completely: every one of its 500 test numbers, on the CPU.
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

# Without the Vulkan backend it builds without a warning, passes its tests, and says what was left out.
check_cpuonly() {
    build cpu-only
    build/cpu-only/headscope devices | tee out/check/devices.txt
    grep -q '^vulkan.*cannot be used: not built in' out/check/devices.txt ||
        fail "headscope devices does not say that Vulkan was left out"
    HEADSCOPE_REQUIRE_BACKENDS=cpu ctest --test-dir build/cpu-only --output-on-failure --parallel "$(nproc)"
}

# The driver keeps memory of its own until the process ends, which is no leak of ours.
check_sanitize() {
    build sanitize
    ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$PWD/tests/house/leaks.txt \
        UBSAN_OPTIONS=print_stacktrace=1 ctest --test-dir build/sanitize --output-on-failure --parallel "$(nproc)"
}

# Core and synchronisation validation; any message becomes an error of the test that caused it.
check_validation() {
    build release
    HEADSCOPE_VULKAN_VALIDATION=1 HEADSCOPE_REQUIRE_BACKENDS=cpu,vulkan \
        ctest --test-dir build/release --output-on-failure --parallel "$(nproc)"
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

# Every fast path of the Vulkan backend switched off: the plain ones must give the same.
check_plain() {
    build release
    HEADSCOPE_VULKAN_DISABLE=push_descriptors,subgroups,pipeline_cache,vector_loads HEADSCOPE_REQUIRE_BACKENDS=cpu,vulkan \
        ctest --test-dir build/release --output-on-failure --parallel "$(nproc)" -R '^(ops|backend|vulkan|autograd|model)'
}

# One planted bug for each op family; the harness must see every one.
check_mutants() { tests/mutants/run.sh; }

check_tidy() { build tidy; }

check_fuzz() { tests/fuzz/run.sh 60; }

check() {
    local parts=("$@") part start code outcome result=0 rows=()
    [ $# -gt 0 ] || parts=("${CHECKS[@]}")
    for part in "${parts[@]}"; do
        declare -F "check_$part" >/dev/null || fail "there is no check '$part'; there are: ${CHECKS[*]}"
    done
    need_packages "${PACKAGES[@]}" "${CHECK_PACKAGES[@]}"
    # The sanitizers' and libFuzzer's runtime has clang's version in its name.
    need_packages "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    mkdir -p out/check
    for part in "${parts[@]}"; do
        start=$(seconds)
        say "check $part (out/check/$part.log)"
        # A process of its own, so that the first failing command of the part ends it.
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

# ----------------------------------------------------------------------------------------------- the rest

main() {
    local command=${1:-help}
    [ $# -eq 0 ] || shift
    case $command in
        help | -h | --help) usage ;;
        demo) demo "$@" ;;
        test) run_tests "$@" ;;
        check) check "$@" ;;
        check-part) "check_$1" ;;
        build) build_program "$@" ;;
        bench)
            need_packages "${PACKAGES[@]}"
            build release
            "$HEADSCOPE" bench "$@"
            ;;
        format)
            command -v clang-format >/dev/null || need_packages clang-format
            sources | xargs clang-format -i
            ;;
        packages)
            need_packages "${PACKAGES[@]}"
            say "nothing is missing"
            ;;
        clean) rm -rf build out ;;
        *)
            usage >&2
            fail "unknown command: $command"
            ;;
    esac
}

main "$@"
