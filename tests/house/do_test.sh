#!/usr/bin/env bash
# The decisions of ./do, with fake system tools: nothing is installed, built or downloaded.
# shellcheck disable=SC2016,SC2317 # the fakes expand later; conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
# The caller's settings for ./do must not affect these tests.
unset HEADSCOPE_NO_INSTALL HEADSCOPE_MODEL HEADSCOPE_HELD_OUT
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
output=

# Sets up a copy of `do` whose PATH has only the fakes and the few real tools that it needs.
reset() {
    rm -rf "${sandbox:?}/bin" "${sandbox:?}/repo"
    mkdir -p "$sandbox/bin" "$sandbox/repo"
    cp "$repository/do" "$sandbox/repo/do"
    mkdir "$sandbox/repo/tests"
    cp "$repository/tests/checks.sh" "$sandbox/repo/tests/checks.sh"
    local tool
    for tool in bash env cat cut grep dirname mkdir rm tail tee awk date sed nproc paste; do
        ln -s "$(command -v "$tool")" "$sandbox/bin/$tool"
    done
    : >"$sandbox/calls"
    stand_in id 'echo 0'
}

stand_in() { # NAME BODY
    printf '#!%s\necho "%s $*" >>"%s"\n%s\n' "$(command -v bash)" "$1" "$sandbox/calls" "$2" >"$sandbox/bin/$1"
    chmod +x "$sandbox/bin/$1"
}

run() { # ARGS..: leaves output and exit code
    output=$(cd / && PATH=$sandbox/bin "$sandbox/repo/do" "$@" 2>&1)
    code=$?
}

show() { printf '    output: %s\n    calls: %s\n' "$output" "$(cat "$sandbox/calls")"; }
says() { [[ $output == *"$1"* ]]; }
called() { grep -q -- "$1" "$sandbox/calls"; }

# Everything except catch2 is installed.
one_missing() {
    stand_in dpkg-query 'case $* in *catch2*) exit 1 ;; *) echo installed ;; esac'
    stand_in apt-get "${1:-exit 0}"
}

reset
run
expect "without arguments it succeeds" ended_with 0
for command in demo test check bench build install format packages clean; do
    expect "and lists $command" says "./do $command"
done

reset
run frobnicate
expect "an unknown command fails" ended_with 1
expect "and is reported" says "unknown command: frobnicate"
run check frobnicate
expect "an unknown check fails" ended_with 1
expect "and the checks are listed" says "the checks are: format"
run test --frobnicate
expect "an unknown option of test fails" ended_with 1

reset
stand_in dpkg-query 'echo installed'
stand_in apt-get 'exit 1'
run packages
expect "if nothing is missing it succeeds" ended_with 0
expect "without calling apt-get" not called apt-get

reset
one_missing
run packages
expect "a missing package is installed" called 'apt-get install .*catch2'
expect "and no other" not called 'install .*cmake'
expect "and is printed" says catch2
expect "after an update" called 'apt-get update'

# A removed package whose configuration remains.
reset
stand_in dpkg-query 'case $* in *catch2*) echo config-files ;; *) echo installed ;; esac'
stand_in apt-get 'exit 0'
run packages
expect "a removed package counts as missing" called 'apt-get install .*catch2'

reset
one_missing
stand_in id 'echo 1000'
run packages
expect "without sudo it fails" ended_with 1
expect "and prints the command for root" says "apt-get install catch2"
stand_in sudo '"$@"'
run packages
expect "with sudo it succeeds" ended_with 0
expect "and uses sudo" called 'sudo apt-get update'

reset
one_missing 'exit 100'
run packages
expect "no network is an error" ended_with 1
expect "that mentions the network" says "is there a network"
expect "and the packages" says catch2

reset
run demo
expect "an unsupported distribution is an error" ended_with 1
expect "that lists the packages" says libsentencepiece-dev
expect "and the workaround" says HEADSCOPE_NO_INSTALL=1

