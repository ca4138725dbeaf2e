// A 128-bit hash of a sequence of words: MurmurHash3 (x64, 128 bits, seed 0; Appleby, public domain), computed as the
// words come. Forged sequences can collide; of random ones it takes about 2^64.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace headscope {

class Hash128 {
public:
    void add(std::uint64_t word) {
        if (words_++ % 2 == 0) {
            first_ = word;
            return;
        }
        low_ = std::rotl(low_ ^ scrambled(first_, kA, 31, kB), 27) + high_;
        low_ = low_ * 5 + 0x52dce729;
        high_ = std::rotl(high_ ^ scrambled(word, kB, 33, kA), 31) + low_;
        high_ = high_ * 5 + 0x38495ab5;
    }
    // Of the words so far.
    std::array<std::uint64_t, 2> value() const {
        std::uint64_t low = low_ ^ (words_ % 2 == 1 ? scrambled(first_, kA, 31, kB) : 0);
        std::uint64_t high = high_;
        low ^= words_ * sizeof(std::uint64_t);
        high ^= words_ * sizeof(std::uint64_t);
        low += high;
        high += low;
        low = mixed(low);
        high = mixed(high);
        low += high;
        high += low;
        return {low, high};
    }

private:
    static constexpr std::uint64_t kA = 0x87c37b91114253d5;
    static constexpr std::uint64_t kB = 0x4cf5ad432745937f;
    static constexpr std::uint64_t scrambled(std::uint64_t word, std::uint64_t before, int turn, std::uint64_t after) {
        return std::rotl(word * before, turn) * after;
    }
    static constexpr std::uint64_t mixed(std::uint64_t word) {
        word = (word ^ (word >> 33U)) * 0xff51afd7ed558ccd;
        word = (word ^ (word >> 33U)) * 0xc4ceb9fe1a85ec53;
        return word ^ (word >> 33U);
    }

    std::uint64_t low_ = 0, high_ = 0;
    std::uint64_t first_ = 0;  // of a pair that is not whole
    std::uint64_t words_ = 0;
};

}  // namespace headscope
