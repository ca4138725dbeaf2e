#include "backends/vulkan/hazards.h"

#include <algorithm>

namespace headscope::vulkan {

bool Hazards::conflict(std::span<const Access> next) const {
    return std::any_of(pending_.begin(), pending_.end(), [&](const Access& before) {
        return std::any_of(next.begin(), next.end(), [&](const Access& after) {
            return (before.write || after.write) && before.block == after.block && before.begin < after.end &&
                   after.begin < before.end;
        });
    });
}

void Hazards::add(std::span<const Access> accesses) {
    pending_.insert(pending_.end(), accesses.begin(), accesses.end());
}

}  // namespace headscope::vulkan
