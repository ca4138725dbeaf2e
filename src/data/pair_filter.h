// Pairs that training is better off without.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace headscope {

struct FilterOptions {
    std::int64_t most_words = 200;  // of a side, between spaces; 0: any number
    double most_ratio = 3.0;        // of the longer side to the shorter, in characters, five added to both; 0: any
    bool drop_identical = true;     // both sides the same
    bool drop_duplicates = true;    // the very pair was there before
};

enum class Finding : std::uint8_t { Good, Empty, NotUtf8, Tab, Long, Ratio, Identical, Duplicate };
constexpr std::size_t kFindings = 8;
const char* text_of(Finding finding);  // "not UTF-8"

class PairFilter {
public:
    explicit PairFilter(const FilterOptions& options) : options_(options) {}

    // What cannot be a line of text, whatever the options: Empty, NotUtf8, Tab or Good.
    static Finding look(std::string_view source, std::string_view target);
    // Of pairs that look() finds good, in order.
    Finding judge(std::string_view source, std::string_view target);

private:
    FilterOptions options_;
    std::unordered_set<std::uint64_t> seen_;
};

}  // namespace headscope
