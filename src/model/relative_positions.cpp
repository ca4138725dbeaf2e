#include "model/relative_positions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace headscope {

std::vector<std::int32_t> distance_buckets(const ModelConfig& config, bool both_ways) {
    const std::int64_t count = both_ways ? config.positions.relative.buckets / 2 : config.positions.relative.buckets;
    const std::int64_t exact = count / 2;
    const auto logs = static_cast<float>(
        std::log(static_cast<double>(config.positions.relative.distance) / static_cast<double>(exact)));
    const auto bucket = [&](std::int64_t distance) {
        const bool after = distance > 0;
        const std::int64_t apart = both_ways ? std::abs(distance) : std::max<std::int64_t>(-distance, 0);
        std::int64_t found = apart;
        if (apart >= exact) {
            const float log = std::log(static_cast<float>(apart) / static_cast<float>(exact));
            found =
                std::min(exact + static_cast<std::int64_t>(log / logs * static_cast<float>(count - exact)), count - 1);
        }
        return static_cast<std::int32_t>(both_ways && after ? count + found : found);
    };
    std::vector<std::int32_t> buckets;
    for (std::int64_t distance = -config.positions.relative.distance; distance <= config.positions.relative.distance;
         ++distance) {
        buckets.push_back(bucket(distance));
    }
    return buckets;
}

RelativeTable::RelativeTable(const ModelConfig& config, const Scope& stack, bool both_ways) {
    const Scope scope = stack.in("relative_positions");
    scope.block({.kind = BlockKind::RelativePositions,
                 .title = "Relative Positions",
                 .detail = fmt::format("{} \u00d7 {}", config.positions.relative.buckets, config.attention.heads)});
    table_ = scope.values("weight", {config.positions.relative.buckets, config.attention.heads}, Initial::Embedding);
    const std::vector<std::int32_t> buckets = distance_buckets(config, both_ways);
    std::vector<std::int32_t> order(buckets.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return buckets[static_cast<std::size_t>(a)] < buckets[static_cast<std::size_t>(b)];
    });
    ids_ = scope.constants(buckets);
    order_ = scope.constants(order);
}

Var RelativeTable::by_distance(Context& ctx) const {
    const std::int64_t distances = ids_.elements();
    return embed(ctx, {.ids = ids_.reshape({1, distances}), .order = order_, .table = table_})
        .reshape({distances, table_.shape()[1]});
}

}  // namespace headscope
