#include "io/missing_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "support/check.h"
#include "support/edit_distance.h"

namespace headscope {

void missing_tensor(const std::string& path, const std::string& name, const std::vector<std::string>& names) {
    constexpr std::size_t kNearNames = 3;
    std::vector<std::pair<std::size_t, std::string>> ranked;
    ranked.reserve(names.size());
    for (const std::string& candidate : names) {
        ranked.emplace_back(edit_distance(name, candidate), candidate);
    }
    std::sort(ranked.begin(), ranked.end());
    ranked.resize(std::min(ranked.size(), kNearNames));
    std::vector<std::string> near;
    near.reserve(ranked.size());
    for (const auto& [distance, candidate] : ranked) {
        near.push_back("'" + candidate + "'");
    }
    throw Error(fmt::format(
        "'{}' has no tensor '{}'; {}", path, name,
        near.empty() ? "the file has no tensors" : fmt::format("similar names: {}", fmt::join(near, ", "))));
}

}  // namespace headscope
