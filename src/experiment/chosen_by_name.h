// Rows of a table by their names.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"

namespace headscope {

// The rows of these names in their order, each once, or all if there are no names. "A" is also A1, A2 and so on. Error,
// listing all, for an unknown one; `what` says what they are, as in "layer".
template <class Row>
std::vector<const Row*> chosen_by_name(const std::vector<Row>& rows, const std::vector<std::string>& names,
                                       const std::string& what) {
    const auto means = [](const std::string& name, const std::string& row) {
        return row.starts_with(name) && row.find_first_not_of("0123456789", name.size()) == std::string::npos;
    };
    std::vector<const Row*> chosen;
    for (std::size_t i = 0; i < std::max<std::size_t>(names.size(), 1); ++i) {
        bool known = names.empty();
        for (const Row& row : rows) {
            if (names.empty() || means(names[i], row.name)) {
                known = true;
                if (std::find(chosen.begin(), chosen.end(), &row) == chosen.end()) {
                    chosen.push_back(&row);
                }
            }
        }
        if (!known) {
            std::vector<std::string> all(rows.size());
            std::transform(rows.begin(), rows.end(), all.begin(), [](const Row& row) { return row.name; });
            throw Error(fmt::format("there is no {} \"{}\"; there are {}", what, names[i], fmt::join(all, ", ")));
        }
    }
    return chosen;
}

}  // namespace headscope
