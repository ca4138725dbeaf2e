#include "eval/line_counts.h"

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

void check_line_counts(const std::vector<std::string>& translations,
                       const std::vector<std::vector<std::string>>& references) {
    for (const std::vector<std::string>& reference : references) {
        if (reference.size() != translations.size()) {
            throw Error(fmt::format(
                "{} translations cannot be compared with {} references: line n of one must belong to line n "
                "of the other",
                translations.size(), reference.size()));
        }
    }
}

}  // namespace headscope
