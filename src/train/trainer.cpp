#include "train/trainer.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "data/device_batch.h"
#include "support/check.h"

namespace headscope {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

OptimizerOptions optimizer_options(const TrainingOptions& t, const Arithmetic& arithmetic) {
    OptimizerOptions options{.beta1 = static_cast<float>(t.beta1),
                             .beta2 = static_cast<float>(t.beta2),
                             .epsilon = static_cast<float>(t.epsilon),
                             .clip_norm = static_cast<float>(t.clip_norm)};
    if (arithmetic.storage == DType::F16) {
        options.loss_scale = static_cast<float>(t.loss_scale);
        options.scaling = {.growth_interval = static_cast<std::int32_t>(t.loss_scale_interval),
                           .least = static_cast<float>(t.loss_scale_least),
                           .most = static_cast<float>(t.loss_scale_most)};
    }
    return options;
}

SpecialIds special_ids(const ModelConfig& model) {
    return {model.pad_id, model.bos_id, model.eos_id, model.unk_id};
}

Regularisation regularisation_of(const TrainingOptions& t) {
    return {.residual = static_cast<float>(t.residual_dropout),
            .embedding = static_cast<float>(t.embedding_dropout),
            .attention = static_cast<float>(t.attention_dropout),
            .activation = static_cast<float>(t.activation_dropout),
            .seed = static_cast<std::uint32_t>(t.seed)};
}

BatchBudget step_budget(const TrainingOptions& t) {
    return {.source_tokens = t.source_tokens,
            .target_tokens = t.target_tokens,
            .length_multiple = t.length_multiple,
            .longest = t.max_length};
}

BatchBudget micro_budget(const TrainingOptions& t) {
    return t.micro_batch_tokens == 0 ? step_budget(t)
                                     : BatchBudget{.source_tokens = t.micro_batch_tokens,
                                                   .target_tokens = t.micro_batch_tokens,
                                                   .length_multiple = t.length_multiple,
                                                   .longest = t.max_length};
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
      history_(backend, history_length(config.training), watch_ ? watch_->count() : 0),
      batcher_(std::move(data_.train.pairs), step_budget(config.training),
               static_cast<std::uint64_t>(config.training.seed), special_ids(model_config_)),
      checkpoints_(path("checkpoints")),
      step_tensor_(backend.empty({1}, DType::I32)) {
    if (scales_loss()) {
        state_.loss_scale = {config.training.loss_scale, 0.0};
    }
    checkpoints_.remove_leftovers();
    if (!data_.valid.pairs.empty()) {
        valid_ = std::make_unique<Batcher>(std::move(data_.valid.pairs), micro_budget(config.training), 0,
                                           special_ids(model_config_));
    }
    parameters_.initialise(static_cast<std::uint64_t>(config.training.seed));
    hooks_.say(fmt::format("{} parameters on {} ({}), {}, {} steps an epoch", parameters_.count(), backend.device().id,
                           backend.device().name, name_of(arithmetic_), batcher_.steps_per_epoch()));
}

Trainer::~Trainer() = default;

std::string Trainer::path(const char* name) const {
    return (std::filesystem::path(directory_) / name).string();
}

RunIdentity Trainer::identity() const {
    return {config_.identity(), data_.fingerprint, backend_.device().id, name_of(arithmetic_)};
}

LossOptions Trainer::loss_options() const {
    return {.epsilon = static_cast<float>(config_.training.label_smoothing), .smoothing = config_.training.smoothing};
}

CheckpointTensors Trainer::tensors() const {
    return {parameters_.flat_values(), optimizer_.first_moment(), optimizer_.second_moment()};
}

std::vector<Checkpoint> Trainer::whole_checkpoints(std::int64_t count, std::int64_t newest) const {
    return checkpoints_.newest_whole(
        count, newest, [&](const std::string& why) { hooks_.say("warning: passing over a checkpoint: " + why); });
}

bool Trainer::resume(Purpose purpose) {
    const std::vector<Checkpoint> found = whole_checkpoints(1, std::numeric_limits<std::int64_t>::max());
    if (found.empty()) {
        if (!checkpoints_.steps().empty()) {
            throw Error(
                fmt::format("none of the checkpoints in {} can be used: restore one from a copy, or choose "
                            "another --output to begin anew",
                            path("checkpoints")));
        }
        return false;
    }
    const Checkpoint& checkpoint = found.front();
    const std::string& file = checkpoint.path();
    const std::string warning = compare_identity(checkpoint.state(), identity(), file, purpose);
    if (!warning.empty()) {
        hooks_.say("warning: " + warning);
    }
    const std::optional<LossScaleState<double>> start =
        std::exchange(state_, parse_training_state(checkpoint.state(), file)).loss_scale;
    if (checkpoint.state().value("device", "") != backend_.device().id) {
        state_.part_tokens = 0;  // another device has other memory
    }
    if (!scales_loss() || !state_.loss_scale) {  // the run was, or now is, one without
        state_.loss_scale = start;
    }
    if (purpose == Purpose::Train) {  // a batch of another size is no matter else
        batcher_.set_state(state_.batcher);
    }
    checkpoint.read(backend_, tensors());
    parameters_.refresh_working();
    if (scales_loss()) {
        optimizer_.set_loss_scale(*state_.loss_scale);
    }
    seconds_before_ = state_.seconds;
    hooks_.say(fmt::format("going on after step {} from {}", state_.step, file));
    return true;
}

RunEnd Trainer::run() {
    const TrainingOptions& t = config_.training;
    const Schedule schedule = config_.schedule(model_config_);
    log_.emplace(path("log.jsonl"), state_.step);
    resumed_at_ = reported_at_ = checkpointed_at_ = Clock::now();
    std::int64_t checkpointed = state_.step;
    bool due = false;
    while (!finished() && !hooks_.stop_requested()) {
        const std::vector<std::size_t> pairs = batcher_.next();
        ++state_.step;
        train_on(pairs, schedule(state_.step));
        state_.batcher = batcher_.state();
        if (state_.step % t.report_every == 0) {
            report();
        }
        if (valid_ && t.validate_every > 0 && state_.step % t.validate_every == 0) {
            validate_now();
        }
        due = due || checkpoint_due();
        if (due && !skipping()) {
            checkpoint();
            checkpointed = state_.step;
            due = false;
        }
        require_progress();
    }
    collect();
    require_progress();
    const bool done = finished();
    if (done && state_.totals.steps + state_.totals.skipped > 0) {
        report();
    }
    if (checkpointed != state_.step) {
        checkpoint();
    }
    return done ? RunEnd::Finished : RunEnd::Stopped;
}

void Trainer::train_on(const std::vector<std::size_t>& pairs, double learning_rate) {
    for (;;) {
        const std::vector<Batch> parts = batcher_.micro_batches(pairs, part_budget());
        try {
            train_step(parts, learning_rate, true);
            return;
        } catch (const OutOfMemory& error) {
            if (!halve_parts(parts, error)) {
                throw;
            }
        }
    }
}

BatchBudget Trainer::part_budget() const {
    BatchBudget budget = micro_budget(config_.training);
    if (state_.part_tokens > 0) {
        budget.source_tokens = budget.target_tokens = state_.part_tokens;
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
    const BatchBudget budget = part_budget();
    state_.part_tokens = std::max<std::int64_t>(std::max(budget.source_tokens, budget.target_tokens) / 2, 1);
    history_.forget_losses();
    hooks_.say(
        fmt::format("{}. From here on steps run in parts of {} padded tokens", error.what(), state_.part_tokens));
    return true;
}

void Trainer::train_step(const std::vector<Batch>& parts, double learning_rate, bool regularise) {
    const auto step = static_cast<std::int32_t>(state_.step);
    backend_.upload(step_tensor_, &step, sizeof(step));
    TrainingPass::Rules rules{.regularisation = regularisation_of(config_.training),
                              .loss = loss_options(),
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
    history_.finish_step(optimizer_.scalars(), watch_ ? watch_->squares() : Tensor());
    pending_.push_back(tokens);
    if (history_.full()) {
        collect();
    }
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
    }
    pending_.clear();
    state_.totals.seconds += seconds_since(reported_at_);
    reported_at_ = Clock::now();
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

void Trainer::checkpoint() {
    collect();
    state_.seconds = seconds_done();
    const std::string file = checkpoints_.file_of(state_.step);
    write_checkpoint(backend_, file, tensors(), to_json(state_, identity()));
    if (!skipping()) {  // else its weights may be the first bad ones
        checkpoints_.keep_last(config_.training.keep_last, state_.step);
    }
    hooks_.say(fmt::format("checkpoint {} after {}", file, duration_text(state_.seconds / 60.0)));
    checkpointed_at_ = reported_at_ = Clock::now();
}

// Whether the newest step was skipped. A checkpoint would then hold the weights of an earlier step, which may be those
// that no gradient leads on from, and would push out one of before them.
bool Trainer::skipping() {
    collect();
    return state_.totals.skipped_in_a_row > 0;
}

bool Trainer::finished() const {
    const TrainingOptions& t = config_.training;
    return (t.steps > 0 && state_.step >= t.steps) || (t.epochs > 0.0 && epochs_done() >= t.epochs) ||
           (t.minutes > 0.0 && seconds_done() >= t.minutes * 60.0);
}

bool Trainer::checkpoint_due() const {
    const TrainingOptions& t = config_.training;
    return (t.checkpoint_every > 0 && state_.step % t.checkpoint_every == 0) ||
           (t.checkpoint_minutes > 0.0 && seconds_since(checkpointed_at_) >= t.checkpoint_minutes * 60.0);
}

double Trainer::epochs_done() const {
    const BatcherState at = batcher_.state();
    return static_cast<double>(at.epoch) +
           static_cast<double>(at.step) / static_cast<double>(batcher_.steps_per_epoch());
}

double Trainer::seconds_done() const {
    return seconds_before_ + seconds_since(resumed_at_);
}

}  // namespace headscope
