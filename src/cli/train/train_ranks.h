// `headscope train` on several ranks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "parallel/rank_processes.h"

namespace headscope {

struct TrainOptions;

struct RankOptions {
    std::optional<int> count;          // --ranks; empty: as many as devices are named
    double timeout = 300.0;            // seconds of silence
    int restarts = 0;                  // at most, after a failure
    std::optional<RankStart> start;    // of a process that is one of them
    std::vector<std::string> command;  // the words of the command line, to start the ranks with
};

// Runs `train` once in this process, if that is the only rank or one of them; otherwise starts the ranks and waits for
// them. Error with the reason of the rank that failed.
void train_on_ranks(TrainOptions options, const std::function<void(const TrainOptions&, Communicator&)>& train);

}  // namespace headscope
