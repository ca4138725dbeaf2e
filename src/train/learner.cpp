#include "train/learner.h"

#include <algorithm>
#include <utility>

#include "autograd/tape.h"
#include "backend/ops/elementwise.h"
#include "data/device_batch.h"
#include "support/check.h"

namespace headscope {

Learner::Learner(Backend& backend, const ModelConfig& model, LearnerOptions options)
    : backend_(backend),
      options_(std::move(options)),
      parameters_(backend, model, true, options_.arithmetic.storage),
      model_(make_model(model, parameters_)),
      sum_(options_.shards > 1 ? std::optional<ShardedSum>(std::in_place, backend, parameters_.flat_gradients(),
                                                           options_.shards, *options_.ranks)
                               : std::nullopt),
      optimizer_(backend, parameters_, options_.optimizer, sum_ ? sum_->slice() : FlatRange{0, parameters_.total()}),
      step_(backend.empty({1}, DType::I32)),
      balance_scale_(backend.empty({1}, backend.full_dtype())) {
    if (!options_.prior.empty()) {
        options_.loss.prior =
            make_from_host(backend, {std::ssize(options_.prior)}, backend.full_dtype(), options_.prior);
    }
    if (options_.watch_gradients) {
        watch_.emplace(backend, parameters_, sum());
    }
    if (sum_) {
        make_facts();
    }
    if (options_.ema_decay > 0.0) {
        mean_.emplace(backend, parameters_, options_.ema_decay);
    }
    if (options_.history > 0) {
        history_.emplace(backend, options_.history, watch_ ? watch_->count() : 0, options_.objective.measured());
    }
    for (const ParameterSpec& spec : parameters_.table()) {
        if (!spec.trained) {
            const Tensor values = parameters_.stored(spec.name);
            buffers_.push_back({values, backend.empty(values.shape, values.dtype)});
        }
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

LossSums Learner::empty_sums() const {
    const DType real = backend_.full_dtype();
    LossSums sums{.loss = backend_.empty({1}, real), .nll = backend_.empty({1}, real)};
    if (options_.objective.measured() > 0) {
        sums.measures = backend_.empty({options_.objective.measured()}, real);
    }
    return sums;
}

void Learner::add(const LossSums& found, const LossSums& sums, Write write) const {
    backend_.run(Copy{.x = found.loss, .out = sums.loss, .write = write});
    backend_.run(Copy{.x = found.nll, .out = sums.nll, .write = write});
    if (sums.measures.defined()) {
        backend_.run(Copy{.x = found.measures, .out = sums.measures, .write = write});
    }
}

LossSums Learner::pass(const Batch& part, bool first, bool last, const Tensor& balance_scale) {
    const DeviceBatch batch = upload(backend_, part);
    const DType real = backend_.full_dtype();
    const LossSums sums = empty_sums();
    model_->prepare(backend_, std::max(part.source.length, part.target.length));
    backend_.replay("training pass", [&] {
        // Inside the body, which is called several times: each call must find the gradients unwritten.
        if (first) {
            parameters_.forget_gradients();
        }
        Tape tape;
        if (last && watch_) {
            watch_->begin();
            tape.on_final_gradient = [this](const Var& parameter) { watch_->final_gradient(parameter); };
        }
        Context context{.backend = backend_,
                        .tape = &tape,
                        .regularisation = options_.regularisation,
                        .compute = options_.arithmetic.compute,
                        .label = options_.label};
        context.regularisation.step = step_;
        context.regularisation.ordinals = batch.ordinals;
        LossOptions loss = options_.loss;
        if (scales_loss()) {
            loss.gradient_scale = context.regularisation.gradient_scale = optimizer_.loss_scale();
        }
        if (balance_scale.defined()) {
            Tensor& scale = context.regularisation.gradient_scale;
            const Tensor product = scale.defined() ? backend_.empty({1}, real) : balance_scale;
            if (scale.defined()) {
                backend_.run(Multiply{.a = scale, .b = balance_scale, .out = product});
            }
            scale = product;
        }
        add(options_.objective.loss(context, *model_, batch, loss), sums, Write::Overwrite);
    });
    return sums;
}

LossSums Learner::passes(const std::vector<Batch>& parts, const Tensor& balance_scale) {
    LossSums sums;
    for (const Batch& part : parts) {
        const bool first = &part == parts.data();
        const LossSums of_part = pass(part, first, &part == &parts.back(), balance_scale);
        if (first) {
            sums = of_part;
        } else {
            add(of_part, sums, Write::Accumulate);
        }
    }
    return sums;
}

LossSums Learner::learn(const std::vector<Batch>& parts, const Tensor& balance_scale, double learning_rate,
                        double divisor) {
    const LossSums sums = passes(parts, balance_scale);
    optimizer_.step(learning_rate, divisor);
    return sums;
}

LossSums Learner::step(const ShardParts& shards, std::int64_t number, double learning_rate,
                       std::optional<double> divisor) {
    HEADSCOPE_CHECK(std::ssize(shards) == options_.shards, "a step has as many shards as the learner was made for");
    HEADSCOPE_CHECK(!history_full(), "the history is full: take_history()");
    const auto step = static_cast<std::int32_t>(number);
    backend_.upload(step_, &step, sizeof(step));
    StepTokens tokens;
    std::int64_t counted = 0;
    for (const std::vector<Batch>& parts : shards) {
        for (const Batch& part : parts) {
            tokens.source += part.source.count;
            tokens.target += part.predicted.count;
            counted += part.counted();
        }
    }
    const double divided_by = divisor.value_or(static_cast<double>(counted));
    for (const Buffer& buffer : buffers_) {
        backend_.run(Copy{.x = buffer.values, .out = buffer.before});
    }
    Tensor balance_scale;
    if (divided_by != static_cast<double>(tokens.target) && tokens.target > 0 &&
        options_.regularisation.expert_balance != 0.0F) {
        balance_scale = balance_scale_;
        const double scale = divided_by / static_cast<double>(tokens.target);
        backend_.run(Fill{.out = balance_scale, .value = static_cast<float>(scale)});
    }
    LossSums sums;
    try {
        sums = sum_ ? learn_shards(shards, balance_scale, learning_rate, divided_by)
                    : learn(shards.front(), balance_scale, learning_rate, divided_by);
    } catch (const OutOfMemory&) {
        for (const Buffer& buffer : buffers_) {
            backend_.run(Copy{.x = buffer.before, .out = buffer.values});
        }
        throw;
    }
    if (mean_) {
        mean_->add(number);
    }
    if (history_) {
        history_->add(sums, tokens, divided_by, optimizer_.scalars(), watch_ ? watch_->squares() : Tensor());
    }
    return sums;
}

ValidationLoss Learner::validate(const Batcher& batcher) const {
    std::int64_t counted = 0;
    const std::vector<double> sums = sums_of_batches(batcher, counted);
    const auto mean = [&](double sum) { return sum / static_cast<double>(counted); };
    ValidationLoss found{.loss = mean(sums[0]), .nll = mean(sums[1])};
    for (std::size_t i = 0; i < options_.objective.measures.size(); ++i) {
        found.measures[options_.objective.measures[i]] = mean(sums[2 + i]);
    }
    return found;
}

std::vector<StepRecord> Learner::take_history() {
    HEADSCOPE_CHECK(history_.has_value(), "a learner without LearnerOptions::history has none");
    return history_->take();
}

void Learner::load_mean() {
    HEADSCOPE_CHECK(mean_.has_value(), "a learner without LearnerOptions::ema_decay has no mean");
    backend_.run(Copy{.x = mean_->values(), .out = parameters_.flat_values()});
    parameters_.refresh_working();
}

}  // namespace headscope
