#!/usr/bin/env bash
# Builds, tests and installs Headscope on a bare Debian or Ubuntu. ./do alone lists the commands.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly MODEL=${HEADSCOPE_MODEL:-assets/models/en-de}
HEADSCOPE=build/release/headscope
# Packages for building, running and testing, with the names of Debian 12 and 13 and Ubuntu 24.04.
readonly PACKAGES=(
    build-essential cmake ninja-build pkg-config
    libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev libbz2-dev liblzma-dev libzstd-dev libsentencepiece-dev
    libutf8proc-dev libpcre2-dev libyaml-cpp-dev libdnnl-dev libstb-dev catch2 unzip
    libharfbuzz-dev libfribidi-dev libfontconfig-dev
    libvulkan-dev glslang-tools spirv-tools mesa-vulkan-drivers vulkan-validationlayers
    libimgui-dev libglfw3-dev xvfb xauth desktop-file-utils appstream jq
)
usage() {
    cat <<'TEXT'
Headscope: the Transformer on every GPU, with heads you can see.

  ./do demo             build, translate, complete and fill in text on every device, draw attention figures (--preset ci)
  ./do test [NAME..]    build and run all tests, or only these (ctest -N lists them; --preset debug; --for PATH adds those
                        that a change of a file or folder can break; --turn 1/5 runs a fifth of those that take long)
  ./do check [PART..]   the longer checks: format shell docs manifest agreement bleu onnx import python digits cpuonly
                        shared sanitize threads abi library validation conform amd intel nvidia swiftshader subgroups
                        plain emulation kit cuda stop damage window mutants tidy fuzz trixie
  ./do bench [ARGS..]   build and run headscope bench (--against COMMIT: fixed works beside that commit's build, in turns)
  ./do build            build only: build/release/headscope (--all: also the tests; --preset debug)
  ./do install [PREFIX] build and install program, viewer, model and desktop entry for this user (PREFIX: ~/.local), or
                        for all users as root (/usr/local)
  ./do format           run clang-format on every C++ file
  ./do docs             write the documents, commands and headers as a site: out/docs/site/index.html
  ./do packages         install missing packages (demo and test do this, too)
  ./do clean            remove build/ and out/

Commands can be repeated: finished work is not repeated, and the network is used only if needed.
  HEADSCOPE_MODEL=FOLDER            the model of demo and check; default: assets/models/en-de
  HEADSCOPE_BLEU_REFERENCE=FOLDER   outputs of systems with sacreBLEU's scores, for check bleu (which explains them)
  HEADSCOPE_ONNX_NODE_TESTS=FOLDER  ONNX's node tests for check onnx; default: written by PyPI's onnx package
  HEADSCOPE_IMPORT_KITS='A:B'       folders of models for check import, which also runs their check.sh
  HEADSCOPE_IMPORT_PYTHON=PYTHON    with transformers and ctranslate2; default: a virtual environment made by PyPI
  HEADSCOPE_MANIFEST_PYTHON=PYTHON  an interpreter with check manifest's packages; default: python3
  HEADSCOPE_HELD_OUT=FILE.tsv       text for check agreement, 500 lines or more; default: assets/configs/en-de-test.tsv
  HEADSCOPE_CUDA_TOOLKITS='A;B'     folders of CUDA toolkits for check cuda
  HEADSCOPE_STOP_SECONDS=N          duration of check stop; default: 600
  HEADSCOPE_WINDOW_SCRIPTS=N        random scripts of check window; default: 400
  HEADSCOPE_FUZZ_SECONDS=N          duration of check fuzz for each target; default: 60
  HEADSCOPE_SWIFTSHADER=ICD.json    the driver of check swiftshader; default: from Debian's chromium-common
  HEADSCOPE_DEBIAN_MIRROR=URL       the mirror for check trixie; default: http://deb.debian.org/debian
  HEADSCOPE_NO_INSTALL=1            never install packages; the build then reports what is missing
  HEADSCOPE_REQUIRE_BACKENDS=cpu,vulkan   fail instead of skip tests if one of these has no device
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
        # A removed package still has a record, with the status config-files.
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || printf '%s\n' "$package"
    done
}

need_packages() {
    [ -z "${HEADSCOPE_NO_INSTALL:-}" ] || return 0
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        fail "$(distribution) has no apt-get: packages can be installed only on Debian and Ubuntu.
    Install the equivalents of: $*
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
        fail "apt-get update failed: is there a network? Required packages: ${missing[*]}"
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
        >/dev/null || fail "apt-get could not install: ${missing[*]}"
}

# ------------------------------------------------------------------------------------------------- build

# Configures a preset once.
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
        *) fail "unknown option of $command: $1 (the only option is --preset NAME)" ;;
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
            *) fail "unknown option of build: $1 (options: --preset NAME, --all)" ;;
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

