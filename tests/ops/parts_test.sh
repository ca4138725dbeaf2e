#!/usr/bin/env bash
# parts_test.sh TEST_OPS: with HEADSCOPE_TEST_PART the processes have together every case once.
# shellcheck disable=SC2317 # conditions are called through expect
set -uo pipefail
test_ops=$1
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
export HEADSCOPE_TEST_DEVICES=cpu
unset HEADSCOPE_REQUIRE_BACKENDS # which asks for the devices left out here
output=
show() { printf '%s\n' "$output" | tail -n 20; }
run() { # PART
    output=$(HEADSCOPE_TEST_PART=$1 "$test_ops" "search agrees with the oracle" -s 2>&1)
    code=$?
}
cases() { grep -oE 'cpu: [0-9]+ cases' <<<"$output" | awk '{ all += $2 } END { print all + 0 }'; }

run 1/1
expect "one process has all" ended_with 0
all=$(cases)
expect "which are some" [ "$all" -gt 2 ]
sum=0
for part in 1/3 2/3 3/3; do
    run $part
    expect "part $part passes" ended_with 0
    expect "and is not all" [ "$(cases)" -lt "$all" ]
    sum=$((sum + $(cases)))
done
expect "three processes have each case once: $sum of $all" [ "$sum" -eq "$all" ]
for wrong in 3 0/3 4/3 a/3 3/ "1/3 "; do
    run "$wrong"
    expect "'$wrong' is an error" not ended_with 0
done

finish "the cases are shared between processes"
