#include "eval/exact_match.h"

#include <fmt/format.h>

#include <string_view>

#include "support/check.h"

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
                                const std::vector<std::string>& references) {
    if (translations.size() != references.size()) {
        throw Error(fmt::format("{} translations and {} references: there must be one of each for every sentence",
                                translations.size(), references.size()));
    }
    std::size_t matches = 0;
    for (std::size_t i = 0; i < translations.size(); ++i) {
        matches += trimmed(translations[i]) == trimmed(references[i]) ? 1 : 0;
    }
    return matches;
}

}  // namespace headscope
