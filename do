#!/usr/bin/env bash
# Everything one does with this repository, from a bare Debian or Ubuntu. ./do alone says what there is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly MODEL=${HEADSCOPE_MODEL:-assets/models/en-de}
HEADSCOPE=build/release/headscope
# What building, running and testing need; names as in Debian 12 and 13 and Ubuntu 24.04.
readonly PACKAGES=(
    build-essential cmake ninja-build pkg-config
    libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev libbz2-dev liblzma-dev libzstd-dev libsentencepiece-dev
    libutf8proc-dev libdnnl-dev libstb-dev catch2 unzip
    libvulkan-dev glslang-tools spirv-tools mesa-vulkan-drivers vulkan-validationlayers
    libimgui-dev libglfw3-dev xvfb xauth desktop-file-utils appstream jq
)
usage() {
    cat <<'TEXT'
Headscope: the Transformer on every GPU, with heads you can see.

  ./do demo             build, translate the example sentences on every device found, draw attention figures (--preset ci)
  ./do test [NAME..]    build and run the tests, or those of these names alone (ctest -N lists them; --preset debug)
  ./do check [PART..]   the longer proofs: format shell docs agreement bleu onnx digits cpuonly shared sanitize
                        validation conform amd intel nvidia swiftshader subgroups plain emulation cuda stop damage
                        mutants tidy fuzz trixie
  ./do bench [ARGS..]   headscope bench, built for this machine
  ./do build            only build: build/release/headscope (--all: tests as well; --preset debug)
  ./do install [PREFIX] build and install for this user (PREFIX: ~/.local), as root for all (/usr/local): program, viewer,
                        model, desktop entry
  ./do format           clang-format over every C++ file
  ./do docs             the public headers as reference pages: out/docs/html/index.html
  ./do packages         install what the distribution has and this machine lacks (demo and test do it, too)
  ./do clean            remove build/ and out/

Every command may be run again: what is done stays done, and what needs no network asks for none.
  HEADSCOPE_MODEL=FOLDER            the model of demo and check, in place of assets/models/en-de
  HEADSCOPE_BLEU_REFERENCE=FOLDER   systems' outputs and what sacreBLEU says of them, for check bleu (it says how)
  HEADSCOPE_ONNX_NODE_TESTS=FOLDER  ONNX's node tests for check onnx; without it the onnx package of PyPI writes them
  HEADSCOPE_HELD_OUT=FILE.tsv       held-out text for check agreement, 500 lines of "source TAB target" or more
  HEADSCOPE_CUDA_TOOLKITS='A;B'     folders of CUDA toolkits for check cuda; building finds one by itself
  HEADSCOPE_STOP_SECONDS=N          how long check stop stops trainings; 600 without it
  HEADSCOPE_FUZZ_SECONDS=N          how long check fuzz searches with each target; 60 without it
  HEADSCOPE_SWIFTSHADER=ICD.json    the driver of check swiftshader, in place of the one in Debian's chromium-common
  HEADSCOPE_DEBIAN_MIRROR=URL       where check trixie gets Debian 13 from; http://deb.debian.org/debian without it
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
        --preset)
            [ -n "${2:-}" ] || fail "--preset needs a name, such as debug"
            printf '%s' "$2"
            ;;
        *) fail "unknown option of $command: $1 (there is --preset NAME)" ;;
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
            --preset)
                [ -n "${2:-}" ] || fail "--preset needs a name, such as debug"
                preset=$2
                shift
                ;;
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

run_tests() { # [--preset NAME] [TEST..]
    local preset=release name targets=()
    if [ "${1:-}" = --preset ]; then
        preset=$(preset_of test "$@")
        shift 2
    fi
    for name in "$@"; do
        case $name in -*) fail "unknown option of test: $name (there is --preset NAME before the names of tests)" ;; esac
    done
    need_packages "${PACKAGES[@]}"
    configured "$preset"
    # Most tests of C++ are programs of their own; the others need more than one target.
    for name in "$@"; do
        ninja -C "build/$preset" -t query "test_$name" >/dev/null 2>&1 || { targets=() && break; }
        targets+=("test_$name")
    done
    build "$preset" "${targets[@]}"
    ctest --test-dir "build/$preset" --output-on-failure --parallel "$(nproc)" \
        ${1:+--no-tests=error -R "^($(IFS='|' && printf '%s' "$*"))\$"}
}

