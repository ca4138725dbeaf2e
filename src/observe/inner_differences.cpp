#include "observe/inner_differences.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "data/device_batch.h"
#include "model/frame_of_config.h"
#include "observe/weight_collector.h"
#include "support/check.h"

namespace headscope {

namespace {

struct Pass {
    std::vector<float> logits;  // [target length, vocabulary]
    std::vector<WeightCollector::Observation> seen;
};

Pass pass(const InnerSide& side, const Example& example) {
    WeightCollector collector;
    Context ctx{.backend = side.backend, .observer = &collector, .compute = side.compute};
    const ModelConfig& config = side.model.config();
    const Frame complete{
        .pad = padding_id(config), .bos = config.frame.bos_id, .eos = config.frame.eos_id, .source_end = {}};
    const DeviceBatch batch = upload(side.backend, make_batch(std::span(&example, 1), complete, 0, {.multiple = 1}));
    const Var hidden = side.model.states(ctx, batch);
    return {to_host<float>(side.backend, side.model.logits(ctx, hidden).value()), collector.fetch(side.backend)};
}

double difference(float a, float b) {
    const double distance = std::abs(static_cast<double>(a) - static_cast<double>(b));
    return a == b ? 0.0 : std::isfinite(distance) ? distance : std::numeric_limits<double>::infinity();
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    HEADSCOPE_CHECK(a.size() == b.size(), "both devices return the same number of values");
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, difference(a[i], b[i]));
    }
    return largest;
}

}  // namespace

void InnerDifferences::widen(const InnerDifferences& other) {
    sentences += other.sentences;
    logits = std::max(logits, other.logits);
    largest_logit = std::max(largest_logit, other.largest_logit);
    if (weights.empty()) {
        weights = other.weights;
    }
    for (std::size_t i = 0; i < other.weights.size(); ++i) {
        weights.at(i).largest = std::max(weights[i].largest, other.weights[i].largest);
    }
}

InnerDifferences inner_differences(const std::array<InnerSide, 2>& sides, const Example& example) {
    const Pass first = pass(sides[0], example);
    const Pass second = pass(sides[1], example);
    HEADSCOPE_CHECK(first.seen.size() == second.seen.size(), "both devices run the same attention layers");
    InnerDifferences found{.sentences = 1, .logits = largest_difference(first.logits, second.logits), .weights = {}};
    for (const float logit : second.logits) {
        found.largest_logit = std::max(found.largest_logit, std::abs(static_cast<double>(logit)));
    }
    for (std::size_t i = 0; i < first.seen.size(); ++i) {
        found.weights.push_back({first.seen[i].site, largest_difference(first.seen[i].values, second.seen[i].values)});
    }
    return found;
}

}  // namespace headscope
