#include "train/step_rehearsal.h"

#include <algorithm>
#include <chrono>

#include "data/batcher.h"
#include "model/family.h"
#include "train/rollouts.h"
#include "train/step_options.h"

namespace headscope {

namespace {

LearnerOptions options_of(const TrainConfig& config, const Arithmetic& arithmetic) {
    LearnerOptions options = learner_options(config.training, arithmetic);
    options.objective = config.objective();
    options.shards = 1;
    return options;
}

// The ids as a text to learn, or as two responses of which the first is better.
Example example_of(const std::vector<std::int32_t>& ids, bool compares) {
    Example example{.target = ids, .labels = ids};
    if (compares) {
        example.target.insert(example.target.end(), ids.begin(), ids.end());
        example.labels = example.target;
        example.starts = {0, static_cast<std::int32_t>(ids.size())};
        example.ranks = {1, 2};
    }
    return example;
}

}  // namespace

StepRehearsal::StepRehearsal(Backend& backend, const TrainConfig& config, const ModelConfig& model,
                             const Arithmetic& arithmetic)
    : backend_(backend),
      options_(config.training),
      task_(traits(config.task)),
      frame_(frame_of(model, config.data.languages_of(config.data.train.front()))),
      before_(backend.memory().live),
      learner_(backend, model, options_of(config, arithmetic)) {
    if (task_.rolls_out) {
        const std::size_t alone = backend.memory().live;
        add_judges(config, arithmetic);
        others_ = backend.memory().live - alone;
    }
    kept_ = backend.memory().live - before_;
}

// The other models of a training on rollouts, as if the reward model had the shape of the policy.
void StepRehearsal::add_judges(const TrainConfig& config, const Arithmetic& arithmetic) {
    ModelConfig scoring = learner_.model_config();
    frozen_.push_back(std::make_unique<Parameters>(backend_, scoring, false, arithmetic.storage));
    scoring.output.head = OutputHead::Scalar;
    frozen_.push_back(std::make_unique<Parameters>(backend_, scoring, false, arithmetic.storage));
    if (config.rollouts.advantage == AdvantageForm::Generalised) {
        values_ = std::make_unique<Learner>(backend_, scoring, value_options(config.training, arithmetic));
    }
}

double StepRehearsal::run(const std::vector<Batch>& parts) {
    constexpr double kRate = 1e-6;  // diverged weights could change the time
    backend_.synchronize();
    const auto start = std::chrono::steady_clock::now();
    learner_.step(parts, ++steps_, kRate);
    if (values_) {
        values_->step(parts, steps_, kRate);
        values_->take_history();
    }
    learner_.take_history();
    backend_.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// With what a training would compute for them first.
void StepRehearsal::complete(std::vector<Example>& examples) const {
    for (Example& example : examples) {
        if (task_.compares && task_.has_reference) {
            example.references.assign(example.ranks.size(), 0.0F);
        }
        if (task_.rolls_out) {
            example.weights.assign(example.labels.size(), 1.0F);
        }
        if (task_.reads_labels) {
            example.labels.assign(example.target.size(), kNoTarget);
            example.labels.front() = 0;
            example.weights.assign(example.labels.size(), 1.0F);
            const OutputConfig& output = learner_.model_config().output;
            example.numbers.assign(output.head == OutputHead::Classes ? 0 : static_cast<std::size_t>(output.scores()),
                                   1.0F);
        }
    }
}

std::vector<Batch> StepRehearsal::parts_of(std::vector<Example> examples) const {
    complete(examples);
    return micro_batches(examples, frame_, step_budget(options_).padding(), part_budget(options_));
}

Batch StepRehearsal::sentences(std::int64_t tokens, std::int64_t length) const {
    const ModelConfig& model = learner_.model_config();
    const Padding padding = step_budget(options_).padding();
    const bool pair = traits(model.architecture).reads_source;
    const std::int64_t written = pair ? length : options_.max_length;
    const std::int64_t read = frame_.patches ? frame_.patches->positions() : written;
    const std::int64_t pieces_of_source = frame_.patches
                                              ? frame_.patches->shape.patches() * frame_.patches->shape.values()
                                              : read - frame_.around_source();
    const std::int64_t pieces_of_target = has_decoder(model) ? written - frame_.around_target() : read;
    const std::int64_t longest = std::max(read, written);
    // All pieces differ, so that lookups spread over the whole embedding table.
    const auto side = [&](std::int64_t vocabulary, std::int64_t sentence, std::int64_t pieces) {
        std::vector<std::int32_t> ids;
        for (std::int64_t i = 0; i < pieces; ++i) {
            ids.push_back(static_cast<std::int32_t>((sentence * longest + i) % vocabulary));
        }
        return ids;
    };
    const std::int64_t texts = task_.compares ? 2 : 1;  // of an example
    std::vector<Example> pairs;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(tokens / padding.of(longest) / texts, 1); ++i) {
        if (pair) {
            pairs.push_back({side(frame_.patches ? kChannelValues : model.source_vocabulary, i, pieces_of_source),
                             side(model.target_vocabulary, i, pieces_of_target)});
            if (frame_.mask >= 0) {
                pairs.back().labels = pairs.back().target;
            }
        } else {
            pairs.push_back(example_of(side(model.target_vocabulary, i, written), task_.compares));
        }
    }
    complete(pairs);
    return make_batch(pairs, frame_, 0, padding);
}

std::optional<std::size_t> StepRehearsal::memory_of(std::int64_t tokens) {
    try {
        run({longest_sentences(tokens)});
    } catch (const OutOfMemory&) {
        return std::nullopt;
    }
    return backend_.memory().peak - before_ - kept_;
}

}  // namespace headscope
