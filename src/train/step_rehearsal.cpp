#include "train/step_rehearsal.h"

#include <algorithm>
#include <chrono>

#include "model/family.h"
#include "train/step_options.h"

namespace headscope {

StepRehearsal::StepRehearsal(Backend& backend, const TrainConfig& config, const ModelConfig& model,
                             const Arithmetic& arithmetic)
    : backend_(backend),
      options_(config.training),
      frame_(frame_of(model, config.data.languages)),
      before_(backend.memory().live),
      learner_(backend, model, learner_options(config.training, arithmetic)),
      kept_(backend.memory().live - before_) {}

double StepRehearsal::run(const std::vector<Batch>& parts) {
    constexpr double kRate = 1e-6;  // diverged weights could change the time
    backend_.synchronize();
    const auto start = std::chrono::steady_clock::now();
    learner_.step(parts, ++steps_, kRate);
    learner_.take_history();
    backend_.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Batch StepRehearsal::sentences(std::int64_t tokens, std::int64_t length) const {
    const ModelConfig& model = learner_.model_config();
    const Padding padding = step_budget(options_).padding();
    const bool pair = traits(model.architecture).reads_source;
    length = pair ? length : options_.max_length;
    // All pieces differ, so that lookups spread over the whole embedding table.
    const auto side = [&](std::int64_t vocabulary, std::int64_t sentence, std::int64_t pieces) {
        std::vector<std::int32_t> ids;
        for (std::int64_t i = 0; i < pieces; ++i) {
            ids.push_back(static_cast<std::int32_t>((sentence * length + i) % vocabulary));
        }
        return ids;
    };
    std::vector<Example> pairs;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(tokens / padding.of(length), 1); ++i) {
        if (pair) {
            pairs.push_back({side(model.source_vocabulary, i, length - frame_.around_source()),
                             side(model.target_vocabulary, i, length - frame_.around_target())});
            if (frame_.mask >= 0) {
                pairs.back().labels = pairs.back().target;
            }
        } else {
            const std::vector<std::int32_t> ids = side(model.target_vocabulary, i, length);
            pairs.push_back({.target = ids, .labels = ids});
        }
    }
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
