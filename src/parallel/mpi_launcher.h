// Which program, if any, started this process as one of several ranks.
#pragma once

#include <optional>
#include <string>

#include "support/settings.h"

namespace headscope {

struct MpiLauncher {
    enum class Abi : unsigned char { OpenMpi, Mpich };
    std::string name;          // "MPICH's mpirun"
    std::string sign;          // the variable that tells: "PMI_SIZE=4"
    int ranks = 0;             // as it says; 0 if it does not
    Abi first = Abi::OpenMpi;  // the module to try first
    bool others = false;       // the other ABI's will do, too
    int rank = 0;              // of this process
};

// By the variables that launchers set for each process. None if it says that there is one rank: such a process needs no
// MPI. A batch script of Slurm is no launcher, though it has most of srun's variables.
std::optional<MpiLauncher> mpi_launcher(const Settings& settings);

}  // namespace headscope