# Translates the example sentences on one device; writes STEM.de, STEM.stats and STEM.time.
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

# Prints the device, seconds of the whole command, tokens/s and the share of lines that equal the CPU's.
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

# Completes a sentence and fills in a word on one device.
show_language_models() { # DEVICE
    local completed filled
    completed=$("$HEADSCOPE" complete --model assets/models/en-causal --device "$1" 'Could you please') || exit
    filled=$("$HEADSCOPE" fill --model assets/models/en-masked --device "$1" --top 1 'She opened the [MASK] and looked outside.') || exit
    printf '  %-12s %s  %s\n' "$1" "$completed" "${filled%%$'\n'*}"
}

# Draws the paper's Figures 3, 4 and 5 with this model. The heads are found by rules (docs/figures.md), since a model's
# own heads do other things than those of the same numbers in the paper.
draw_figures() {
    local first second
    first=$(sed -n 1p assets/examples/paper.en)
    second=$(sed -n 2p assets/examples/paper.en)
    say "The paper's Figures 3 to 5, with the heads of this model that fit each rule best:"
    figure figure3 'distant words that "making" looks at' "$first" --find long-distance=making --best 8 --word making
    figure figure4-above 'a head that looks from "its" to "Law"' "$second" --find link=its,Law
    figure figure4-below 'this head and the second best, for "its" alone' "$second" --find link=its,Law --best 2 --word its
    figure figure5-left 'a head that follows the structure of the sentence' "$second" --find structure
    figure figure5-right 'another one' "$second" --find structure --rank 2
}

# A model without such heads, or with fewer, has fewer figures.
figure() { # NAME CAPTION TEXT OPTION..
    local name=$1 caption=$2 text=$3
    shift 3
    "$HEADSCOPE" attention --model "$MODEL" --device cpu --text "$text" --kind encoder "$@" -o "out/$name.svg" \
        2>out/demo/found.txt || {
        rm -f "out/$name.svg"
        printf '  %-22s not drawn: %s\n' "out/$name.svg" "$(cat out/demo/found.txt)"
        return 0
    }
    printf '  %-22s %s (%s)\n' "out/$name.svg" "$caption" "$(sed -n 1p out/demo/found.txt)"
}

demo() { # [--preset NAME]
    local preset
    preset=$(preset_of demo "$@")
    HEADSCOPE=build/$preset/headscope
    need_packages "${PACKAGES[@]}"
    say "Building $HEADSCOPE, which takes 10 minutes on two cores the first time"
    configured "$preset"
    cmake --build "build/$preset" --parallel "$(nproc)" --target headscope
    if [ ! -f "$MODEL/config.json" ]; then
        fail "there is no model in $MODEL (expected config.json, model.safetensors and a SentencePiece model).
    Everything else is built: $HEADSCOPE --help. docs/training.md explains how to train a model."
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
    say "Completing 'Could you please' and filling in 'She opened the [MASK] and looked outside.':"
    for device in "${devices[@]}"; do show_language_models "$device"; done
    draw_figures
    say "Look: $HEADSCOPE view"
    printf '  %s\n' "or open out/figure3.svg in a browser" \
        "Translate:  $HEADSCOPE translate --text 'The weather is nice today.'" \
        "Train:      $HEADSCOPE train --source my.en --target my.de --output out/my" \
        "All else:   $HEADSCOPE help" \
        "./do install makes that \`headscope\`, with man pages and completion. README.md says what to read next."
}

# ------------------------------------------------------------------------------------------------- tests

# The tests with the label "long" that turn K of N leaves to the other turns, as a regular expression.
other_turns() { # PRESET K/N
    ctest --test-dir "build/$1" -N -L '^long$' |
        awk -v turn="${2%/*}" -v turns="${2#*/}" '$1 == "Test" && n++ % turns != turn - 1 { print $3 }' | paste -sd '|'
}