# The demo without a model builds everything, then reports what is missing.
reset
stand_in dpkg-query 'echo installed'
stand_in apt-get 'exit 1'
stand_in cmake 'exit 0'
mkdir -p "$sandbox/repo/build/release"
: >"$sandbox/repo/build/release/build.ninja"
run demo
expect "the demo without a model fails" ended_with 1
expect "after building" called 'cmake --build build/release'
expect "and lists the files it expects" says "config.json, model.safetensors"
expect "a configured tree is not configured again" not called 'cmake --preset'
rm "$sandbox/repo/build/release/build.ninja"
run demo
expect "a fresh tree is configured by its preset" called 'cmake --preset release'

# The demo with a model and two devices; one translates one of two lines as the CPU does. The fake must read its input, or
# the writer gets SIGPIPE.
reset
stand_in dpkg-query 'echo installed'
stand_in apt-get 'exit 1'
stand_in cmake 'exit 0'
mkdir -p "$sandbox/repo/build/release" "$sandbox/repo/assets/examples" "$sandbox/repo/assets/models/en-de"
: >"$sandbox/repo/build/release/build.ninja"
: >"$sandbox/repo/assets/models/en-de/config.json"
printf 'One.\nTwo.\n' >"$sandbox/repo/assets/examples/paper.en"
stand_in headscope 'case "$*" in
    "devices --usable") printf "vulkan:0\ncpu\n" ;;
    devices) printf "vulkan:1  cannot be used: too old\n" ;;
    translate*vulkan:0*) cat >/dev/null; printf "Eins.\nDrei.\n"; echo "2 lines, 9 target tokens in 1 s: 123.4 target tokens/s on it" >&2 ;;
    translate*) cat >/dev/null; printf "Eins.\nZwei.\n"; echo "2 lines, 9 target tokens in 1 s: 567.8 target tokens/s on it" >&2 ;;
    complete*) echo "Could you please go?" ;;
    fill*) printf "She opened the door.\n   90.0 %%  door\n" ;;
    attention*"$NO_HEAD"*) echo "headscope: no such head" >&2; exit 1 ;;
    attention*) for last; do :; done; echo "<svg/>" >"$last"; echo "layer 4, head 2 fits best" >&2 ;;
esac'
mv "$sandbox/bin/headscope" "$sandbox/repo/build/release/headscope"
export NO_HEAD=none
run demo
row() { [[ $output =~ $1\ +[0-9.]+\ +$2\ +$3\ % ]]; }
expect "the demo succeeds" ended_with 0
expect "it prints source" says "en  Two."
expect "and translation" says "de  Zwei."
completed() { [[ $output =~ $1\ +Could\ you\ please\ go\?\ \ She\ opened\ the\ door ]]; }
expect "each device completes and fills in text" eval 'completed vulkan:0 && completed cpu'
expect "half of the first device's lines equal the CPU's" row vulkan:0 123 50
expect "all of the CPU's lines do" row cpu 568 100
expect "an unusable device is listed" says "vulkan:1  cannot be used: too old"
expect "the figures are listed" says out/figure4-below.svg
expect "the end says how to go on" says "Look: build/release/headscope view"
expect "with what was found" says "looks from \"its\" to \"Law\" (layer 4, head 2 fits best)"
expect "Figure 4's heads are found by where they look" called 'attention .*--find link=its,Law --best 2 --word its -o out/figure4-below.svg'
expect "Figure 5's by what they follow" called 'attention .*--find structure --rank 2 -o out/figure5-right.svg'
expect "the layer is left to the search" not called '--layer'
NO_HEAD='--rank 2' run demo
expect "the demo succeeds without a second head that follows structure" ended_with 0
expect "and says why a figure is missing" says "figure5-right.svg  not drawn: headscope: no such head"
mkdir -p "$sandbox/repo/build/ci"
: >"$sandbox/repo/build/ci/build.ninja"
mv "$sandbox/repo/build/release/headscope" "$sandbox/repo/build/ci/headscope"
for command in build demo; do
    run $command --preset
    expect "$command --preset needs a name" says "do: --preset needs a name, such as debug"
    expect "and fails" ended_with 1
