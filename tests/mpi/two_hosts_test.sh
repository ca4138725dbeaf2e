#!/usr/bin/env bash
# The ranks of launchers_test.sh on two hosts.
# usage: two_hosts_test.sh PROGRAM FOLDER-OF-MODULES
# shellcheck disable=SC2154 # assigned by what is sourced
# shellcheck source=tests/mpi/hosts.sh
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"
cp "$1" "$work/rank"
start() { # MPI RANKS ARGUMENTS..
    start_on_hosts "$1" "$2" "$work/rank" "${@:3}"
}
show() { cat "$work/out" "$work/err"; }
said() { grep -qF -- "$1" "$work/out"; }
failed() { [ "$code" -ne 0 ] && [ "$code" -lt 124 ]; }
reported() { [ "$(grep -c '^rank: ' "$work/err")" = 1 ] && grep -q "^rank: $1" "$work/err"; }
bytes_by_cable() { awk '$1 == "cable:" { print $2 + $10 }' /proc/net/dev; }
went_by_cable() { [ "$(bytes_by_cable)" -gt $((before + $1)) ]; }

for mpi in "${mpis[@]}"; do
    start "$mpi" 3 places
    expect "$mpi: of three ranks two are alone or first on their hosts" said "rank 1 of 3, 0 of 1 on its host"
    expect "$mpi: the third is the second of the first host" said "rank 2 of 3, 1 of 2 on its host"
    for ranks in 2 3; do
        before=$(bytes_by_cable)
        start "$mpi" "$ranks" exchange
        expect "$mpi: $ranks ranks of two hosts exchange messages" ended_with 0
        expect "$mpi: $ranks ranks get the bytes that they get on one host" said "$ranks ranks, digests $(
            sed -n "s/^$ranks //p" "$here/digests.txt")"
        expect "$mpi: the bytes went from host to host" went_by_cable 1000000
    done
    start "$mpi" 2 fail 1
    expect "$mpi: all end if a rank of the other host fails" failed
    expect "$mpi: it is named with its host" reported "rank 1 (host made-up-b, cpu): the disk is full$"
    start "$mpi" 2 stop 1 3
    expect "$mpi: all end if a rank of the other host stops" failed
    expect "$mpi: it is named with its host and last word" \
        reported "rank 1 (host made-up-b, cpu) has not answered for 3 s; its last word: step 3, validation"
done
finish "ranks of two made-up hosts exchange, fail and end under ${mpis[*]}"
