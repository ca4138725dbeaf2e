// Random numbers for choices on the host: shuffles and samples. The same everywhere, unlike those of `<random>`.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace headscope {

// Mixes 64 bits so that neighbouring inputs give unrelated outputs (the finalizer of SplitMix64, Steele et al. 2014).
constexpr std::uint64_t mix_bits(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
}

class Random {
public:
    // Streams of one seed are unrelated; an epoch's number is a stream.
    explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : state_(mix_bits(seed) ^ mix_bits(~stream)) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        return mix_bits(state_);
    }

    // Uniform in [0, bound), bound > 0. Numbers below 2^64 mod bound are rejected, because they would bias the result.
    std::uint64_t below(std::uint64_t bound) {
        const std::uint64_t biased = (0 - bound) % bound;
        std::uint64_t sample = next();
        while (sample < biased) {
            sample = next();
        }
        return sample % bound;
    }

    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

    // Fisher-Yates shuffle: every order is equally likely.
    template <class T>
    void shuffle(std::vector<T>& values) {
        for (std::size_t left = values.size(); left > 1; --left) {
            std::swap(values[left - 1], values[below(left)]);
        }
    }

private:
    std::uint64_t state_;
};

}  // namespace headscope
