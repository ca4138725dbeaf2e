# Sourced by the tests of MPI: which of the two MPIs can run here. Expects the folder of the modules in `modules`.
# shellcheck shell=bash

# Open MPI refuses root, and more ranks than processors, unless told otherwise: the last is for its version 5.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# shellcheck disable=SC2154 # assigned by the test
export HEADSCOPE_MPI_MODULES=$modules HEADSCOPE_THREADS=1

# Prints the mpirun of an MPI, or nothing.
mpirun_of() { # openmpi|mpich
    local words=HYDRA name
    [ "$1" = mpich ] || words='Open MPI\|OpenRTE'
    for name in "mpirun.$1" mpirun mpiexec.hydra; do
        if command -v "$name" >/dev/null && "$name" --version 2>&1 | grep "$words" >/dev/null; then
            command -v "$name"
            return
        fi
    done
}

# Prints the MPIs that have a module and an mpirun; why not goes to stderr.
usable_mpis() {
    local mpi packages
    for mpi in openmpi mpich; do
        packages="libmpich-dev and mpich"
        [ "$mpi" = mpich ] || packages="libopenmpi-dev and openmpi-bin"
        if [ -e "$modules/libheadscope_mpi_$mpi.so" ] && [ -n "$(mpirun_of "$mpi")" ]; then
            printf '%s\n' "$mpi"
        else
            echo "SKIPPED: $mpi has no module or no mpirun: install $packages, and configure again" >&2
        fi
    done
}