done
run demo --preset ci
expect "the demo accepts a preset" ended_with 0
expect "and builds it" called 'cmake --build build/ci'
run demo --frobnicate
expect "an unknown option of the demo fails" ended_with 1
expect "and is reported" says "unknown option of demo: --frobnicate"
stand_in headscope 'case "$*" in "devices --usable") echo cpu ;; *) echo "no memory" >&2; exit 1 ;; esac'
mv "$sandbox/bin/headscope" "$sandbox/repo/build/release/headscope"
run demo
expect "a device that fails makes the demo fail" ended_with 1
expect "with the device's error" says "no memory"

# Installing: twice, with and without a prefix, and into invalid folders.
reset
stand_in dpkg-query 'echo installed'
stand_in apt-get 'exit 1'
stand_in cmake 'case $1 in --install)
    mkdir -p "$4/share/headscope" && echo "$4/bin/headscope" >build/release/install_manifest.txt ;;
esac'
mkdir -p "$sandbox/repo/build/release"
: >"$sandbox/repo/build/release/build.ninja"
prefix="$sandbox/a prefix"
for time in first second; do
    : >"$sandbox/calls"
    run install "$prefix"
    expect "installing a $time time succeeds" ended_with 0
    expect "after building" called 'cmake --build build/release .*--target headscope'
    expect "into the given folder" called "cmake --install build/release --prefix $prefix"
    expect "and prints the program's path" says "installed: $prefix/bin/headscope"
    expect "and that PATH lacks it" says "$prefix/bin is not in your PATH"
    expect "and how to remove it" says "To remove it: xargs -d '\\n' rm -f <$prefix/share/headscope/installed.txt"
    expect "which lists what was installed, and itself" [ "$(cat "$prefix/share/headscope/installed.txt")" = \
        "$prefix/bin/headscope"$'\n\n'"$prefix/share/headscope/installed.txt" ]
done
stand_in update-desktop-database 'exit 1'
run install "$prefix"
expect "a failing desktop tool is reported" says "update-desktop-database failed"
expect "but is not an error" ended_with 0
expect "it gets the right folder" called "update-desktop-database -q $prefix/share/applications"
output=$(cd "$sandbox" && PATH=$sandbox/bin:$sandbox/here/bin "$sandbox/repo/do" install here 2>&1)
expect "a relative folder is relative to the caller's" called "cmake --install build/release --prefix $sandbox/here"
expect "a PATH that has it is not mentioned" not says "your PATH"
stand_in id 'echo 1000'
HOME=$sandbox/home run install
expect "the default folder is the user's" called "cmake --install build/release --prefix $sandbox/home/.local"
: >"$sandbox/calls"
: >"$sandbox/file"
run install "$sandbox/file/below"
expect "a path below a file is rejected" says "cannot install into $sandbox/file/below: $sandbox/file is not a folder"
expect "with an error" ended_with 1
run install --user
expect "an option is rejected" says "unknown option of install: --user"
run install one two
expect "two folders are rejected" says "install takes one folder, got: one two"
run install /proc/headscope
expect "an unwritable folder is rejected" says "cannot install into /proc/headscope: /proc is not writable"
expect "none of these build anything" not called 'cmake'

built() { # PRESET..: resets, with all packages installed and fake build tools
    reset
    stand_in dpkg-query 'echo installed'
    stand_in apt-get 'exit 1'
    stand_in cmake 'exit 0'
    stand_in ctest 'exit 0'
    local preset
    for preset in "$@"; do
        mkdir -p "$sandbox/repo/build/$preset"
        : >"$sandbox/repo/build/$preset/build.ninja"
    done
}

# Single tests.
built release debug
stand_in ninja 'case $* in *test_text | *test_model) exit 0 ;; *) exit 1 ;; esac'
run test text model
expect "tests can be selected" ended_with 0
expect "their targets are built" called 'cmake .*--target test_text test_model$'
expect "and only they are run" called 'ctest .*build/release .*-R ^(text|model)[$]'
run test --preset debug text house_do
expect "also with a preset" called 'ctest .*build/debug .*-R ^(text|house_do)[$]'
expect "a test of several targets builds everything" not called 'cmake .*build/debug .*--target'
printf '#!%s\nshift\nfor each; do [ "$each" = src/text ] && echo text; done\necho house_rules\n' "$(command -v bash)" \
    >"$sandbox/repo/tests/affected.sh"
