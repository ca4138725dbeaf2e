#include "observe/weight_collector.h"

#include <algorithm>
#include <utility>

#include "backend/ops/elementwise.h"

namespace headscope {

WeightCollector::WeightCollector(std::vector<AttentionSite> sites) : sites_(std::move(sites)) {}

bool WeightCollector::wants(const AttentionSite& site) const {
    return sites_.empty() || std::find(sites_.begin(), sites_.end(), site) != sites_.end();
}

Tensor WeightCollector::observe(Backend& /*backend*/, const AttentionView& view) {
    seen_.push_back({view.site, view.weights});
    return view.weights;
}

std::vector<WeightCollector::Observation> WeightCollector::fetch(Backend& backend) {
    const std::vector<Seen> seen = std::exchange(seen_, {});
    std::int64_t total = 0;
    for (const Seen& one : seen) {
        total += one.weights.elements();
    }
    std::vector<Observation> observations;
    if (total == 0) {
        return observations;
    }
    const Tensor packed = backend.empty({total}, DType::F32);
    std::int64_t offset = 0;
    for (const Seen& one : seen) {
        const std::int64_t size = one.weights.elements();
        backend.run(Copy{.x = one.weights, .out = packed.narrow(0, offset, size).reshape(one.weights.shape)});
        offset += size;
    }
    std::vector<float> values(static_cast<std::size_t>(total));
    backend.download(packed, values.data(), values.size() * sizeof(float));
    auto next = values.cbegin();
    for (const Seen& one : seen) {
        const auto end = next + one.weights.elements();
        observations.push_back({one.site, one.weights.shape, std::vector<float>(next, end)});
        next = end;
    }
    return observations;
}

}  // namespace headscope
