// Filters out pairs that are bad for training.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace headscope {

struct FilterOptions {
    std::int64_t most_words = 200;  // per side, separated by spaces; 0: no limit
    double most_ratio = 3.0;        // longer side to shorter side, in characters plus five; 0: no limit
    bool drop_identical = true;     // source equals target
    bool drop_duplicates = true;    // the same pair occurred before
};

enum class Finding : std::uint8_t { Good, Empty, NotUtf8, Tab, Long, Ratio, Identical, Duplicate };
constexpr std::size_t kFindings = 8;
const char* text_of(Finding finding);  // "not UTF-8"

class PairFilter {
public:
    explicit PairFilter(const FilterOptions& options) : options_(options) {}

    // Checks that do not depend on the options: Empty, NotUtf8, Tab or Good.
    static Finding look(std::string_view source, std::string_view target);
    // Applies the options to pairs that look() finds Good, in order.
    Finding judge(std::string_view source, std::string_view target);

private:
    FilterOptions options_;
    std::unordered_set<std::uint64_t> seen_;
};

}  // namespace headscope
