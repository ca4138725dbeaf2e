# Sourced by tests that need two hosts: two network namespaces with a cable between them, and an agent instead of ssh that
# starts a command in the other one. Needs no root where the kernel gives users namespaces. Starts the script that
# sources it again, inside; expects its arguments in "$@", the folder of MPI's modules last.
# shellcheck shell=bash disable=SC2034 # used by those who source this
set -uo pipefail
if [ "${HEADSCOPE_INSIDE:-}" != "$0" ]; then
    for tool in unshare nsenter ip hostname; do
        command -v "$tool" >/dev/null || { echo "SKIPPED: $tool is missing (util-linux, iproute2, hostname)"; exit 77; }
    done
    unshare -rnum sh -c "ip link add here type veth peer name there && mount -t sysfs none /sys" 2>/dev/null ||
        { echo "SKIPPED: this kernel or container gives users no network namespaces"; exit 77; }
    HEADSCOPE_INSIDE=$0 exec unshare -rnum "$0" "$@"
fi
modules=$(realpath "${!#}")
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/house/expect.sh disable=SC1091
. "$here/../house/expect.sh"
# shellcheck source=tests/mpi/launchers.sh
. "$here/launchers.sh"
mapfile -t mpis < <(usable_mpis)
[ "${#mpis[@]}" -gt 0 ] || exit 77
work=$(mktemp -d)
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
start_on_hosts() { # MPI RANKS PROGRAM ARGUMENTS..
    local mpi=$1 ranks=$2 mpirun
    shift 2
    mpirun=$(mpirun_of "$mpi")
    if [ "$mpi" = openmpi ]; then
        set -- --mca plm_rsh_agent "$work/agent" --mca btl tcp,self,vader --mca pml ob1 --map-by node --bind-to none \
            --host 10.99.0.1:4,10.99.0.2:4 -np "$ranks" "$@"
    else
        set -- -launcher ssh -launcher-exec "$work/agent" -localhost 10.99.0.1 -iface cable -ppn 1 \
            -hosts 10.99.0.1,10.99.0.2 -np "$ranks" "$@"
    fi
    code=14
    for _ in 1 2 3; do  # MPICH sometimes hangs in its last call, and is killed by an alarm: docs/mpi.md
        [ "$code" -ne 14 ] || {
            timeout -k 5 "${seconds:-60}" "$mpirun" "$@" >"$work/out" 2>"$work/err"
            code=$?
        }
    done
}
