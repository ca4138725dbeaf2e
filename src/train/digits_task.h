// A generated task with a known answer: numbers in digits to German words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

constexpr std::int64_t kDigitsLimit = 1'000'000;  // numbers are 0 .. kDigitsLimit - 1

struct DigitsPair {
    std::string digits;  // "1 7 4 2"
    std::string words;   // "eintausendsiebenhundertzweiundvierzig"
};

std::string german_number(std::int64_t number);
DigitsPair digits_pair(std::int64_t number);

// Distinct numbers, determined by the seed. Every length from one to six digits is equally frequent until its numbers
// run out.
std::vector<DigitsPair> make_digits_task(std::int64_t pairs, std::uint64_t seed);

}  // namespace headscope
