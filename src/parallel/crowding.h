// Warns if ranks of one host get in each other's way, or are kept from its processors.
#pragma once

#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "support/settings.h"

namespace headscope {

// What a rank uses of its host.
struct RankSeat {
    std::string host = {};        // "" of ranks that a command started itself, on its machine
    std::string device = {};      // "cuda:0"; "" where equal names may be different devices
    bool on_cpu = false;          // otherwise its threads do not matter
    int threads = 1;              // that it computes with
    bool threads_chosen = false;  // by HEADSCOPE_THREADS
    int quota = 0;                // of processors, 0 without one; all ranks of the host share it
    std::string processors = {};  // of the host: '1' for those that it may use, '0' for others
};

// Of this process, by HEADSCOPE_THREADS and its affinity.
RankSeat seat_here(const std::string& host, const std::string& device, const Settings& settings);

// One line for each host with a problem, and for each GPU that several ranks use. By rank.
std::vector<std::string> crowding(const std::vector<RankSeat>& seats);
// The same of all ranks, which all call it; empty but at rank 0.
std::vector<std::string> crowding(Communicator& ranks, const RankSeat& mine);

}  // namespace headscope
