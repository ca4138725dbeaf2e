// Commands that run on several ranks (src/parallel): `headscope train`, `bench all-reduce` and experiments. Ranks are
// those that a launcher of MPI has started, or processes that the command starts itself.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.h"
#include "parallel/communicator.h"
#include "parallel/rank_processes.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

struct RankOptions {
    std::optional<int> count = {};          // --ranks; empty: as many as devices are named
    std::optional<double> timeout = {};     // seconds of silence; empty: five minutes
    int restarts = 0;                       // at most, after a failure; of the command's own ranks
    bool starts_ranks = true;               // otherwise several devices are one rank's
    std::optional<RankStart> start = {};    // of a process that is one of them
    std::vector<std::string> command = {};  // the words of the command line, to start the ranks with

    // --ranks, --rank-timeout and what the program tells ranks. Returns the first two.
    std::vector<CLI::Option*> add(CLI::App& command);
};

// The device of each rank of this machine: `wanted` of them, or as many as are named. UsageError if the two differ.
std::vector<std::string> devices_of_ranks(const std::optional<int>& wanted, const CommonOptions& common);

// UsageError if a launcher has started this process as one of several: `option` is for one.
void require_alone(const char* option, const Settings& settings);

// What a rank does: with one device in the options, and how often the ranks were started before.
using RankWork = std::function<void(const CommonOptions& common, Communicator& ranks, int attempt)>;

// Runs `work` once in this process, if that is the only rank or one of them; otherwise starts the ranks and waits for
// them. Error with the reason of the rank that failed. A device without a number, such as "cuda", stands for as many
// cards of the machine as there are ranks.
void run_on_ranks(const RankOptions& options, CommonOptions common, const RankWork& work);

}  // namespace headscope
