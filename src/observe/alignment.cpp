#include "observe/alignment.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "data/batch.h"
#include "data/device_batch.h"
#include "infer/loaded_model.h"
#include "observe/family_labels.h"
#include "observe/weight_collector.h"
#include "support/check.h"

namespace headscope {

namespace {

int layer_of(const AlignmentOptions& options, const ModelConfig& config) {
    return options.layer > 0 ? options.layer - 1 : std::max(config.decoder_layers - 2, 0);
}

std::vector<int> heads_of(const AlignmentOptions& options, const ModelConfig& config) {
    if (!options.heads.empty()) {
        return options.heads;
    }
    std::vector<int> all(static_cast<std::size_t>(heads_of(config, AttentionKind::Cross)));
    std::iota(all.begin(), all.end(), 1);
    return all;
}

// One layer's cross-attention [pairs, heads, queries, keys]; query i predicts target piece i
// minus target_begin.
WeightCollector::Observation cross_attention(Context ctx, const Generator& model, std::vector<Example> pairs, int layer,
                                             const Frame& frame) {
    for (Example& pair : pairs) {
        pair.target.pop_back();  // target_in starts with bos, and the last piece predicts nothing we need
    }
    const ModelConfig& config = model.config();
    const DeviceBatch batch =
        upload(ctx.backend, make_batch(std::span<const Example>(pairs), frame, 0, {.longest = config.max_length}));
    WeightCollector collector({{AttentionKind::Cross, layer}});
    ctx.observer = &collector;
    model.states(ctx, batch);
    return collector.fetch(ctx.backend).at(0);
}

// Adds `share` times the mean over heads of sentence `index` to `weights`.
void add_mean(std::vector<double>& weights, const WeightCollector::Observation& seen, std::size_t index,
              const Example& pair, const Frame& frame, const std::vector<int>& heads, double share) {
    const std::int64_t queries = seen.shape[2];
    const std::int64_t keys = seen.shape[3];
    for (const int head : heads) {
        const std::int64_t first = (static_cast<std::int64_t>(index) * seen.shape[1] + head - 1) * queries * keys;
        auto out = weights.begin();
        for (std::size_t piece = 0; piece < pair.target.size(); ++piece) {
            const std::int64_t query = std::ssize(frame.target_begin) + static_cast<std::int64_t>(piece);
            const auto row = seen.values.begin() + first + query * keys + std::ssize(frame.source_begin);
            for (std::size_t key = 0; key < pair.source.size(); ++key, ++out) {
                *out += share / static_cast<double>(heads.size()) *
                        static_cast<double>(row[static_cast<std::ptrdiff_t>(key)]);
            }
        }
    }
}

}  // namespace

std::string to_pharaoh(const Alignment& alignment) {
    std::string text;
    for (const auto& [source, target] : alignment) {
        text += fmt::format("{}{}-{}", text.empty() ? "" : " ", source, target);
    }
    return text;
}

Alignment link_units(std::span<const double> weights, const std::vector<std::int64_t>& source,
                     const std::vector<std::int64_t>& target) {
    HEADSCOPE_CHECK(weights.size() == source.size() * target.size(), "one weight for each pair of pieces");
    std::map<std::pair<std::int64_t, std::int64_t>, double> sums;  // of (target, source)
    auto next = weights.begin();
    for (const std::int64_t to : target) {
        for (const std::int64_t from : source) {
            sums[{to, from}] += *next++;
        }
    }
    Alignment links;
    double most = 0.0;
    for (const auto& [units, sum] : sums) {
        const auto [to, from] = units;
        if (to < 0 || from < 0) {
            continue;
        }
        if (links.empty() || links.back().second != to) {
            links.emplace_back(from, to);
            most = sum;
        } else if (sum > most) {
            links.back().first = from;
            most = sum;
        }
    }
    return links;
}

std::vector<std::vector<double>> alignment_weights(Context& ctx, const std::vector<const Generator*>& models,
                                                   std::span<const Example> pairs, const AlignmentOptions& options,
                                                   std::int64_t budget) {
    check_alignment_options(options, models);
    if (options.frame.patches) {
        throw Error(
            "the model reads pictures, which have no words to align: headscope attention --picture draws what "
            "each word looks at");
    }
    const std::int64_t around = std::max(options.frame.around_source(), options.frame.around_target());
    std::vector<std::int64_t> lengths;
    std::vector<std::vector<double>> weights;
    for (const Example& pair : pairs) {
        const bool empty = pair.source.empty() || pair.target.empty();
        lengths.push_back(empty ? 0
                                : static_cast<std::int64_t>(std::max(pair.source.size(), pair.target.size())) + around);
        weights.emplace_back(pair.source.size() * pair.target.size());
    }
    for (const std::vector<std::size_t>& members : batches_by_length(lengths, budget)) {
        std::vector<Example> some;
        std::transform(members.begin(), members.end(), std::back_inserter(some),
                       [&](std::size_t member) { return pairs[member]; });
        for (const Generator* model : models) {
            const auto seen = cross_attention(ctx, *model, some, layer_of(options, model->config()), options.frame);
            const std::vector<int> heads = heads_of(options, model->config());
            for (std::size_t i = 0; i < members.size(); ++i) {
                add_mean(weights[members[i]], seen, i, some[i], options.frame, heads,
                         1.0 / static_cast<double>(models.size()));
            }
        }
    }
    return weights;
}

void check_alignment_options(const AlignmentOptions& options, const std::vector<const Generator*>& models) {
    for (const Generator* model : models) {
        const ModelConfig& config = model->config();
        if (!attends(config, AttentionKind::Cross)) {
            throw Error("cannot align: the model has no cross-attention (\"cross_attention\" is false)");
        }
        if (options.layer < 0 || options.layer > config.decoder_layers) {
            throw Error(fmt::format("cannot align with decoder layer {}: the model has {} decoder layers",
                                    options.layer, config.decoder_layers));
        }
        for (const int head : options.heads) {
            if (const int all = heads_of(config, AttentionKind::Cross); head < 1 || head > all) {
                throw Error(fmt::format("cannot align with head {}: the model has {} heads per layer", head, all));
            }
        }
    }
}

}  // namespace headscope
