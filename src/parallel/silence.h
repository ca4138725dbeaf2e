// Finds the rank that has stopped answering.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "parallel/communicator.h"

namespace headscope {

struct HeardWord {
    unsigned count = 0;  // how often the rank spoke
    bool long_work = false;
    std::string text;
};

// While one rank waits for others. Only differences of its own clock count.
class Silence {
public:
    Silence(int ranks, std::chrono::duration<double> patience);

    // Error that names the rank and its last word if it has said nothing new for too long.
    void check(const Communicator& ranks, int rank, const HeardWord& word);

private:
    using Clock = std::chrono::steady_clock;
    struct Heard {
        unsigned count = 0;
        Clock::time_point since = Clock::now();
    };
    std::chrono::duration<double> patience_;
    std::vector<Heard> heard_;
};

}  // namespace headscope