# ----------------------------------------------------------------------------------------------- install

# The prefix, or the nearest folder above it that there is, has to take files.
check_prefix() { # PREFIX
    local folder=$1
    while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
    [ -d "$folder" ] || fail "cannot install into $1: $folder is no folder"
    # Root is let write where no file can be, so it is tried.
    { : >"$folder/.headscope-probe"; } 2>/dev/null ||
        fail "cannot install into $1: $folder cannot be written. Run this as root, or give another: ./do install PREFIX"
    rm -f "$folder/.headscope-probe"
}

# Desktops look into these for what is new. Where a tool is not installed, there is no desktop that needs it.
update_desktop() { # SHARE
    desktop_tool update-desktop-database -q "$1/applications"
    desktop_tool update-mime-database "$1/mime"
    desktop_tool gtk-update-icon-cache -qtf "$1/icons/hicolor"
}
desktop_tool() { # TOOL ARGS..
    if command -v "$1" >/dev/null && ! "$@"; then
        printf 'do: %s failed, so the desktop may see the program only after the next login\n' "$1" >&2
    fi
}

install_program() { # [PREFIX]
    local prefix=${1:-} list
    [ $# -le 1 ] || fail "install takes one folder, found: $*"
    if [ -z "$prefix" ] && [ "$(id -u)" -eq 0 ]; then
        prefix=/usr/local
    elif [ -z "$prefix" ]; then
        prefix=${HOME:?HOME is not set: give a folder, ./do install PREFIX}/.local
    fi
    case $prefix in
        -*) fail "unknown option of install: $prefix (there is a folder alone)" ;;
        /*) ;;
        *) prefix=$OLDPWD/$prefix ;;  # this script works in its own folder
    esac
    check_prefix "$prefix"
    need_packages "${PACKAGES[@]}"
    build release headscope
    cmake --install build/release --prefix "$prefix" >build/release.install.log ||
        fail "installing into $prefix failed, see above and build/release.install.log"
    list=$prefix/share/headscope/installed.txt
    { cat build/release/install_manifest.txt && printf '\n%s\n' "$list"; } >"$list"
    update_desktop "$prefix/share"
    say "installed: $prefix/bin/headscope"
    case :$PATH: in
        *:"$prefix/bin":*) ;;
        *) printf '  Your PATH does not have %s: add it to start headscope by its name.\n' "$prefix/bin" ;;
    esac
    printf "  To remove it: xargs -d '\\\\n' rm -f <%s\n" "$list"
}

# ----------------------------------------------------------------------------------------------- the rest

docs() {
    command -v doxygen >/dev/null || need_packages doxygen
    mkdir -p out/docs
    doxygen docs/Doxyfile
    say "out/docs/html/index.html"
}

sources() { git ls-files '*.h' '*.cpp' '*.cu'; }

main() {
    local command=${1:-help}
    [ $# -eq 0 ] || shift
    case $command in
        help | -h | --help) usage ;;
        demo) demo "$@" ;;
        test) run_tests "$@" ;;
        check | check-part)
            # shellcheck source=tests/checks.sh
            . tests/checks.sh
            "${command//-/_}" "$@"
            ;;
        build) build_program "$@" ;;
        install) install_program "$@" ;;
        bench)
            need_packages "${PACKAGES[@]}"
            build release
            "$HEADSCOPE" bench "$@"
            ;;
        format)
            command -v clang-format >/dev/null || need_packages clang-format
            sources | xargs clang-format -i
            ;;
        docs) docs ;;
        packages)
            need_packages "${PACKAGES[@]}"
            say "nothing is missing"
            ;;
        clean) rm -rf build out ;;
        *)
            usage >&2
            fail "unknown command: $command (those there are stand above)"
            ;;
    esac
}

main "$@"
