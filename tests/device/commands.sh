# shellcheck shell=bash
# What the parts of run.sh run commands with. A part prints "+ COMMAND" for each, and "NOTE: ..." for the summary.
# $tests is run.sh's.
# shellcheck disable=SC2154

dry() { [ -n "$DEVICE_DRY" ]; }
pick() { if dry; then echo "$1"; else echo "$2"; fi; } # DRY REAL

run() { # COMMAND..: says and does it
    local words="$*"
    printf '+ %s\n' "${words//$DEVICE_WORK\//}"
    "$@"
}
headscope() { LD_LIBRARY_PATH=$DEVICE_LIBRARIES "$DEVICE_KIT/bin/headscope" "$@"; }
measure() { python3 "$tests/measure.py" "$@"; }
test_device() { if [ "$1" = vulkan ]; then echo "$DEVICE_VULKAN"; else echo "$1"; fi; } # cuda|vulkan

# Runs FUNCTION ARGUMENT.. 1 to FUNCTION ARGUMENT.. N at once, then prints what each printed; fails if one failed.
side_by_side() { # N FUNCTION ARGUMENT..
    local most=$1 number code=0 pids=() folder
    shift
    folder=$(mktemp -d "$DEVICE_WORK/pieces.XXXXXX")
    for ((number = 1; number <= most; ++number)); do
        "$@" "$number" >"$folder/$number" 2>&1 &
        pids+=($!)
    done
    for number in "${!pids[@]}"; do
        wait "${pids[number]}" || code=$?
        cat "$folder/$((number + 1))"
    done
    return $code
}

# Catch2's program on one backend alone, in several processes, each of which has a share of the cases or of the tests.
# The note adds up what they report.
tested() { # PROGRAM BACKEND PROCESSES FUNCTION: FUNCTION prints the arguments of process $1, one a line
    local log code
    log=$(mktemp "$DEVICE_WORK/tested.XXXXXX")
    side_by_side "$3" one_process "$1" "$2" "$3" "$4" | tee "$log"
    code=${PIPESTATUS[0]}
    measure tests <"$log"
    return "$code"
}
# shellcheck disable=SC2317 # called through side_by_side
one_process() { # PROGRAM BACKEND PROCESSES FUNCTION NUMBER
    local arguments
    mapfile -t arguments < <("$4" "$5")
    printf '+ HEADSCOPE_TEST_DEVICES=%s HEADSCOPE_TEST_PART=%s/%s %s %s\n' "$2" "$5" "$3" "$1" "${arguments[*]}"
    HEADSCOPE_TEST_DEVICES=$2 HEADSCOPE_REQUIRE_BACKENDS=${2%%:*} LD_LIBRARY_PATH=$DEVICE_LIBRARIES \
        HEADSCOPE_TEST_PART=$5/$3 "$DEVICE_KIT/bin/$1" "${arguments[@]}"
}

# The names of a program's tests, in as many files as there are processes: a process can load NVIDIA's Vulkan driver
# about 30 times.
deal_tests() { # PROGRAM PATTERN PROCESSES PREFIX
    LD_LIBRARY_PATH=$DEVICE_LIBRARIES "$DEVICE_KIT/bin/$1" --list-test-names-only "$2" |
        awk -v most="$3" -v prefix="$4" 'NF { sub(/^ +/, ""); print >(prefix (NR - 1) % most + 1) }'
}
