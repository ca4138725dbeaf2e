#!/usr/bin/env bash
# headscope train and experiments under the mpirun of Open MPI and of MPICH: the weights of one rank, and one message if
# a rank fails.
# usage: train_test.sh HEADSCOPE-PROGRAM FOLDER-OF-MODULES
# shellcheck disable=SC2154,SC2317 # assigned by what is sourced; the conditions are called through expect
modules=$(realpath "$2")
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
# shellcheck source=tests/mpi/launchers.sh
. "$repository/tests/mpi/launchers.sh"
mapfile -t mpis < <(usable_mpis)
[ "${#mpis[@]}" -gt 0 ] || exit 77
launch() { # RANKS ARGUMENTS..
    timeout -k 5 100 "$mpirun" -np "$1" "$headscope" "${@:2}" >out 2>err
    code=$?
}
launch_apart() { # ARGUMENTS.., of two ranks in folders of their own
    rm -rf own-0 own-1
    mkdir own-0 own-1
    # shellcheck disable=SC2016 # expanded by the ranks
    timeout -k 5 100 "$mpirun" -np 2 bash -c 'cd "own-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"' _ \
        "$headscope" "$@" >out 2>err
    code=$?
}
finished() { ended_with 0 || { [ "$code" -eq 14 ] && [ "$mpi" = mpich ]; }; }  # see docs/mpi.md
# One line of the program's own; launchers add theirs.
told() { [ "$code" -ne 0 ] && [ "$(grep -c '^headscope: ' err)" -eq 1 ] && complains "$1"; }

run make-task digits --output data --pairs 1500 --valid 30 --test 1
cp "$repository/tests/train/ranked.json" data/
run train data/ranked.json --output one
expect "one rank trains" ended_with 0
jq 'del(.training.shards) | .training.steps = 8' data/ranked.json >data/row.json
run experiment table3 --data data --config data/row.json --rows base --seeds 2 --output rows-one
expect "one rank trains the rows of an experiment" ended_with 0

for mpi in "${mpis[@]}"; do
    mpirun=$(mpirun_of "$mpi")
    launch 3 train data/ranked.json --output "$mpi"
    expect "$mpi: three ranks train" finished
    expect "$mpi: they train the weights of one" same one/model/model.safetensors "$mpi/model/model.safetensors"
    launch 2 train --output "$mpi" --resume --ranks 4
    expect "$mpi: the launcher says how many ranks there are" told "--ranks is 4, and the launcher has started 2"
    expect "$mpi: which is an error of the command line" [ "$code" -eq 2 ]
    launch 2 train --output no
    expect "$mpi: an error before MPI starts is said once" told "nothing to train on"
    launch 2 train data/ranked.json --output no --steps 0
    expect "$mpi: and options out of range" told "--steps"
    launch 2 train data/ranked.json --output no --dry-run
    expect "$mpi: what one process does is refused" told "--dry-run is for one process"
    if [ "$mpi" = openmpi ]; then  # MPICH's mpirun does not end the others
        launch 2 train none --output no
        expect "$mpi: unknown configurations are said once" told "none"
        HEADSCOPE_MPI_MODULES=/none launch 2 train data/ranked.json --output no
        expect "$mpi: and so are missing modules" told "/none"
    fi
    launch 2 train data/none.json --output no
    expect "$mpi: a missing configuration is said once" told "data/none.json"
    launch 2 train data/ranked.json --output one
    expect "$mpi: an output that is taken is said once" told "already holds checkpoints"
    launch 2 bench all-reduce --megabytes 1 --repeat 2 --json
    expect "$mpi: bench all-reduce measures ranks of a launcher" finished
    expect "$mpi: and prints once" eval 'jq -e ".ranks == 2" out >/dev/null'
    launch 2 experiment table3 --data data --config data/row.json --rows base --seeds 2 --output "rows-$mpi" --json
    expect "$mpi: ranks share the rows of an experiment" finished
    expect "$mpi: whose models are those of one rank" \
        same rows-one/base-s2/model/model.safetensors "rows-$mpi/base-s2/model/model.safetensors"
    expect "$mpi: and rank 0 tells of all" eval 'jq -e ".rows[0].ours.trials | length == 2" out >/dev/null'
    launch_apart experiment table3 --data ../data --config ../data/row.json --rows base --seeds 1 --output rows
    expect "$mpi: ranks that do not share the folder of an experiment are told so" told "does not see the files of"
done
finish "headscope trains the same weights under ${mpis[*]}"
