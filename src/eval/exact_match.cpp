#include "eval/exact_match.h"

#include <algorithm>
#include <string_view>

#include "eval/line_counts.h"

namespace headscope {

namespace {

std::string_view trimmed(std::string_view line) {
    constexpr std::string_view kSpaces = " \t\r\n\v\f";
    const std::size_t first = line.find_first_not_of(kSpaces);
    return first == std::string_view::npos ? std::string_view()
                                           : line.substr(first, line.find_last_not_of(kSpaces) - first + 1);
}

}  // namespace

std::size_t count_exact_matches(const std::vector<std::string>& translations,
                                const std::vector<std::vector<std::string>>& references) {
    check_line_counts(translations, references);
    std::size_t matches = 0;
    for (std::size_t i = 0; i < translations.size(); ++i) {
        const bool found = std::any_of(references.begin(), references.end(), [&](const auto& reference) {
            return trimmed(translations[i]) == trimmed(reference[i]);
        });
        matches += found ? 1 : 0;
    }
    return matches;
}

}  // namespace headscope
