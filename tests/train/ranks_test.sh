#!/usr/bin/env bash
# headscope train on several ranks of this machine: the same weights for any number, and how they end.
# usage: ranks_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2016,SC2154,SC2317 # assigned by what is sourced; the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
export HEADSCOPE_THREADS=1
run make-task digits --output data --pairs 1500 --valid 30 --test 1
cp "$repository/tests/train/ranked.json" data/
run train data/ranked.json --output one
expect "one rank trains in shards" ended_with 0
holds() { jq -e "$1" out >/dev/null; }
same_model() { same one/model/model.safetensors "$1/model/model.safetensors"; }
for count in 2 3; do
    run train data/ranked.json --output many-$count --ranks $count --device cpu --rank-timeout 60
    expect "$count ranks train" ended_with 0
    expect "$count ranks train the same weights" same_model many-$count
done
expect "the ranks are counted" complains "in 4 shards on 3 ranks"
expect "the log is rank 0's" [ "$(grep -c '"kind":"validation"' many-3/log.jsonl)" -eq 3 ]
run train data/ranked.json --output by-devices --device cpu,cpu --json
expect "a list of devices makes a rank of each" same_model by-devices
expect "JSON is written once" holds '.step == 60'
run train --output many-2 --resume --ranks 4 --device cpu --steps 70
expect "a run goes on with another number of ranks" ended_with 0
run train --output one --resume --steps 70
expect "with the same weights" same_model many-2

# ------------------------------------------------------------------------------------------ what is refused
once() { [ "$(grep -c '^headscope: ' err)" -eq 1 ]; }
run train data/ranked.json --output no --ranks 3 --device cpu,cpu
expect "numbers of ranks and devices must agree" misused "--ranks 3" "2 devices"
run train data/ranked.json --output no --ranks 8 --device cpu
expect "more ranks than shards are an error" refused "\"training.shards\" (4) is less than the number of ranks (8)"
expect "which is said once" once
expect "and leaves nothing" [ ! -e no ]
run train data/ranked.json --output no --ranks 2 --device cpu,vulkan:7
expect "a missing device of one rank is an error" refused "rank 1 (vulkan:7): " "vulkan:7"
expect "said once, too" once
jq '.training.shards = 2' data/ranked.json >data/other.json
run train data/other.json --output one --resume --ranks 2 --device cpu
expect "a run keeps its number of shards" refused "training.shards\" was 4 and is now 2"
if "$headscope" devices | grep -q '^vulkan:0'; then
    run train data/ranked.json --output no --ranks 2 --device vulkan --steps 1
    expect "two ranks on one card are warned of" complains "ranks 0 and 1 share one device (vulkan:0)"
    rm -rf no
fi
run train data/other.json --output one --ranks 2 --device cpu --max-restarts 2
expect "an output with checkpoints is refused" refused "already holds checkpoints"
expect "also at a restart, which such an error has none of" [ "$(grep -c restart err)" -eq 0 ]
touch data/empty.jsonl
run train --task ppo --text data/empty.jsonl --from one/model --output no --ranks 2 --device cpu
expect "an error of the command line is one, also of a rank" misused "--task ppo needs a model that scores responses"
run train data/ranked.json --output no --max-restarts 2
expect "restarts of one rank are refused, not ignored" misused "--max-restarts is of several ranks"
run train data/ranked.json --output no --rank-timeout 20
expect "and its timeout" misused "--rank-timeout is of several ranks"
run train data/ranked.json --output no --network 10,5 --dry-run
expect "and a network without ranks" misused "--network is between ranks"
run train data/ranked.json --output no --ranks 2 --show-labels 1
expect "what needs one rank excludes several" misused "--show-labels" "--ranks"
run train data/ranked.json --output no --ranks 2 --network 10 --dry-run
expect "a network has two numbers" misused "--network" "'10' is no network" "such as 12.5,20"
run train data/ranked.json --output no --ranks 8 --network 10,5 --dry-run
expect "more ranks than shards are an error of --dry-run, too" refused "\"training.shards\" (4) is less"
run train data/ranked.json --output no --ranks 3 --device cpu,cpu --dry-run
expect "and so are other numbers of devices" misused "--ranks 3" "2 devices"
run train data/ranked.json --output no --rank-of 3,1
expect "only the program starts ranks" refused "describes no rank"

