#!/usr/bin/env bash
# headscope conform as a user meets it: what it prints, the files it leaves, and its exit code.
# usage: conform_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
no_file() { # PATTERN..
    local pattern
    for pattern in "$@"; do ! compgen -G "$pattern" >/dev/null || return 1; done
}
holds() { [ -s "$2" ] && jq -e "$1" "$2" >/dev/null; } # jq accepts empty input

run conform --device cpu --op masked_softmax --quick --json report.json --junit report.xml
expect "a correct device passes" ended_with 0
expect "its name and driver are printed" grep -q '^    driver ' out
expect "a line for the op" grep -qE '^masked_softmax +f32 +as it chooses +[0-9]+ +[0-9]+ .* % +passed +[0-9.]+ GB/s$' out
expect "a last line with the count" grep -qE '^cpu: [0-9]+ runs, 0 of [0-9]+ results failed, [0-9]+ s$' out
expect "JSON for programs" holds '.passed and .scope == "quick" and .devices[0].id == "cpu"' report.json
expect "with errors and their bounds" \
    holds '[.devices[0].results[] | select(.runs > 0) | .nmse >= 0 and .share_of_tolerance < 1 and .tolerance.element > 0] | all' report.json
expect "when it was, and by which command" \
    holds '(.date | test("^20..-..-..T..:..:..Z$")) and (.command | startswith("headscope conform --device cpu --op masked_softmax "))' report.json
expect "under which settings" holds '.settings.HEADSCOPE_DEVICE == "cpu"' report.json
expect "which the table has, too" grep -q '^    settings .* HEADSCOPE_DEVICE=cpu' out
expect "and the allowed errors, with the reason" grep -qE '^    f32 .* 12 u \+ 2 sqrt\([0-9]+\) 2\^-24' out
expect "JUnit's XML" grep -q '<testcase classname="attention.masked_softmax" name="f32, softmax, chosen" time="[0-9.]*"><system-out>' report.xml
expect "with speeds" grep -qE '>speed [0-9.]+ GB/s of ' report.xml
# Without a parser only tests/ops/report_test.cpp checks it.
if command -v xmllint >/dev/null; then expect "which a parser reads" xmllint --noout report.xml; fi

run conform --device cpu --op masked_softmax --quick --no-speed --json -
expect "JSON can be standard output" holds '.devices[0].results | length > 3' out
expect "and speeds left out" holds '[.devices[0].results[] | has("speed")] | any | not' out

run conform --device cpu --op masked_softmax --quick --no-speed --junit -
expect "so can XML" grep -q '^</testsuites>$' out
expect "without the table" not says "RUNS"

run conform --device cpu --op square_sum --dtype f32 --path chosen --case 'square_sum [20000] nan in x' --json one.json --no-speed
expect "one case may be run by itself" holds '[.devices[0].results[].cases] | add == 1' one.json
for part in 1/2 2/2 1/1; do
    run conform --device cpu --op layer_norm --dtype f32 --quick --no-speed --part "$part" --json "part-${part%/*}-of-${part#*/}.json"
done
expect "parts make up the whole" \
    [ "$(jq -s '[.[].devices[].results[].cases] | add' part-1-of-2.json part-2-of-2.json)" -eq "$(jq '[.devices[].results[].cases] | add' part-1-of-1.json)" ]
run conform --device cpu --op layer_norm --part 3/2
expect "there is no third half" misused 'such as 1/8 or 8/8, got "3/2"'
run conform --device cpu --op masked_softmax --case 'no such case'
expect "an unknown case is rejected with examples" refused 'no case is called "no such case"' "such as: masked_softmax ["

# Correct results fail against wrong vectors.
vectors=$repository/tests/golden/onnx
run conform --device cpu --onnx-node-tests "$vectors" --json vectors.json
expect "ONNX's vectors are run by the command" holds '.passed and .scope == "onnx node tests"' vectors.json
cp -r "$vectors" bent
printf '\377' | dd of=bent/test_softmax_large_number/test_data_set_0/output_0.pb bs=1 seek=40 conv=notrunc status=none
run conform --device cpu --onnx-node-tests bent --case softmax_large --json failed.json --junit failed.xml
expect "a device that differs makes the exit code 1" ended_with 1
expect "says which" complains "cpu: 1 of 2 results failed"
expect "shows how" grep -q '^FAILED  onnx Softmax in f32, test_softmax_large_number' out
expect "with the error" says "cpu: test_softmax_large_number: y["
expect "and how to repeat it" says "again: headscope conform --device cpu --onnx-node-tests 'bent' --case 'test_softmax_large_number'"
expect "in JSON, too" holds '(.passed | not) and ([.devices[0].results[] | select(.complaints != []) | .failed_cases[].repeat] | length == 1)' failed.json
expect "and in XML" grep -q 'failures="1"' failed.xml
run conform --device cpu --onnx-node-tests bent --case test_softmax_large
expect "a single result is in the singular" complains "cpu: 1 of 1 result failed"

HEADSCOPE_SCAN_NAN=1 run conform --device cpu --op fill --quick
expect "HEADSCOPE_SCAN_NAN is rejected" refused "HEADSCOPE_SCAN_NAN"

