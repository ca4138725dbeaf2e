#!/usr/bin/env bash
# No library reads the environment or prints; programs pass their settings on.
# shellcheck disable=SC2317 # conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
output=
show() { printf '%s\n' "$output"; }
nothing() { [ -z "$output" ]; }
finds() { grep -qF -- "$1" <<<"$output"; }

# Lists matching lines of code, outside of comments and of the folders or files EXCEPT.
lines_with() { # PATTERN EXCEPT
    grep -rnE "$1" src backends viewer --include='*.cpp' --include='*.h' --include='*.cu' |
        grep -vE "^($2)|^[^:]*:[0-9]+: *//"
}
check() { # ROOT
    cd "$1" || exit
    output=$(
        lines_with '\bgetenv\b|\benviron\b' '(src/cli|viewer/program)/main\.cpp:'
        lines_with '\bf?printf\(|\bf?puts\(|\bfmt::print(ln)?\(|\bstd::c(out|err|log)\b|\bperror\(|\bSTDERR_FILENO\b' \
            'src/cli/|src/options/(terminal|progress|program)\.cpp:|viewer/program/|src/io/atomic_file\.cpp:[0-9]+:.*is_open_as|backends/vulkan/device/driver_probe\.cpp:' # compares files; silences a child
        lines_with '\b(list_devices|require_window_drivers)\(\)|\b(open_device|asked_device|default_device|find_model)\([^(),]*\)' \
            'src/(registry|conformance|infer|engine)/|viewer/session/|src/backend/'
    )
}

check "$repository"
expect "the library is silent, and its settings are passed on" nothing

finds_in() { # FILE LINE
    rm -rf "$sandbox/tree"
    mkdir -p "$sandbox/tree"
    cp -r "$repository"/{src,backends,viewer} "$sandbox/tree"
    printf '%s\n' "$2" >>"$sandbox/tree/$1"
    check "$sandbox/tree"
    expect "$2 in $1 is detected" finds "$1"
}
finds_in src/registry/registry.cpp 'const char* device = std::getenv("HEADSCOPE_DEVICE");'
finds_in src/cli/train/train_run.cpp 'for (char** each = environ; *each != nullptr; ++each) {}'
finds_in backends/cuda/stream.cpp 'fmt::print(stderr, "slow");'
finds_in viewer/session/session.cpp 'std::cerr << "slow";'
finds_in backends/cuda/attention.cu 'printf("%f", x);'
finds_in src/cli/model_device.cpp 'backend_ = open_device(id);'
finds_in viewer/ui/program.cpp 'devices = list_devices();'

finish "libraries neither print nor read the environment"
