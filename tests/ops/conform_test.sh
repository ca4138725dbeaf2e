#!/usr/bin/env bash
# headscope conform as a user meets it: what it prints, the files it leaves, and its exit code.
# usage: conform_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
holds() { jq -e "$1" "$2" >/dev/null; }

run conform --device cpu --op masked_softmax --quick --json report.json --junit report.xml
expect "a right device passes" ended_with 0
expect "its name and driver are told" grep -q '^    driver ' out
expect "a line for the op" grep -qE '^masked_softmax +f32 +as it chooses +[0-9]+ +[0-9]+ .* % +passed +[0-9.]+ GB/s$' out
expect "a last line with the count" grep -qE '^cpu: [0-9]+ runs, 0 of [0-9]+ results failed, [0-9]+ s$' out
expect "JSON for programs" holds '.passed and .scope == "quick" and .devices[0].id == "cpu"' report.json
expect "with errors and what they may be" \
    holds '[.devices[0].results[] | select(.runs > 0) | .nmse >= 0 and .share_of_tolerance < 1 and .tolerance.element > 0] | all' report.json
expect "JUnit's XML" grep -q '<testcase classname="attention.masked_softmax" name="f32, softmax, chosen"/>' report.xml

run conform --device cpu --op masked_softmax --quick --no-speed --json -
expect "JSON can be standard output" holds '.devices[0].results | length > 3' out
expect "and speeds left out" holds '[.devices[0].results[] | has("speed")] | any | not' out

HEADSCOPE_SCAN_NAN=1 run conform --device cpu --op masked_softmax --op cache_append --quick --no-speed --json failed.json --junit failed.xml
expect "a device that breaks a promise makes the exit code 1" ended_with 1
expect "says which" complains "cpu: 1 of"
expect "shows how" grep -q '^FAILED  masked_softmax in f32, NaN and infinity' out
expect "with what was wrong" says "masked_softmax wrote one to its output weights"
expect "in JSON, too" holds '(.passed | not) and ([.devices[0].results[] | select(.complaints != [])] | length == 1)' failed.json
expect "and in XML" grep -q 'failures="1"' failed.xml

VK_DRIVER_FILES=/nowhere VK_ICD_FILENAMES=/nowhere HEADSCOPE_CUDA_DRIVER=/nowhere run conform --quick
expect "no device is no pass" refused "no device is no pass" "--device cpu"
run conform --device abacus --quick
expect "a device that is not there is refused" refused 'unknown device "abacus"'
run conform --device all --device cpu --op cache_append --quick --no-speed --json all.json
expect "all is all, whatever stands beside it" \
    [ "$(jq '.devices | length' all.json)" -eq "$("$headscope" devices --usable | wc -l)" ]
run conform --device cpu --op softmax
expect "an unknown op is refused, and the known ones are listed" refused '"softmax"' "masked_softmax"
run conform --device cpu --dtype f64
expect "so is a dtype" refused '"f64"' "bf16"
run conform --device cpu --op fill,square_sum --dtype f32,i32 --quick --no-speed --json some.json
expect "ops and dtypes may be lists" \
    holds '[.devices[0].results[] | .op + " " + .precision] | unique == ["fill f32", "fill i32", "square_sum f32"]' some.json
run conform --device cpu --op fill --path sideways --quick --no-speed
expect "a path that the device does not have is told" complains 'no path "sideways"'
run conform --device cpu --op square_sum --dtype i8
expect "nothing to do is no pass" refused "nothing was to be done on cpu"
run conform --device cpu --quick --full
expect "quick and full exclude each other" refused "--quick"
run conform --device cpu --op square_sum --json nowhere/report.json
expect "a report that cannot be written is refused before anything runs" refused "nowhere/report.json"
expect "and nothing is left" [ ! -e nowhere ]

finish "the command does as expected"
