// A module of a made-up MPI whose ranks are threads, for what needs no launcher.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parallel/mpi_communicator.h"

namespace headscope::mpi_tests {

struct Outcome {
    std::vector<std::string> reports;  // of all ranks
    int aborts = 0;
    int ended = 0;   // ranks that ended MPI
    int unread = 0;  // messages, at most at a time
};

// Runs `work` in a thread for each rank; what it throws is told to the others as a program does it.
Outcome run_ranks(int size, double patience, const std::function<void(MpiCommunicator& ranks)>& work);

}  // namespace headscope::mpi_tests
