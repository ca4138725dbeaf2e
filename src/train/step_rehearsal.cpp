#include "train/step_rehearsal.h"

#include <algorithm>
#include <chrono>

#include "data/device_batch.h"
#include "train/step_options.h"

namespace headscope {

StepRehearsal::StepRehearsal(Backend& backend, const TrainConfig& config, const ModelConfig& model,
                             const Arithmetic& arithmetic)
    : backend_(backend),
      options_(config.training),
      model_config_(model),
      arithmetic_(arithmetic),
      before_(backend.memory().live),
      parameters_(backend, model, true, arithmetic.storage),
      model_(model, parameters_),
      pass_(backend, model_, parameters_),
      optimizer_(backend, parameters_, optimizer_options(config.training, arithmetic)),
      step_(backend.empty({1}, DType::I32)) {
    parameters_.initialise(static_cast<std::uint64_t>(options_.seed));
    if (options_.ema_decay > 0.0) {
        mean_.emplace(backend, parameters_, options_.ema_decay);
    }
    kept_ = backend.memory().live - before_;
}

double StepRehearsal::run(const std::vector<Batch>& parts) {
    backend_.synchronize();
    const auto start = std::chrono::steady_clock::now();
    const auto step = static_cast<std::int32_t>(++steps_);
    backend_.upload(step_, &step, sizeof(step));
    TrainingPass::Rules rules{
        .regularisation = regularisation_of(options_), .loss = loss_options(options_), .compute = arithmetic_.compute};
    if (arithmetic_.storage == DType::F16) {
        rules.loss.gradient_scale = optimizer_.loss_scale();
    }
    std::int64_t tokens = 0;
    for (const Batch& part : parts) {
        pass_.run(upload(backend_, part), &part == parts.data(), step_, rules);
        tokens += part.target_tokens;
    }
    constexpr double kRate = 1e-6;  // weights that explode would take another time
    optimizer_.step(steps_, kRate, tokens);
    if (mean_) {
        mean_->add(steps_);
    }
    backend_.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Batch StepRehearsal::longest_sentences(std::int64_t tokens) const {
    const Padding padding = step_budget(options_).padding();
    const std::int64_t length = padding.of(options_.max_length);
    // Pieces without eos; each another one, since what is looked up is spread over the table.
    const auto side = [&](std::int64_t vocabulary, std::int64_t sentence) {
        std::vector<std::int32_t> ids;
        for (std::int64_t i = 0; i + 1 < options_.max_length; ++i) {
            ids.push_back(static_cast<std::int32_t>((sentence * options_.max_length + i) % vocabulary));
        }
        return ids;
    };
    std::vector<Pair> pairs;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(tokens / length, 1); ++i) {
        pairs.push_back({side(model_config_.source_vocabulary, i), side(model_config_.target_vocabulary, i)});
    }
    return make_batch(pairs, special_ids(model_config_), 0, padding);
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
