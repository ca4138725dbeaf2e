// Gives some pairs wrong targets, to find out what mistakes in the training text do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "support/random.h"

namespace headscope {

// A random share of the pairs get the target of the one that was chosen before them, the first that of the last. So all
// sides stay, each as often as before, and a wrong target is a good sentence.
class WrongTargets {
public:
    using Write = std::function<void(const std::string& source, const std::string& target)>;

    // `share`: 0 to 1.
    WrongTargets(double share, std::uint64_t seed, Write write);
    // Writes the pair, with its own target or another one. The first chosen pair is written by end().
    void add(const std::string& source, const std::string& target);
    void end();
    // The pairs that have another's target: none if only one was chosen.
    std::int64_t count() const { return count_ == 1 ? 0 : count_; }

private:
    static constexpr std::uint64_t kStream = 1;  // HoldOut has 0

    double share_;
    Random random_;
    Write write_;
    std::string first_source_, last_target_;  // of the chosen pairs
    std::int64_t count_ = 0;                  // of the chosen pairs
};

}  // namespace headscope
