#!/usr/bin/env bash
# Ranks of one host under the mpirun of Open MPI and of MPICH: what they exchange, and how all of them end if one fails,
# dies or stops. tests/mpi/program/rank.cpp is the program.
# usage: launchers_test.sh PROGRAM FOLDER-OF-MODULES
set -uo pipefail
modules=$2
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/house/expect.sh disable=SC1091
. "$here/../house/expect.sh"
# shellcheck source=tests/mpi/launchers.sh
. "$here/launchers.sh"
mapfile -t mpis < <(usable_mpis)
[ "${#mpis[@]}" -gt 0 ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/rank"  # a path of its own, by which its processes are found

show() { cat "$work/out" "$work/err"; }
run() { # RANKS MODE [NUMBER] [PATIENCE]
    local start=$SECONDS
    timeout -k 5 60 "$mpirun" -np "$1" "$work/rank" "${@:2}" >"$work/out" 2>"$work/err"
    code=$?
    seconds=$((SECONDS - start))
}
said() { grep -qF -- "$1" "$work/out"; }
failed_within() { [ "$code" -ne 0 ] && [ "$code" -lt 124 ] && [ "$seconds" -le "$1" ]; }
# One line of the program's own on stderr, and that begins so. Launchers add theirs.
reported() { [ "$(grep -c '^rank: ' "$work/err")" = 1 ] && grep -q "^rank: $1" "$work/err"; }
nothing_left() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        pgrep -f "^$work/rank" >/dev/null || return 0
        sleep 0.3
    done
    return 1
}
ends_well() { # RANKS
    ended_with 0 && said "all $1 ranks came through" && ! grep -q '^rank: ' "$work/err"
}

host='(host [^ ]*, cpu)'
for mpi in "${mpis[@]}"; do
    mpirun=$(mpirun_of "$mpi")
    for ranks in 2 3 5; do
        run "$ranks" exchange
        expect "$mpi: $ranks ranks exchange messages" ended_with 0
        expect "$mpi: $ranks ranks arrive at the same numbers with every MPI" said "$ranks ranks, digests $(
            sed -n "s/^$ranks //p" "$here/digests.txt")"
    done
    run 1 exchange
    expect "$mpi: one rank needs no MPI" said "not started by MPI"
    expect "$mpi: one rank exchanges with itself" said "1 ranks, digests"
    run 3 places
    expect "$mpi: the third rank of a host knows its number there" said "rank 2 of 3, 2 of 3 on its host"

    run 3 fail 0
    expect "$mpi: all end if rank 0 fails" failed_within 10
    expect "$mpi: rank 0's reason is said once" reported "the disk is full$"
    run 3 fail 2
    expect "$mpi: all end if rank 2 fails" failed_within 10
    expect "$mpi: rank 2's reason is said once" reported "rank 2 $host: the disk is full$"
    run 3 fail-busy 2
    expect "$mpi: all end if rank 2 fails while the others compute" failed_within 10
    expect "$mpi: its reason is said once all the same" reported "rank 2 $host: the disk is full$"
    run 5 fail-all
    expect "$mpi: all end if all fail" failed_within 10
    expect "$mpi: one reason is said" reported ".*the disk of rank . is full$"
    expect "$mpi: no rank is left of those that failed" nothing_left

    run 3 kill 1
    expect "$mpi: all end if rank 1 is killed" test "$code" -ne 0 -a "$code" -ne 124 -a "$seconds" -le 10
    expect "$mpi: the launcher says so alone" not grep -q '^rank: ' "$work/err"
    expect "$mpi: no rank is left when one was killed" nothing_left
    run 3 stop 1 2
    expect "$mpi: all end if rank 1 stops" failed_within 12
    expect "$mpi: it is named with its last word" \
        reported ".*rank 1 $host has not answered for 2 s; its last word: step 3, validation"
    run 3 stop 0 2
    expect "$mpi: all end if rank 0 stops" failed_within 12
    expect "$mpi: rank 0 is named with its last word" \
        reported ".*rank 0 $host has not answered for 2 s; its last word: step 3, validation"
    expect "$mpi: no rank is left when one was stopped" nothing_left

    run 3 long 1 2
    expect "$mpi: announced long work is waited for, and waiting takes no processor" ends_well 3
    run 3 chain 1 2
    expect "$mpi: a rank that waits for long work counts as answering" ends_well 3
    run 3 chatter 1 2
    expect "$mpi: long work is known after more words than are kept" ends_well 3
    run 3 last 2 2
    expect "$mpi: the end is waited for" ends_well 3
    run 3 vanish 1 20
    expect "$mpi: all end if a rank leaves without a word" failed_within 10
    expect "$mpi: it is named" reported "rank 1 $host: it ended before the others"

    # srun that does not tell MPI of the others starts single processes.
    mkdir "$work/$mpi"
    ln -s "$modules/libheadscope_mpi_$mpi.so" "$work/$mpi/"
    HEADSCOPE_MPI_MODULES=$work/$mpi SLURM_PROCID=0 SLURM_STEP_ID=0 SLURM_NTASKS=4 timeout 60 "$work/rank" exchange \
        >"$work/out" 2>"$work/err"
    code=$?
    expect "$mpi: a single process of several is an error" ended_with 1
    expect "$mpi: it names srun's option" reported "srun started this process as one of 4 ranks .*srun --mpi=pmix"
    if [ "$mpi" = mpich ]; then other=openmpi; else other=mpich; fi
    HEADSCOPE_MPI_MODULES=$work/$mpi "$(mpirun_of "$other" || true)" -np 2 "$work/rank" >"$work/out" 2>"$work/err"
    code=$?
    [ -z "$(mpirun_of "$other")" ] || expect "$mpi: under the other's mpirun its module is named" grep -q \
        "is missing: libheadscope_mpi_$other.so .*There is libheadscope_mpi_$mpi.so" "$work/err"
done
finish "ranks exchange, fail and end under ${mpis[*]}"
