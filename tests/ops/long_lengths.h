// For tests of memory that grows with the length of a sentence.
#pragma once

#include <cstdint>
#include <string>

namespace headscope::conformance {

// Of the shorter one; the other has twice as many tokens. The CPU and Vulkan compose attention of up to 1,024 tokens
// where that is faster. CUDA never does, and an emulated device is slow.
inline std::int64_t long_length_on(const std::string& device) {
    return device.starts_with("cuda") ? 260 : 1030;
}

// How much more memory a sentence of twice the length needs, given the peak of each and that of a few tokens, which is
// what a device needs anyway: 2, but 4 where something has a number for each pair of tokens.
constexpr int kFewTokens = 4;
inline double growth_of(double few, double one, double twice) {
    return (twice - few) / (one - few);
}
constexpr double kLeastGrowth = 1.7;
constexpr double kMostGrowth = 2.1;

}  // namespace headscope::conformance
