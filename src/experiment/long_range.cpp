#include "experiment/long_range.h"

#include <algorithm>
#include <memory>

#include "data/device_batch.h"
#include "model/frame_of_config.h"
#include "support/check.h"
#include "support/random.h"
#include "train/learner.h"

namespace headscope {
namespace {

constexpr std::int64_t kSymbols = 16;
constexpr std::int32_t kFirstSymbol = 4;
constexpr std::int32_t kAsk = kFirstSymbol + static_cast<std::int32_t>(kSymbols);
constexpr std::int64_t kTests = 256;
constexpr double kLearnt = 0.99;

ModelConfig base_model(const LongRangeSettings& settings, std::int64_t length) {
    ModelConfig config;
    config.architecture = Architecture::CausalLm;
    config.encoder_layers = 0;
    config.decoder_layers = settings.layers;
    config.d_model = settings.d_model;
    config.feed_forward.d_ff = 4 * settings.d_model;
    config.attention.heads = 4;
    config.attention.d_k = config.attention.d_v = settings.d_model / config.attention.heads;
    config.norm.placement = NormPlacement::Pre;
    config.max_length = padded_length(length);
    config.source_vocabulary = config.target_vocabulary = kAsk + 1;
    return config;
}

// The symbols, the question, and for Copy all but the last of the answers.
Example example(LongRangeTask task, std::int64_t distance, Random& random) {
    Example pair;
    for (std::int64_t i = 0; i < distance; ++i) {
        pair.target.push_back(kFirstSymbol + static_cast<std::int32_t>(random.below(kSymbols)));
    }
    const std::vector<std::int32_t> symbols = pair.target;
    pair.target.push_back(kAsk);
    pair.labels.assign(symbols.size(), kNoTarget);
    if (task == LongRangeTask::Recall) {
        pair.labels.push_back(symbols.front());
    } else {
        pair.target.insert(pair.target.end(), symbols.begin(), symbols.end() - 1);
        pair.labels.insert(pair.labels.end(), symbols.begin(), symbols.end());
    }
    return pair;
}

Batch examples(LongRangeTask task, std::int64_t distance, std::int64_t count, const ModelConfig& config,
               Random& random) {
    std::vector<Example> pairs;
    for (std::int64_t i = 0; i < count; ++i) {
        pairs.push_back(example(task, distance, random));
    }
    return make_batch(std::span<const Example>(pairs), frame_of(config), 0, {.longest = config.max_length});
}

// How many of the labels are the likeliest symbol.
double accuracy_of(Backend& backend, const Model& model, const std::vector<Batch>& tests) {
    std::int64_t right = 0;
    std::int64_t all = 0;
    for (const Batch& test : tests) {
        Context ctx{.backend = backend};
        const DeviceBatch batch = upload(backend, test);
        const Var hidden = model.predicted_states(ctx, batch);
        const std::vector<float> logits = to_host<float>(backend, model.logits(ctx, hidden).value());
        const std::vector<std::int32_t>& labels = test.predicted.classes;
        const auto classes = static_cast<std::ptrdiff_t>(model.config().target_vocabulary);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (labels[i] != kNoTarget) {
                const auto row = logits.begin() + static_cast<std::ptrdiff_t>(i) * classes;
                right += std::max_element(row, row + classes) - row == labels[i] ? 1 : 0;
                ++all;
            }
        }
    }
    return static_cast<double>(right) / static_cast<double>(all);
}

ModelConfig model_for(const LongRangeSettings& settings, LongRangeTask task, const LayerKind& kind,
                      std::int64_t distance) {
    const std::int64_t length = task == LongRangeTask::Recall ? distance + 1 : 2 * distance;
    return with_layers(flat_model_keys(base_model(settings, length)), decoder_keys(kind, length));
}

}  // namespace

std::string why_impossible(const LongRangeSettings& settings, LongRangeTask task, const LayerKind& kind,
                           std::int64_t distance) {
    try {
        model_for(settings, task, kind, distance);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

std::optional<LongRangeResult> learn_long_range(Backend& backend, const LongRangeSettings& settings, LongRangeTask task,
                                                const LayerKind& kind, std::int64_t distance,
                                                const std::function<bool()>& stop_requested) {
    const ModelConfig config = model_for(settings, task, kind, distance);
    Learner learner(backend, config,
                    {.optimizer = {.clip_norm = 1.0F}, .loss = {.epsilon = 0.0F}, .seed = settings.seed});
    learner.begin();
    const std::unique_ptr<Model> model = make_model(config, learner.parameters());
    model->prepare(backend, config.max_length);
    LongRangeResult result;
    result.task = task;
    result.layer = kind.name;
    result.distance = distance;
    result.parameters = count_parameters(config);
    Random random(settings.seed, 1);
    Random unseen(settings.seed, 2);
    std::vector<Batch> tests;
    for (std::int64_t i = 0; i < kTests; i += settings.sequences) {
        tests.push_back(examples(task, distance, std::min(settings.sequences, kTests - i), config, unseen));
    }
    const std::int64_t warm_up = std::max<std::int64_t>(settings.steps / 10, 1);
    const std::int64_t every = std::max<std::int64_t>(settings.steps / 40, 1);
    for (std::int64_t step = 1; step <= settings.steps; ++step) {
        const double rate =
            settings.learning_rate * std::min(1.0, static_cast<double>(step) / static_cast<double>(warm_up));
        learner.step({examples(task, distance, settings.sequences, config, random)}, step, rate);
        if (step % every == 0 || step == settings.steps) {
            if (stop_requested()) {
                return std::nullopt;
            }
            result.accuracy = accuracy_of(backend, *model, tests);
            if (result.accuracy >= kLearnt) {
                result.steps = step;
                break;
            }
        }
    }
    return result;
}

}  // namespace headscope
