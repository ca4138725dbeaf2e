#!/usr/bin/env bash
# Kills a random rank of a training at random moments: all ranks end within two seconds with one message, and the training
# goes on and ends with the weights of one that was not killed, bit for bit.
# usage: kill_ranks.sh HEADSCOPE-PROGRAM KILLS
# shellcheck disable=SC2154,SC2317 # assigned by what is sourced; the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
kills=$2
export HEADSCOPE_THREADS=1
run make-task digits --output data --pairs 2000 --valid 40 --test 1
jq '.model = {encoder_layers: 2, decoder_layers: 2, d_model: 64, d_ff: 256, heads: 4} | .training.steps = 400 |
    .training.validate_every = 25 | .training.validate_bleu = 8 | .training.checkpoint_every = 10' \
    "$repository/tests/train/ranked.json" >data/ranked.json
run train data/ranked.json --output whole
expect "a training ends" ended_with 0
resumed=()
worst=0
done=0
left() { pgrep -f -- "--output killed .*--rank-of" >/dev/null; }
for ((kill = 0; kill < kills; ++kill)); do
    count=$((RANDOM % 3 + 2))
    "$headscope" train data/ranked.json --output killed --ranks $count --device cpu "${resumed[@]}" >out 2>err &
    training=$!
    sleep "$(awk -v share=$RANDOM 'BEGIN { printf "%.3f", share / 32768 * 3 }')"
    mapfile -t ranks < <(pgrep -P $training)
    if [ ${#ranks[@]} -gt 0 ] && builtin kill -KILL "${ranks[RANDOM % ${#ranks[@]}]}" 2>/dev/null; then
        start=$(date +%s%N)
        wait $training
        code=$?
        took=$((($(date +%s%N) - start) / 1000000))
        [ $took -le $worst ] || worst=$took
        if [ $code -ne 0 ]; then
            done=$((done + 1))
            [ "$(grep -c '^headscope: ' err)" -eq 1 ] || expect "kill $kill: one message" false
            grep -q 'ended by signal 9' err || expect "kill $kill: the message names the signal" false
        fi
        ! left || { sleep 0.2; ! left; } || expect "kill $kill: no rank is left" false
    else
        wait $training
    fi
    if compgen -G "killed/checkpoints/step-*.safetensors" >/dev/null; then
        resumed=(--resume)
    fi
    if [ -e killed/model/model.safetensors ]; then
        expect "the weights are those of a whole training" same whole/model/model.safetensors killed/model/model.safetensors
        rm -rf killed
        resumed=()
    fi
done
if [ ! -e killed/model/model.safetensors ]; then
    run train data/ranked.json --output killed --ranks 2 --device cpu "${resumed[@]}"
fi
expect "the weights are those of a whole training" same whole/model/model.safetensors killed/model/model.safetensors
expect "all ranks ended within two seconds (the slowest: $worst ms)" [ "$worst" -le 2000 ]
expect "trainings were killed" [ "$done" -gt 0 ]
finish "$done kills, the slowest end after $worst ms, and the same weights"