VK_DRIVER_FILES=/nowhere VK_ICD_FILENAMES=/nowhere HEADSCOPE_CUDA_DRIVER=/nowhere HEADSCOPE_DEVICE='' run conform --quick
expect "a run without a device fails" refused "a run without a device is a failure" "--device cpu"
run conform --op fill --quick --no-speed --json asked.json
expect "HEADSCOPE_DEVICE is the default" holds '[.devices[].id] == ["cpu"]' asked.json
run devices --verbose
expect "devices --verbose has a line for each feature" grep -qx ' *BF16 products: .*' out
run devices --verbose --json
expect "which JSON has anyway" ended_with 0
HEADSCOPE_DEVICE=abacus run conform --quick
expect "and must be known" refused 'unknown device "abacus"'
run conform --device abacus --quick
expect "an unknown device is rejected" refused 'unknown device "abacus"'
run conform --device all+software --device cpu --op cache_append --quick --no-speed --json all.json
expect "all+software includes every other device of the list" \
    [ "$(jq '.devices | length' all.json)" -eq "$("$headscope" devices --usable | wc -l)" ]
run conform --device cpu --op softmax
expect "an unknown op is rejected, and the known ones are listed" refused '"softmax"' 'did you mean "masked_softmax"?' "add_scaled"
run conform --device cpu --dtype f64
expect "so is a dtype" refused '"f64"' "bf16"
run conform --device cpu --op fill,square_sum --dtype f32,i32 --quick --no-speed --json some.json
expect "ops and dtypes may be lists" \
    holds '[.devices[0].results[] | .op + " " + .precision] | unique == ["fill f32", "fill i32", "square_sum f32"]' some.json
run conform --device cpu --op fill --path sideways --quick --no-speed
expect "a path that the device lacks is rejected" refused 'no path "sideways"'
for option in device op dtype path case junit onnx-node-tests; do
    run conform --device cpu --op fill --quick --no-speed "--$option" ''
    expect "an empty --$option is rejected" misused "--$option"
done
run conform --device cpu,cpu --device cpu --op square_sum --quick --no-speed --json once.json
expect "a device given several times is tested once" holds '.devices | length == 1' once.json
run conform --device cpu --op square_sum --dtype i8
expect "a run without cases fails" refused "nothing to do on cpu"
run conform --device cpu --quick --full
expect "quick and full exclude each other" misused "--quick"
run conform --device cpu --op square_sum --json nowhere/report.json
expect "an unwritable report is rejected before anything runs" refused "nowhere/report.json"
expect "and nothing is left" [ ! -e nowhere ]
run conform --device cpu --op square_sum --json same.txt --junit ./same.txt
expect "two reports must not share a file" misused "the same file"
run conform --device cpu --op square_sum --json - --junit -
expect "or standard output" misused "the same file"

# The disk becomes full: 2 KiB hold one of the reports.
(trap '' XFSZ && ulimit -f 2 && exec "$headscope" conform --device cpu --op square_sum --quick --no-speed \
    --json large.json --junit small.xml 2>err) | cat >out
code=${PIPESTATUS[0]}
expect "a report that cannot be written in the end fails" ended_with 1
expect "with its name" complains "cannot write 'large.json'"
expect "leaves the table" grep -q '^cpu: 52 runs, 0 of ' out
expect "and the other report" grep -q '^</testsuites>$' small.xml
expect "without partial files" no_file 'large*' '*tmp'

end_by() { # SIGNAL: of a longer run; leaves out, err and code
    rm -f ended.json ended.xml
    (ulimit -c 0 && exec "$headscope" conform --device cpu --quick --no-speed --json ended.json --junit ended.xml) >out 2>err &
    local process=$!
    # A second of CPU time under any load: by then cases run.
    until [ "$(cut -d ' ' -f 14 "/proc/$process/stat" 2>/dev/null || echo 100)" -ge 100 ]; do sleep 0.05; done
    kill "-$1" "$process"
    { wait "$process"; } 2>/dev/null
    code=$?
}
end_by TERM
expect "an interrupted run ends by the signal" ended_with 143
expect "prints the results so far" grep -qE '^cpu: [1-9][0-9]* runs, .*, not to the end$' out
expect "and that it was interrupted" grep -q '^INTERRUPTED  the rest was not tried' out
expect "in JSON" holds '.interrupted and (.passed | not) and (.devices[0].results | length > 0)' ended.json
expect "and in XML" grep -q 'errors="1"' ended.xml
expect "on standard error, too" complains "headscope: cpu: the rest was not tried: it was interrupted"
end_by SEGV
crashed() { ended_with 139 || { not ended_with 0 && complains "AddressSanitizer"; }; }
expect "a crash is a crash" crashed
expect "that reports the running case" grep -qE '^  cpu, as it chooses, [a-z0-9+ ]+: [a-z_]+ ' err
expect "and how to repeat it" grep -q "^  again: headscope conform --device cpu --op .* --path chosen --case '" err
expect "and leaves no files behind" no_file 'ended*' '*tmp'

# With a driver, if there is one.
if [[ $("$headscope" devices --usable) == *vulkan* ]]; then
    run conform --device vulkan --op masked_softmax --dtype f32 --path no-vector-loads --case '[1, 2, 3, 33]' --quick --no-speed --json vulkan.json
    expect "a Vulkan device passes" ended_with 0
    expect "also with an additional path" \
        holds '[.devices[0].results[].path] | unique == ["chosen", "no-vector-loads"]' vulkan.json
    HEADSCOPE_VULKAN_LOST_AT=2 run conform --device vulkan --op square_sum --quick --no-speed
    expect "a lost device fails" ended_with 1
    expect "with the case that lost it" grep -q "^    again: headscope conform --device vulkan:[0-9]* --op square_sum --dtype f32 --path chosen --case 'square_sum \[" out
    expect "and failures count runs" grep -qE '^square_sum .* FAILED [0-9]+$' out
    again=$(sed -n "s/^    again: headscope \(.*\)/\1/p" out | head -n 1)
    eval "HEADSCOPE_VULKAN_LOST_AT=2 run $again"
    expect "which fails again" grep -qE '^square_sum .* FAILED 1( |$)' out
else
    echo "SKIPPED: no Vulkan device"
fi

finish "the command does as expected"
