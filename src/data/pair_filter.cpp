#include "data/pair_filter.h"

#include <algorithm>
#include <functional>

#include "support/random.h"
#include "support/utf8.h"
#include "text/normalised.h"

namespace headscope {
namespace {

constexpr std::string_view kSpaces = " \t\r\v\f";

std::int64_t count_words(std::string_view text) {
    std::int64_t words = 0;
    for (std::size_t at = text.find_first_not_of(kSpaces); at != std::string_view::npos;
         at = text.find_first_not_of(kSpaces, at)) {
        ++words;
        at = std::min(text.find_first_of(kSpaces, at), text.size());
    }
    return words;
}

double count_characters(std::string_view text) {
    return static_cast<double>(std::count_if(text.begin(), text.end(),
                                             [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::uint64_t hash_of(std::string_view text) {
    return mix_bits(std::hash<std::string_view>()(text));
}

}  // namespace

const char* text_of(Finding finding) {
    constexpr std::array<const char*, kFindings> kTexts{
        "good",           "a side is empty",        "not UTF-8",           "a TAB inside a side",
        "too many words", "sides of unlike length", "both sides the same", "there before"};
    return kTexts[static_cast<std::size_t>(finding)];
}

Finding PairFilter::look(std::string_view source, std::string_view target) {
    if (first_invalid_utf8(source) || first_invalid_utf8(target)) {
        return Finding::NotUtf8;
    }
    if (source.find('\t') != std::string_view::npos || target.find('\t') != std::string_view::npos) {
        return Finding::Tab;
    }
    return is_empty_text(source) || is_empty_text(target) ? Finding::Empty : Finding::Good;
}

Finding PairFilter::judge(std::string_view source, std::string_view target) {
    if (options_.most_words > 0 && std::max(count_words(source), count_words(target)) > options_.most_words) {
        return Finding::Long;
    }
    constexpr double kAdded = 5.0;  // tolerates short sides, such as one word against two
    const double of_source = count_characters(source) + kAdded;
    const double of_target = count_characters(target) + kAdded;
    if (options_.most_ratio > 0.0 &&
        std::max(of_source, of_target) > options_.most_ratio * std::min(of_source, of_target)) {
        return Finding::Ratio;
    }
    if (options_.drop_identical && source == target) {
        return Finding::Identical;
    }
    if (options_.drop_duplicates && !seen_.insert(hash_of(source) ^ mix_bits(hash_of(target) + 1)).second) {
        return Finding::Duplicate;
    }
    return Finding::Good;
}

}  // namespace headscope