run_tests() { # [--preset NAME] [--turn K/N] [--for PATH].. [TEST..]
    local preset=release turn='' left='' name targets=() changed=()
    while [ $# -gt 0 ]; do
        case $1 in
            --preset)
                preset=$(preset_of test "$@")
                shift 2
                ;;
            --turn)
                if ! [[ ${2:-} =~ ^[1-9][0-9]?/[1-9][0-9]?$ ]] || [ "${2%/*}" -gt "${2#*/}" ]; then
                    fail "--turn needs K/N, from 1/N to N/N, such as 1/2"
                fi
                turn=$2
                shift 2
                ;;
            --for)
                [ -n "${2:-}" ] || fail "--for needs a file or folder, such as src/train"
                changed+=("$2")
                shift 2
                ;;
            *) break ;;
        esac
    done
    for name in "$@"; do
        case $name in -*) fail "unknown option of test: $name (options, before the tests: --preset NAME, --for PATH, --turn K/N)" ;; esac
    done
    need_packages "${PACKAGES[@]}"
    configured "$preset"
    # Most C++ tests are a single program; other tests need several targets.
    for name in "$@"; do
        ninja -C "build/$preset" -t query "test_$name" >/dev/null 2>&1 || { targets=() && break; }
        targets+=("test_$name")
    done
    [ ${#changed[@]} -eq 0 ] || targets=()
    build "$preset" "${targets[@]}"
    if [ ${#changed[@]} -gt 0 ]; then
        name=$(tests/affected.sh "build/$preset" "${changed[@]}")
        # shellcheck disable=SC2086 # a name a word
        set -- "$@" $name
    fi
    if [ -n "$turn" ]; then
        left=$(other_turns "$preset" "$turn")
        say "Turn $turn leaves to others: ${left//|/ }"
    fi
    ctest --test-dir "build/$preset" --output-on-failure --parallel "$(nproc)" ${left:+-E "^($left)\$"} \
        ${1:+--no-tests=error -R "^($(IFS='|' && printf '%s' "$*"))\$"}
}

# ----------------------------------------------------------------------------------------------- install

# Fails unless the prefix, or its nearest existing parent, is a writable folder.
check_prefix() { # PREFIX
    local folder=$1
    while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
    [ -d "$folder" ] || fail "cannot install into $1: $folder is not a folder"
    # Creates a file, since permissions do not tell whether root can write.
    { : >"$folder/.headscope-probe"; } 2>/dev/null ||
        fail "cannot install into $1: $folder is not writable. Run this as root, or use another folder: ./do install PREFIX"
    rm -f "$folder/.headscope-probe"
}

# Updates the desktop's databases. A missing tool means that no desktop needs it.
update_desktop() { # SHARE
    desktop_tool update-desktop-database -q "$1/applications"
    desktop_tool update-mime-database "$1/mime"
    desktop_tool gtk-update-icon-cache -qtf "$1/icons/hicolor"
}
desktop_tool() { # TOOL ARGS..
    if command -v "$1" >/dev/null && ! "$@"; then
        printf 'do: %s failed: the desktop may not show the program before the next login\n' "$1" >&2
    fi
}

install_program() { # [PREFIX]
    local prefix=${1:-} list
    [ $# -le 1 ] || fail "install takes one folder, got: $*"
    if [ -z "$prefix" ] && [ "$(id -u)" -eq 0 ]; then
        prefix=/usr/local
    elif [ -z "$prefix" ]; then
        prefix=${HOME:?HOME is not set: give a folder, ./do install PREFIX}/.local
    fi
    case $prefix in
        -*) fail "unknown option of install: $prefix (install takes only a folder)" ;;
        /*) ;;
        *) prefix=$OLDPWD/$prefix ;;  # this script has changed to its own folder
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
        *) printf '  %s is not in your PATH: add it to run headscope by name.\n' "$prefix/bin" ;;
    esac
    printf "  To remove it: xargs -d '\\\\n' rm -f <%s\n" "$list"
}

# ----------------------------------------------------------------------------------------------- the rest

docs() {
    local command
    for command in mkdocs doxygen; do
        command -v "$command" >/dev/null || need_packages mkdocs mkdocs-material doxygen
    done
    python3 -c 'import material' 2>/dev/null || need_packages mkdocs-material
    need_packages "${PACKAGES[@]}"
    build release headscope
    docs/site/build.sh "$HEADSCOPE"
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
            if [ "${1:-}" = --against ]; then
                [ $# -ge 2 ] || fail "bench --against needs the commit to compare with, such as HEAD~1"
                tests/bench/against.sh "$PWD/$HEADSCOPE" "${@:2}"
            else
                "$HEADSCOPE" bench "$@"
            fi
            ;;
        format)
            command -v clang-format >/dev/null || need_packages clang-format
            sources | xargs clang-format -i
            ;;
        docs) docs ;;
        packages)
            need_packages "${PACKAGES[@]}"
            say "all packages are installed"
            ;;
        clean) rm -rf build out ;;
        *)
            usage >&2
            fail "unknown command: $command (the commands are listed above)"
            ;;
    esac
}

main "$@"
