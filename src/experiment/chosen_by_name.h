// Rows of a table by their names.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"

namespace headscope {

// The rows of these names, each once and in the table's order, or all if there are no names. Error, listing all, for an
// unknown one; `what` says what they are, as in "layer".
template <class Row>
std::vector<const Row*> chosen_by_name(const std::vector<Row>& rows, const std::vector<std::string>& names,
                                       const char* what) {
    std::vector<std::string> known;
    std::vector<const Row*> chosen;
    for (const Row& row : rows) {
        known.emplace_back(row.name);
        if (names.empty() || std::find(names.begin(), names.end(), row.name) != names.end()) {
            chosen.push_back(&row);
        }
    }
    for (const std::string& name : names) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            throw Error(fmt::format("there is no {} \"{}\"; there are {}", what, name, fmt::join(known, ", ")));
        }
    }
    return chosen;
}

}  // namespace headscope
