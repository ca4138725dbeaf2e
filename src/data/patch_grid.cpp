#include "data/patch_grid.h"

#include <cstddef>
#include <string>

#include "support/check.h"

namespace headscope {

std::vector<float> PatchGrid::vectors(std::span<const std::int32_t> ids) const {
    HEADSCOPE_CHECK(std::ssize(ids) == shape.patches() * shape.values(),
                    "a picture has " + std::to_string(ids.size()) + " values");
    constexpr double kLargest = kChannelValues - 1;
    std::vector<float> vectors(class_token ? static_cast<std::size_t>(shape.values()) : 0, 0.0F);
    vectors.reserve(vectors.size() + ids.size());
    for (const std::int32_t id : ids) {
        const auto channel = static_cast<std::size_t>(id / kChannelValues);
        const double value = id % kChannelValues / kLargest;
        vectors.push_back(static_cast<float>((value - static_cast<double>(mean.at(channel))) /
                                             static_cast<double>(deviation.at(channel))));
    }
    return vectors;
}

}  // namespace headscope