chmod +x "$sandbox/repo/tests/affected.sh"
run test --preset debug --for src/text --for docs
expect "tests can be selected by what changed" called 'ctest .*build/debug .*-R ^(text|house_rules)[$]'
run test --for
expect "which needs a path" says "--for needs a file or folder"
: >"$sandbox/calls"
run test
expect "all tests are run by default" not called 'ctest .*-[RE] '
stand_in ctest 'case $* in *" -N "*) for i in 1 2 3 4 5; do echo "  Test #$i: long_$i"; done; echo "Total Tests: 5" ;; esac'
run test --turn 2/2
expect "long tests can be run in turns" called 'ctest .*-E ^(long_1|long_3|long_5)[$]'
expect "and those of the other turns are named" says "Turn 2/2 leaves to others: long_1 long_3 long_5"
run test --turn 3/2
expect "no turn comes after the last" says "--turn needs K/N"

# The checks that evaluate the program's output.
built release cpu-only
stand_in clang 'echo 14.0.6'
program() { # PRESET BODY
    stand_in headscope "$2"
    mv "$sandbox/bin/headscope" "$sandbox/repo/build/$1/headscope"
}
check_says() { [[ $output =~ \ \ $1\ +$2\ +[0-9.]+\ s ]]; }

program release 'echo "vulkan:0 and cpu translate 499 of 500 sentences identically (greedy)"'
unset HEADSCOPE_HELD_OUT
run check agreement
expect "agreement passes" check_says agreement passed
expect "after comparing the bundled text" called 'compare .*--tsv assets/configs/en-de-test.tsv --limit 500'
export HEADSCOPE_HELD_OUT=test.tsv
run check agreement
expect "or other text" called 'compare .*--device vulkan --with cpu --tsv test.tsv --limit 500'
program release 'echo "vulkan:0 and cpu translate 499 of 500 sentences identically (greedy)"; exit 1'
run check agreement
expect "devices that differ fail the check" check_says agreement FAILED
expect "and ./do" ended_with 1
program release 'echo "vulkan:0 and cpu translate 400 of 400 sentences identically (greedy)"'
run check agreement
expect "too little text fails the check" check_says agreement FAILED
expect "with the reason" says "fewer than 500 sentences"

for score in 500:passed 499:FAILED; do
    program release "case \$1 in evaluate) echo 'exact match ${score%:*} of 500 sentences (99.9 %)' ;; esac"
    run check digits
    expect "${score%:*} correct numbers" check_says digits "${score#*:}"
done
for line in 'vulkan  cannot be used: not built in: configure it:passed' 'vulkan:FAILED'; do
    program cpu-only "echo '${line%:*}'"
    run check cpuonly
    expect "the output of devices without Vulkan is checked" check_says cpuonly "${line##*:}"
done
expect "after building without Vulkan" called 'cmake --build build/cpu-only'
stand_in ctest 'exit 8'
program cpu-only "echo 'vulkan  cannot be used: not built in: configure it'"
run check cpuonly
expect "a failing test fails the check" check_says cpuonly FAILED

