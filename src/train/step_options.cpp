#include "train/step_options.h"

#include <algorithm>
#include <limits>
#include <span>

namespace headscope {

LearnerOptions learner_options(const TrainingOptions& t, const Arithmetic& arithmetic) {
    constexpr std::int64_t kMostWatched = 1000;  // each of these steps has a number for every parameter
    LearnerOptions options{.arithmetic = arithmetic,
                           .optimizer = {.beta1 = static_cast<float>(t.beta1),
                                         .beta2 = static_cast<float>(t.beta2),
                                         .epsilon = static_cast<float>(t.epsilon),
                                         .clip_norm = static_cast<float>(t.clip_norm),
                                         .weight_decay = static_cast<float>(t.weight_decay)},
                           .regularisation = {.residual = static_cast<float>(t.residual_dropout),
                                              .embedding = static_cast<float>(t.embedding_dropout),
                                              .attention = static_cast<float>(t.attention_dropout),
                                              .activation = static_cast<float>(t.activation_dropout),
                                              .seed = static_cast<std::uint32_t>(t.seed),
                                              .expert_balance = static_cast<float>(t.expert_balance)},
                           .loss = {.epsilon = static_cast<float>(t.label_smoothing), .smoothing = t.smoothing},
                           .seed = static_cast<std::uint64_t>(t.seed),
                           .ema_decay = t.ema_decay,
                           .watch_gradients = t.watch_gradients,
                           .history = t.watch_gradients ? std::min(t.report_every, kMostWatched) : t.report_every,
                           .shards = static_cast<int>(t.shards)};
    if (arithmetic.storage == DType::F16) {
        options.optimizer.loss_scale = static_cast<float>(t.loss_scale);
        options.optimizer.scaling = {.growth_interval = static_cast<std::int32_t>(t.loss_scale_interval),
                                     .least = static_cast<float>(t.loss_scale_least),
                                     .most = static_cast<float>(t.loss_scale_most)};
    }
    return options;
}

BatchBudget step_budget(const TrainingOptions& t) {
    return {.source_tokens = t.source_tokens,
            .target_tokens = t.target_tokens,
            .length_multiple = t.length_multiple,
            .longest = t.max_length};
}

std::unique_ptr<Batcher> make_batcher(const TrainingOptions& t, const TrainingData& data, std::int64_t texts) {
    BatchBudget budget = step_budget(t);
    budget.source_tokens /= texts;
    budget.target_tokens /= texts;
    return std::make_unique<Batcher>(data.train, budget, static_cast<std::uint64_t>(t.seed), data.frame);
}

BatchBudget micro_budget(const TrainingOptions& t) {
    return t.micro_batch_tokens == 0 ? step_budget(t)
                                     : BatchBudget{.source_tokens = t.micro_batch_tokens,
                                                   .target_tokens = t.micro_batch_tokens,
                                                   .length_multiple = t.length_multiple,
                                                   .longest = t.max_length};
}

BatchBudget part_budget(const TrainingOptions& t, std::int64_t part_tokens) {
    constexpr std::int64_t kNoLimit = std::numeric_limits<std::int32_t>::max();
    BatchBudget budget = micro_budget(t);
    if (part_tokens > 0) {
        budget.source_tokens = budget.target_tokens = part_tokens;
    } else if (t.micro_batch_tokens == 0) {
        budget.source_tokens = budget.target_tokens = kNoLimit;
    }
    return budget;
}

ShardParts shard_parts(const std::vector<Example>& step, const Frame& frame, const TrainingOptions& t,
                       std::int64_t part_tokens) {
    const Padding padding = step_budget(t).padding();
    std::vector<std::int64_t> areas;
    areas.reserve(step.size());
    for (const Example& example : step) {
        areas.push_back(padded_area(example, frame, padding));
    }
    const std::vector<std::size_t> cuts = cut_evenly(areas, static_cast<int>(t.shards));
    ShardParts shards;
    std::int64_t rows = 0;  // of the shards so far
    for (std::size_t shard = 0; shard + 1 < cuts.size(); ++shard) {
        const std::span<const Example> examples = std::span(step).subspan(cuts[shard], cuts[shard + 1] - cuts[shard]);
        shards.push_back(micro_batches(examples, frame, padding, part_budget(t, part_tokens), rows));
        for (const Batch& part : shards.back()) {
            rows += part.sentences;
        }
    }
    return shards;
}

std::string parts_matter(const ModelConfig& model, const TrainingOptions& training) {
    std::string text;
    if (model.norm.type == NormType::Batch) {
        text += "; a batch norm measures each part, no longer the whole step";
    }
    if (model.feed_forward.experts.count > 0 && model.feed_forward.experts.capacity > 0.0F) {
        text += "; \"feed_forward.experts.capacity\" counts the tokens of each part, no longer of the whole step";
    }
    if (model.feed_forward.experts.count > 0 && training.expert_balance > 0.0) {
        text += "; \"expert_balance\" balances each part, no longer the whole step";
    }
    return text;
}

}  // namespace headscope
