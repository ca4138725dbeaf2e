#include "backends/vulkan/stream/hazards.h"

#include <algorithm>

namespace headscope::vulkan {

namespace {

bool overlap(const Access& a, const Access& b) {
    return a.block == b.block && a.begin < b.end && b.begin < a.end;
}

}  // namespace

bool Hazards::conflict(std::span<const Access> next) const {
    return std::any_of(pending_.begin(), pending_.end(), [&](const Access& before) {
        return std::any_of(next.begin(), next.end(), [&](const Access& after) {
            return (before.write || after.write) && overlap(before, after);
        });
    });
}

void Hazards::add(std::span<const Access> accesses) {
    pending_.insert(pending_.end(), accesses.begin(), accesses.end());
}

}  // namespace headscope::vulkan
