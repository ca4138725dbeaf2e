#include "train/learner.h"

#include <utility>

#include "data/device_batch.h"

namespace headscope {

Learner::Learner(Backend& backend, const ModelConfig& model, LearnerOptions options)
    : backend_(backend),
      options_(std::move(options)),
      parameters_(backend, model, true, options_.arithmetic.storage),
      model_(make_model(model, parameters_)),
      pass_(backend, *model_, parameters_),
      optimizer_(backend, parameters_, options_.optimizer),
      step_(backend.empty({1}, DType::I32)) {
    if (options_.watch_gradients) {
        watch_.emplace(backend, parameters_);
    }
    if (options_.ema_decay > 0.0) {
        mean_.emplace(backend, parameters_, options_.ema_decay);
    }
    if (options_.history > 0) {
        history_.emplace(backend, options_.history, watch_ ? watch_->count() : 0);
    }
    begin();
}

void Learner::begin() {
    parameters_.initialise(options_.seed);
    begin_optimizer();
}

void Learner::begin_optimizer() {
    optimizer_.begin();
    if (mean_) {
        mean_->begin();
    }
}

LossSums Learner::step(const std::vector<Batch>& parts, std::int64_t number, double learning_rate) {
    const auto step = static_cast<std::int32_t>(number);
    backend_.upload(step_, &step, sizeof(step));
    TrainingPass::Rules rules{.regularisation = options_.regularisation,
                              .loss = options_.loss,
                              .compute = options_.arithmetic.compute,
                              .label = options_.label};
    if (scales_loss()) {
        rules.loss.gradient_scale = optimizer_.loss_scale();
    }
    LossSums sums;
    StepTokens tokens;
    for (const Batch& part : parts) {
        const bool first = &part == parts.data();
        rules.watch = watch_ && &part == &parts.back() ? &*watch_ : nullptr;
        const LossSums of_part = pass_.run(upload(backend_, part), first, step_, rules);
        if (first) {
            sums = of_part;
        } else {
            backend_.run(Copy{.x = of_part.loss, .out = sums.loss, .write = Write::Accumulate});
            backend_.run(Copy{.x = of_part.nll, .out = sums.nll, .write = Write::Accumulate});
        }
        tokens.source += part.source_tokens;
        tokens.target += part.target_tokens;
    }
    optimizer_.step(number, learning_rate, tokens.target);
    if (mean_) {
        mean_->add(number);
    }
    if (history_) {
        history_->add(sums, tokens, optimizer_.scalars(), watch_ ? watch_->squares() : Tensor());
    }
    return sums;
}

ValidationLoss Learner::validate(const Batcher& batcher) const {
    const Tensor sums = backend_.empty({2}, backend_.real());
    backend_.run(Fill{.out = sums});
    std::int64_t target_tokens = 0;
    batcher.for_each_step(0, [&](const Batcher::Step& step) {
        const DeviceBatch batch = upload(backend_, batcher.batch(step));
        Context context{.backend = backend_, .compute = options_.arithmetic.compute};
        const LossSums losses = model_->loss(context, batch, options_.loss);
        backend_.run(Copy{.x = losses.loss, .out = sums.narrow(0, 0, 1), .write = Write::Accumulate});
        backend_.run(Copy{.x = losses.nll, .out = sums.narrow(0, 1, 1), .write = Write::Accumulate});
        target_tokens += batch.target_tokens;
    });
    const auto host = to_host<double>(backend_, sums);
    const auto tokens = static_cast<double>(target_tokens);
    return {.loss = host[0] / tokens, .nll = host[1] / tokens};
}

void Learner::load_mean() {
    backend_.run(Copy{.x = mean_->values(), .out = parameters_.flat_values()});
    parameters_.refresh_working();
}

}  // namespace headscope
