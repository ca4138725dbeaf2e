// Ranks that a launcher of MPI has started: mpirun of Open MPI, MPICH and what descends from it, or srun.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/mpi_communicator.h"
#include "support/settings.h"

namespace headscope {

// The ranks of this process's launcher; null if there is none, or just one rank. Call it once, before threads start and
// devices are opened; every rank calls it. The ranks have introduced themselves by their hosts: with
// place().host and place().local_rank choose a device, then introduce this rank as "host NAME, DEVICE".
//
// `patience_seconds`: see MpiCommunicator, as for `report`, which prints what the user must know.
// `settings`: the launcher's variables, and HEADSCOPE_MPI_MODULES, the folder of the modules.
// Error if there is no module for the launcher, or MPI knows of one rank only where the launcher started several.
std::unique_ptr<MpiCommunicator> mpi_ranks(const Settings& settings, double patience_seconds,
                                           const MpiCommunicator::Report& report);

// The same with messages in parts of this size, for tests.
std::unique_ptr<MpiCommunicator> mpi_ranks(const Settings& settings, double patience_seconds,
                                           const MpiCommunicator::Report& report, std::size_t part_bytes);

}  // namespace headscope
