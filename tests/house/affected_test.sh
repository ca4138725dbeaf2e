#!/usr/bin/env bash
# ./do test --for PATH runs what a change of PATH can break: the programs compiled from it and what reads sources.
# usage: affected_test.sh PROGRAM-OF-A-COMPLETE-BUILD
# shellcheck disable=SC2317 # the conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
build=$(dirname "$1")
affected() { # PATH..
    output=$(cd "$repository" && tests/affected.sh "$build" "$@" 2>&1)
    code=$?
}
show() { printf '    output: %s\n' "$output"; }
says() { [[ $output == *"$1"* ]]; }
lists() { # NAME..
    local name
    for name in "$@"; do grep -qx "$name" <<<"$output" || return 1; done
}

affected src/trees
expect "a folder breaks its tests, those of rooms that use it, and the program's" lists trees trees_commands train_commands
expect "and what reads all sources" lists house_rules house_rooms
expect "but no room below it" not lists support
expect "nor one beside it" not lists paint
affected src/support/check.h
expect "a header breaks what includes it" lists support text vulkan
affected tests/trees
expect "a test's folder breaks its program and its commands" lists trees trees_commands
expect "but no other" not lists train_commands
affected backends/cuda/bias.cu
expect "a kernel breaks the tests on the emulated device" lists ops_cuda_emulated cuda_backend
affected tests/trees tests/paint
expect "several paths break the tests of each" lists trees paint
affected tests/golden/training_losses.json
expect "data breaks what reads it" lists model
expect "and no other program" not lists paint
affected tests/house/commands.sh
expect "a script breaks the tests that source it" lists train_commands viewer_commands
affected src/there_is_no_such_folder
expect "a path that does not exist is an error" ended_with 1
expect "which names it" says "there is no src/there_is_no_such_folder"
affected /etc
expect "so is one outside the repository" ended_with 1
finish "tests are selected by what changed"
