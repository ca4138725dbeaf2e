// The NVIDIA driver's library, opened at run time, and its cards. Needs neither a toolkit nor its headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/settings.h"

namespace headscope::cuda {

constexpr int kSmOfMajor = 10;  // sm_90 is compute capability 9.0

// A card as the driver reports it. Its index in Driver::cards() is its ordinal.
struct Card {
    std::string name;
    std::uint64_t memory_bytes = 0;
    int sm = 0;  // compute capability: 90 is 9.0
    int multiprocessors = 0;
    int shared_bytes = 0;  // the most that a block can request
    int l2_bytes = 0;
    bool ecc = false;
    bool prohibited = false;  // its compute mode forbids computing
    std::string failure;      // why the driver could not report all this; else empty
};

// Opened once and never closed: a driver that has started cannot be unloaded safely.
class Driver {
public:
    // Error with advice if the library, the driver behind it or a card is missing. A card that fails alone is in
    // cards(), with its `failure`. `settings` tell whether the user named the library, or cards, for the advice.
    Driver(const std::string& library, const Settings& settings);

    // The newest CUDA that it supports: 12040 is 12.4.
    int version() const { return version_; }
    const std::vector<Card>& cards() const { return cards_; }

private:
    int version_ = 0;
    std::vector<Card> cards_;
};

// 12040 as "12.4".
std::string version_text(int version);

}  // namespace headscope::cuda