# ------------------------------------------------------------------------------------------ what it costs
run train data/ranked.json --output no --device cpu,cpu --network 0.001,0 --dry-run
expect "--dry-run says what the exchange takes" says "on 2 such devices: "
expect "and whether it pays" says "so one is faster"
expect "and what was not measured" says "memory and time of a step above are those of one device"
run train data/ranked.json --output no --ranks 2 --network 0.1,250 --dry-run --json
# 2 * 250 us, and half of 4 bytes of each parameter twice at 0.1 GB/s.
expect "by the model of the documentation" holds '(.exchange_seconds - (0.0005 + .parameters * 4 / 1e8)) | fabs < 2e-6'
run train data/ranked.json --output no --ranks 2 --dry-run
expect "without a network it names the command that finds it" says "headscope bench all-reduce"
run bench all-reduce --ranks 2 --device cpu --megabytes 1 --repeat 2 --rank-timeout 60 --json
expect "bench all-reduce finds the network" holds '.ranks == 2 and .bytes_per_second > 0 and (.sizes | length) == 4 and .sizes[0].bytes == 4096 and (.command | endswith("--json"))'
run bench all-reduce --device cpu
expect "one rank exchanges nothing" misused "--ranks N"
HEADSCOPE_THREADS=64 run train --output dashed --ranks 2 --device cpu --epochs 0.02 -- data/ranked.json
expect "ranks start with words behind --, too" ended_with 0
expect "too many threads are warned of" complains "warning: 2 ranks compute with 128 threads on "
expect "replaced limits are told once" [ "$(grep -c '^limits: ' err)" -eq 1 ]
"$headscope" train data/ranked.json --output closed --ranks 2 --device cpu --steps 1 --json 2>err | true
code=${PIPESTATUS[0]}
expect "a closed output is no error of a rank" [ "$code-$(grep -c '^headscope: ' err)" = 1-0 ]

# ------------------------------------------------------------------------------------------ how they end
jq '.training.steps = 100000 | .training.checkpoint_every = 5' data/ranked.json >data/long.json
# Starts a long training, and sets `ranks` to its processes once it has a checkpoint.
start() { # OUTPUT OPTION...
    local output=$1
    shift
    "$headscope" train data/long.json --output "$output" --ranks 3 --device cpu "$@" >out 2>err &
    training=$!
    until compgen -G "$output/checkpoints/step-*.safetensors" >/dev/null; do
        kill -0 $training 2>/dev/null || return 1
        sleep 0.05
    done
    mapfile -t ranks < <(pgrep -P $training)
}
end() {
    wait $training
    code=$?
}
# Those that ended may wait to be reaped.
gone() {
    local rank
    for rank in "${ranks[@]}"; do
        [ ! -e "/proc/$rank" ] || grep -q '^State:.Z' "/proc/$rank/status" 2>/dev/null || return 1
    done
}
start killed
kill -KILL "${ranks[1]}"
end
expect "a killed rank ends the training" refused "rank 1 (cpu): it was ended by signal 9 (Killed), perhaps for lack of memory"
expect "with one message" once
expect "and no rank is left" gone
start stopped --rank-timeout 1
kill -STOP "${ranks[2]}"
end
expect "a rank that stops answering is named" refused "rank 2 (cpu) has not answered for" "its last word: "
expect "and ended" gone
start parent
disown $training
kill -KILL $training
sleep 0.5
expect "ranks end with the process that started them" gone
start asked
kill -TERM $training
end
expect "SIGTERM writes a checkpoint" refused "stopped after step" "--resume continues"
expect "with one message, too" once
start stuck
kill -STOP "${ranks[@]}"
kill -INT $training
sleep 0.3
kill -INT $training
end
expect "a second Ctrl-C ends ranks that do not stop" ended_with 130
env --default-signal=INT "$headscope" bench all-reduce --ranks 2 --device cpu --repeat 10000 >out 2>err &
training=$!
until [ "$(pgrep -c -P $training)" -eq 2 ]; do sleep 0.05; done
kill -INT $training
for _ in {1..100}; do kill -0 $training 2>/dev/null && sleep 0.05; done
kill -KILL $training 2>/dev/null
end
expect "bench all-reduce ends at the first" ended_with 130
jq '.training.checkpoint_every = 100000' data/long.json >data/unsaved.json
"$headscope" train data/unsaved.json --output unsaved --from one/model --ranks 2 --device cpu --max-restarts 1 >out 2>err &
training=$!
until [ -s unsaved/log.jsonl ] || ! kill -0 $training; do sleep 0.05; done
kill -KILL "$(pgrep -P $training | tail -1)"
until [ "$(grep -c 'step 10 ' err)" -eq 2 ] || ! kill -0 $training 2>/dev/null; do sleep 0.05; done
kill -TERM $training
end
expect "before its first checkpoint a training starts again as it was asked" eval '[ "$(grep -c "starting from the weights of" err)" -eq 2 ]'
start again --max-restarts 1
kill -KILL "${ranks[2]}"
until [ "$(grep -c 'resuming after step' err)" -eq 1 ]; do sleep 0.05; kill -0 $training || break; done
expect "a failed training starts again" complains "rank 2 (cpu): it was ended by signal 9 (Killed), perhaps for lack of memory; starting all ranks again (restart 1 of at most 1)"
expect "from its checkpoint" complains "resuming after step"
mapfile -t ranks < <(pgrep -P $training)
kill -KILL "${ranks[0]}"
end
expect "but not more often than asked" refused "rank 0 was ended by signal 9"
expect "a killed rank 0 is named" grep -qx "headscope: rank 0 was ended by signal 9 (Killed), perhaps for lack of memory" err
finish "ranks train the same weights and end together"
