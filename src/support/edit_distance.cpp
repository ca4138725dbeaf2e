#include "support/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace headscope {

std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::size_t substituted = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = std::exchange(row[j + 1], std::min({substituted, row[j] + 1, row[j + 1] + 1}));
        }
    }
    return row[to.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
    std::size_t least = std::min<std::size_t>(3, word.size() / 2) + 1;
    std::string guess;
    for (const std::string& name : names) {
        if (const std::size_t distance = edit_distance(word, name); distance < least) {
            least = distance;
            guess = name;
        }
    }
    return guess;
}

}  // namespace headscope
