#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "data/device_batch.h"
#include "support/check.h"
#include "support/counted.h"
#include "train/step_options.h"

namespace headscope {
namespace {

std::optional<WeightMean> mean_for(const TrainingOptions& t, Backend& backend, const Parameters& parameters) {
    return t.ema_decay > 0.0 ? std::optional<WeightMean>(std::in_place, backend, parameters, t.ema_decay)
                             : std::nullopt;
}

std::optional<GradientWatch> watch_for(const TrainingOptions& t, Backend& backend, const Parameters& parameters) {
    return t.watch_gradients ? std::optional<GradientWatch>(std::in_place, backend, parameters) : std::nullopt;
}

// Steps that go by before the host reads what the device noted of them.
std::int64_t history_length(const TrainingOptions& t) {
    constexpr std::int64_t kMostWatched = 1000;  // each has a number for every parameter
    return t.watch_gradients ? std::min(t.report_every, kMostWatched) : t.report_every;
}

}  // namespace

double TrainerHooks::steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Trainer::Trainer(Backend& backend, const TrainConfig& config, TrainingData data, std::string directory,
                 TrainerHooks hooks)
    : backend_(backend),
      config_(config),
      data_(std::move(data)),
      directory_(std::move(directory)),
      hooks_(std::move(hooks)),
      model_config_(config.model_config(data_.source_tokenizer->size(), data_.target_tokenizer->size())),
      arithmetic_(arithmetic_of(config, backend)),
      parameters_(backend, model_config_, true, arithmetic_.storage),
      model_(model_config_, parameters_),
      pass_(backend, model_, parameters_),
      optimizer_(backend, parameters_, optimizer_options(config.training, arithmetic_)),
      watch_(watch_for(config.training, backend, parameters_)),
      mean_(mean_for(config.training, backend, parameters_)),
      guard_(config.training.guard),
      history_(backend, history_length(config.training), watch_ ? watch_->count() : 0),
      batcher_(data_.train, step_budget(config.training), static_cast<std::uint64_t>(config.training.seed),
               special_ids(model_config_)),
      checkpoints_(path("checkpoints")),
      step_tensor_(backend.empty({1}, DType::I32)) {
    checkpoints_.remove_leftovers();
    if (!data_.valid.empty()) {
        const auto pairs = std::make_shared<const ExampleSource>(data_.valid);
        valid_ = std::make_unique<Batcher>(pairs, micro_budget(config.training), 0, special_ids(model_config_));
        valid_fingerprint_ = pairs->fingerprint();
        data_.valid.clear();
    }
    if (!data_.valid_text.source.empty()) {
        bleu_.emplace(backend, model_config_, parameters_, data_, decoding_choices(), arithmetic_.compute);
    }
    if (config.training.patience > 0 && !valid_) {
        throw Error(
            fmt::format("{}: \"training.patience\" ({}) counts validations: name a validation text in "
                        "\"data.valid\", or leave it out",
                        config.file, config.training.patience));
    }
    clock_ = hooks_.clock();
    begin();
    hooks_.say(fmt::format("{} parameters on {} ({}), {}, about {} an epoch", parameters_.count(), backend.device().id,
                           backend.device().name, name_of(arithmetic_),
                           counted(batcher_.about_steps_per_epoch(), "step")));
    const auto each = static_cast<double>(std::max<std::int64_t>(batcher_.about_steps_per_epoch(), 1));
    const auto tokens = static_cast<double>(data_.train->predicted_tokens());
    const std::string early =
        ends_in_warmup(config.training.limits().about_steps(each, tokens / each), config.training.warmup_steps);
    if (!early.empty()) {
        hooks_.say(early);
    }
}

Trainer::~Trainer() = default;

std::string Trainer::path(const char* name) const {
    return (std::filesystem::path(directory_) / name).string();
}

RunEnd Trainer::run() {
    if (state_.step == 0) {  // what lies there is of a run that was given up
        std::filesystem::remove(path(kBestFile));
    }
    open_logs();
    resumed_at_ = reported_at_ = checkpointed_at_ = now();
    checkpointed_ = state_.step;
    learning_rate_ = learning_rate(progress(), std::max<std::int64_t>(state_.step, 1));
    for (train_until_stopped(); astray(); train_until_stopped()) {
        recover();
    }
    const bool done = finished();
    if (done && state_.totals.steps + state_.totals.skipped > 0) {
        report();
    }
    if (done && patience_spent()) {
        hooks_.say(fmt::format("{} validations in a row were no better than that after step {}: enough",
                               state_.validations_since_best, state_.best->step));
    }
    if (checkpointed_ != state_.step) {
        checkpoint(false);
    }
    return done ? RunEnd::Finished : RunEnd::Stopped;
}

// Or until the run is astray. Nothing is left in the history.
void Trainer::train_until_stopped() {
    const TrainingOptions& t = config_.training;
    while (!finished() && !astray() && !hooks_.stop_requested()) {
        learning_rate_ = learning_rate(progress(), state_.step + 1);
        const Batcher::Step pairs = batcher_.next();
        ++state_.step;
        train_on(pairs, learning_rate_);
        state_.batcher = batcher_.state();
        if (state_.step % t.report_every == 0 || finished()) {
            report();
        }
        if (valid_ && t.validate_every > 0 && state_.step % t.validate_every == 0) {
            validate_now();
        }
        state_.checkpoint_due = state_.checkpoint_due || checkpoint_due();
        if (state_.checkpoint_due) {
            collect();
        }
        // A checkpoint of a skipped step would hold the weights of an earlier one, which may be those that no gradient
        // leads on from, and would push out one of before them.
        if (state_.checkpoint_due && !skipping() && !astray()) {
            checkpoint(true);
        }
    }
    collect();
}

void Trainer::train_on(const Batcher::Step& pairs, double learning_rate) {
    for (;;) {
        const std::vector<Batch> parts = batcher_.micro_batches(pairs, part_budget());
        try {
            train_step(parts, learning_rate, true);
            break;
        } catch (const OutOfMemory& error) {
            if (!halve_parts(parts, error)) {
                throw;
            }
        }
    }
    make_room_in_history();
}

// Behind a step, never within it: what waits for the device may find no memory, and a step that was taken is not to be
// taken again.
void Trainer::make_room_in_history() {
    if (history_.full()) {
        collect();
    }
}

// Without a limit a step is one part, also where sampled pieces made it longer than planned.
BatchBudget Trainer::part_budget() const {
    constexpr std::int64_t kNoLimit = std::numeric_limits<std::int32_t>::max();
    BatchBudget budget = micro_budget(config_.training);
    if (state_.part_tokens > 0) {
        budget.source_tokens = budget.target_tokens = state_.part_tokens;
    } else if (config_.training.micro_batch_tokens == 0) {
        budget.source_tokens = budget.target_tokens = kNoLimit;
    }
    return budget;
}

// The same step in smaller parts: gradients add up, so that nothing changes but the order of sums. False where that may
// not be or cannot help.
bool Trainer::halve_parts(const std::vector<Batch>& parts, const OutOfMemory& error) {
    const bool divisible =
        std::any_of(parts.begin(), parts.end(), [](const Batch& part) { return part.sentences > 1; });
    if (!config_.training.split_when_out_of_memory || !divisible) {
        return false;
    }
    std::int64_t largest = 0;
    for (const Batch& part : parts) {
        largest = std::max(largest, part.sentences * std::max(part.source_length, part.target_length));
    }
    state_.part_tokens = std::max<std::int64_t>(largest / 2, 1);
    history_.forget_losses();
    hooks_.say(
        fmt::format("{}. From here on steps run in parts of {} padded tokens", error.what(), state_.part_tokens));
    return true;
}

void Trainer::train_step(const std::vector<Batch>& parts, double learning_rate, bool regularise) {
    const auto step = static_cast<std::int32_t>(state_.step);
    backend_.upload(step_tensor_, &step, sizeof(step));
    TrainingPass::Rules rules{.regularisation = regularisation_of(config_.training),
                              .loss = loss_options(config_.training),
                              .compute = arithmetic_.compute,
                              .label = hooks_.label};
    if (!regularise) {
        rules.loss.epsilon = 0.0F;
    }
    if (scales_loss()) {
        rules.loss.gradient_scale = optimizer_.loss_scale();
    }
    StepTokens tokens;
    for (const Batch& part : parts) {
        const bool first = &part == parts.data();
        rules.watch = watch_ && &part == &parts.back() ? &*watch_ : nullptr;
        history_.add_losses(pass_.run(upload(backend_, part), first, regularise ? step_tensor_ : Tensor(), rules));
        tokens.source += part.source_tokens;
        tokens.target += part.target_tokens;
    }
    optimizer_.step(state_.step, learning_rate, tokens.target);
    if (mean_) {
        mean_->add(state_.step);
    }
    state_.tokens += tokens.target;
    history_.finish_step(optimizer_.scalars(), watch_ ? watch_->squares() : Tensor());
    pending_.push_back(tokens);
}

void Trainer::collect() {
    const std::vector<StepRecord> records = history_.take();
    for (std::size_t i = 0; i < records.size(); ++i) {
        const LossScaleState<double>& scale = records[i].loss_scale;
        const bool fell = scales_loss() && state_.loss_scale && scale.scale < state_.loss_scale->scale;
        state_.totals.add(records[i], fell, pending_[i].source, pending_[i].target);
        if (watch_) {
            const double scaled_by = scales_loss() && state_.loss_scale ? state_.loss_scale->scale : 1.0;
            watch(records[i], static_cast<double>(pending_[i].target) * scaled_by);
        }
        if (scales_loss()) {
            state_.loss_scale = scale;
        }
        if (!records[i].skipped) {
            guard_.add(records[i].nll / static_cast<double>(pending_[i].target));
        }
    }
    pending_.clear();
    state_.totals.seconds += now() - reported_at_;
    reported_at_ = now();
}

// What was found of a step's gradients, which are sums over `divisor`.
void Trainer::watch(const StepRecord& record, double divisor) {
    if (record.skipped) {
        state_.totals.first_not_finite = watch_->first_not_finite(record.gradient_squares);
        return;
    }
    ++state_.totals.watched_steps;
    for (const auto& [layer, norm] : watch_->norms(record.gradient_squares, divisor)) {
        state_.totals.layer_norms[layer] += norm;
    }
}

bool Trainer::patience_spent() const {
    const std::int64_t patience = config_.training.patience;
    return patience > 0 && state_.validations_since_best >= patience;
}

std::string Trainer::ended_by() const {
    const std::string limit = config_.training.limits().reached_by(progress());
    return limit.empty() && patience_spent() ? fmt::format("\"training.patience\" ({})", config_.training.patience)
                                             : limit;
}

bool Trainer::checkpoint_due() const {
    const TrainingOptions& t = config_.training;
    return (t.checkpoint_every > 0 && state_.step % t.checkpoint_every == 0) ||
           (t.checkpoint_minutes > 0.0 && now() - checkpointed_at_ >= t.checkpoint_minutes * 60.0);
}

double Trainer::learning_rate(const Progress& before, std::int64_t step) const {
    return config_.schedule(model_config_)(step, config_.training.limits().share(before)) * guard_.state().rate_factor;
}

Progress Trainer::progress() const {
    return {.steps = state_.step,
            .epochs = batcher_.epochs_done(),
            .tokens = state_.tokens,
            .minutes = seconds_done() / 60.0};
}

double Trainer::seconds_done() const {
    return seconds_before_ + now() - resumed_at_;
}

double Trainer::now() const {
    const double clock = hooks_.clock();
    elapsed_ += std::max(clock - std::exchange(clock_, clock), 0.0);
    return elapsed_;
}

}  // namespace headscope
