// How the row of LogSoftmaxTopK is divided among blocks: pure functions, testable without a device.
#pragma once

#include <cstdint>

namespace headscope::cuda {

constexpr int kHeldLogits = 16;  // in the registers of a thread
constexpr int kPartThreads = 256;
constexpr int kLongestPart = kPartThreads * kHeldLogits;
constexpr int kMostParts = 32;  // one for each lane of the warp that merges them

// The number of classes alone decides, so a row's sum has one order whatever the other rows are.
struct ClassParts {
    std::int64_t classes = 0;

    constexpr bool fit() const { return classes <= std::int64_t{kMostParts} * kLongestPart; }
    constexpr int count() const { return static_cast<int>((classes + kLongestPart - 1) / kLongestPart); }
    // Classes of each part, the last one fewer: a multiple of eight, so that every part of an aligned row is aligned.
    constexpr int length() const {
        const std::int64_t even = (classes + count() - 1) / count();
        return static_cast<int>((even + 7) / 8 * 8);
    }
    constexpr int threads() const {
        constexpr int kWarpLogits = 32 * kHeldLogits;
        return (length() + kWarpLogits - 1) / kWarpLogits * 32;
    }
};

}  // namespace headscope::cuda
