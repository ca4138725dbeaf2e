#!/usr/bin/env bash
# The same ranks on two hosts: two network namespaces with a cable between them, and an agent instead of ssh that starts a
# command in the other one. Needs no root where the kernel gives users namespaces.
# usage: two_hosts_test.sh PROGRAM FOLDER-OF-MODULES
set -uo pipefail
if [ "${3:-}" != inside ]; then
    for tool in unshare nsenter ip hostname; do
        command -v "$tool" >/dev/null || { echo "SKIPPED: $tool is missing (util-linux, iproute2, hostname)"; exit 77; }
    done
    unshare -rnum sh -c "ip link add here type veth peer name there && mount -t sysfs none /sys" 2>/dev/null ||
        { echo "SKIPPED: this kernel or container gives users no network namespaces"; exit 77; }
    exec unshare -rnum "${BASH_SOURCE[0]}" "$1" "$2" inside
fi
modules=$2
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/house/expect.sh disable=SC1091
. "$here/../house/expect.sh"
# shellcheck source=tests/mpi/launchers.sh
. "$here/launchers.sh"
mapfile -t mpis < <(usable_mpis)
[ "${#mpis[@]}" -gt 0 ] || exit 77
work=$(mktemp -d)
cp "$1" "$work/rank"
other=""
trap '[ -z "$other" ] || kill "$other"; rm -rf "$work"' EXIT

hostname made-up-a
mount -t sysfs none /sys  # lists the network devices of this host alone
ip link set lo up
unshare -num sh -c "mount -t sysfs none /sys; echo >'$work/ready'; exec sleep 600" &
other=$!
until [ -e "$work/ready" ]; do kill -0 "$other" || exit 1; sleep 0.05; done
on_other() { nsenter -t "$other" -n -u -m "$@"; }
on_other hostname made-up-b
ip link add cable type veth peer name cable netns "$other"
ip address add 10.99.0.1/24 dev cable
ip link set cable up
on_other ip address add 10.99.0.2/24 dev cable
on_other ip link set cable up
on_other ip link set lo up
# MPICH looks for devices that are up, which takes a moment.
until on_other grep -qx up /sys/class/net/cable/operstate && grep -qx up /sys/class/net/cable/operstate; do sleep 0.1; done
# What mpirun calls as: ssh [OPTIONS] HOST COMMAND..
cat >"$work/agent" <<AGENT
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
shift
exec nsenter -t $other -n -u -m sh -c "\$*"
AGENT
chmod +x "$work/agent"

# Everything is one machine's, so the hosts' way to each other must be said: UCX, which MPICH uses, would take memory.
export UCX_TLS=tcp,self UCX_NET_DEVICES=cable
start() { # MPI RANKS ARGUMENTS..
    local mpi=$1 ranks=$2 mpirun
    shift 2
    mpirun=$(mpirun_of "$mpi")
    if [ "$mpi" = openmpi ]; then
        set -- --mca plm_rsh_agent "$work/agent" --mca btl tcp,self,vader --mca pml ob1 --map-by node \
            --host 10.99.0.1:4,10.99.0.2:4 -np "$ranks" "$work/rank" "$@"
    else
        set -- -launcher ssh -launcher-exec "$work/agent" -localhost 10.99.0.1 -iface cable -ppn 1 \
            -hosts 10.99.0.1,10.99.0.2 -np "$ranks" "$work/rank" "$@"
    fi
    code=14
    for _ in 1 2 3; do  # MPICH sometimes hangs in its last call, and is killed by an alarm: docs/mpi.md
        [ "$code" -ne 14 ] || {
            timeout -k 5 60 "$mpirun" "$@" >"$work/out" 2>"$work/err"
            code=$?
        }
    done
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