for tool in realpath touch grep; do ln -sf "$(command -v "$tool")" "$sandbox/bin/$tool"; done
unset HEADSCOPE_SWIFTSHADER
stand_in ctest 'echo "Total Tests: 1"'
stand_in apt-cache 'exit 100'
program release '[ "$1" != devices ] || echo "    name      SwiftShader Device, of $VK_DRIVER_FILES"'
run check swiftshader
expect "without its package SwiftShader is skipped" check_says swiftshader SKIPPED
expect "with the way to set a driver" says "HEADSCOPE_SWIFTSHADER=/path/of/vk_swiftshader_icd.json"
HEADSCOPE_SWIFTSHADER=assets/none.json run check swiftshader
expect "a missing driver fails" check_says swiftshader FAILED
mkdir -p "$sandbox/repo/assets"
: >"$sandbox/repo/assets/icd.json"
HEADSCOPE_SWIFTSHADER=assets/icd.json run check swiftshader
expect "an existing driver passes" check_says swiftshader passed
expect "and is the only one used" grep -q "of .*/repo/assets/icd.json" "$sandbox/repo/out/check/swiftshader.log"
expect "after conform" called 'headscope conform --device vulkan --quick'
expect "and the tests" called 'ctest .*viewer_window_shown'
stand_in ctest 'echo "Total Tests: 0"'
HEADSCOPE_SWIFTSHADER=assets/icd.json run check swiftshader
expect "without the window's test it fails" check_says swiftshader FAILED
stand_in ctest 'echo "Total Tests: 1"'
stand_in apt-cache 'echo Package'
run check swiftshader
expect "a failing download fails" check_says swiftshader FAILED
expect "with a hint" says "is there a network"
stand_in apt-get '[ "$1" != download ] || : >chromium-common_1.deb'
stand_in dpkg 'mkdir -p build/swiftshader/usr/lib/chromium && : >build/swiftshader/usr/lib/chromium/vk_swiftshader_icd.json'
run check swiftshader
expect "a downloaded package is unpacked" eval 'check_says swiftshader passed && called "dpkg --extract build/swiftshader/chromium-common_1.deb"'
: >"$sandbox/calls"
run check swiftshader
expect "and downloaded only once" eval 'check_says swiftshader passed && ! called download'
stand_in apt-get 'exit 1'
program release '[ "$1" != devices ] || echo "    name      llvmpipe"'
HEADSCOPE_SWIFTSHADER=assets/icd.json run check swiftshader
expect "another driver fails" check_says swiftshader FAILED

mkdir -p "$sandbox/repo/tests/fuzz" "$sandbox/repo/build/fuzz/tests/fuzz"
cp "$repository/tests/fuzz/run.sh" "$sandbox/repo/tests/fuzz/"
: >"$sandbox/repo/tests/fuzz/one_fuzz.cpp"
ln -s "$(command -v basename)" "$sandbox/bin/basename"
for tool in cmake ninja fuzz_one libfuzzer_one; do stand_in "$tool" 'exit 0'; done
mv "$sandbox/bin/fuzz_one" "$sandbox/bin/libfuzzer_one" "$sandbox/repo/build/fuzz/tests/fuzz/"
unset HEADSCOPE_FUZZ_SECONDS
run check fuzz
expect "each target is fuzzed for a minute" eval 'check_says fuzz passed && called "libfuzzer_one -max_total_time=60 "'
HEADSCOPE_FUZZ_SECONDS=7 run check fuzz
expect "or for the given time" called 'libfuzzer_one -max_total_time=7 '
HEADSCOPE_FUZZ_SECONDS=1m run check fuzz
expect "which must be in seconds" eval 'check_says fuzz FAILED && says "1m"'

# check trixie mirrors the tracked files, whatever their times, and keeps build outputs.
copied=$sandbox/copied
rm -rf "$sandbox/tracked"
mkdir -p "$sandbox/tracked" "$copied/build" "$copied/src"
(cd "$sandbox/tracked" && mkdir src && echo one >src/changed && echo two >same && echo '#!/bin/sh' >tool &&
    chmod +x tool && echo stray >untracked)
touch "$copied/build/kept" "$copied/src/gone"
# Uses a fake git, since the sources may not be a clone.
mirrored() {
    (
        git() { printf '%s\0' same src/changed tool; }
        cd "$sandbox/tracked" && . "$repository/tests/checks.sh" && mirror_tracked "$copied"
    )
}
files() { (cd "$copied" && find . -type f | LC_ALL=C sort | tr '\n' ' '); }
mirrored
output=$(files)
expect "a mirror has the tracked files and build outputs" says "./build/kept ./same ./src/changed ./tool "
expect "and nothing else" not says gone
expect "programs are executable" test -x "$copied/tool"
touch -d '1 hour ago' "$copied/same" "$copied/build/kept"
echo three >"$sandbox/tracked/src/changed"
touch -d '2 hours ago' "$sandbox/tracked/src/changed"
mirrored
expect "a change is copied" grep -qx three "$copied/src/changed"
expect "and is newer than build outputs" test "$copied/src/changed" -nt "$copied/build/kept"
expect "an unchanged file keeps its time" not test "$copied/same" -nt "$copied/build/kept"

finish "./do behaves as expected"
