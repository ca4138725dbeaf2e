#include "train/run.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/check.h"
#include "support/counted.h"
#include "train/first_model.h"
#include "train/step_options.h"
#include "train/target_frequencies.h"

namespace headscope {

Learner make_learner(Backend& backend, const TrainConfig& config, const TrainingData& data, const RunHooks& hooks) {
    LearnerOptions options = learner_options(config.training, arithmetic_of(config, backend));
    options.label = hooks.label;
    options.objective = config.objective();
    options.ranks = hooks.ranks;
    const ModelConfig model = config.model_config(*data.source_tokenizer, *data.target_tokenizer);
    if (model.adaptive() && hooks.ranks->leads()) {
        hooks.say(shares_of_clusters(target_frequencies(*data.train, data.frame, model.target_vocabulary),
                                     model.output.adaptive.cutoffs));
    }
    if (config.training.smoothing_towards == SmoothingTowards::Unigram) {
        options.prior = target_frequencies(*data.train, data.frame, model.target_vocabulary);
    }
    return {backend, model, std::move(options)};
}

void say_start(const Learner& learner, const StepSource& source, const TrainConfig& config, const TrainingData& data,
               const Log& say) {
    const DeviceInfo& device = learner.backend().device();
    const std::int64_t steps = source.about_steps_per_epoch();
    const int ranks = learner.ranks().size();
    say(fmt::format("{} parameters on {} ({}), {}, about {} per epoch{}", learner.parameters().count(), device.id,
                    device.name, name_of(learner.options().arithmetic), counted(steps, "step"),
                    ranks == 1 ? "" : fmt::format(", in {} shards on {} ranks", learner.options().shards, ranks)));
    const auto each = static_cast<double>(std::max<std::int64_t>(steps, 1));
    const auto tokens = static_cast<double>(data.train->predicted_tokens());
    const std::string early =
        ends_in_warmup(config.training.limits().about_steps(each, tokens / each).steps, config.training.warmup_steps);
    if (!early.empty()) {
        say(early);
    }
}

Run::Run(Learner& learner, const TrainConfig& config, TrainingData data, std::string folder, RunHooks hooks,
         std::unique_ptr<StepSource> source)
    : learner_(learner),
      config_(config),
      data_(std::move(data)),
      folder_(std::move(folder)),
      hooks_(std::move(hooks)),
      source_(source ? std::move(source) : make_batcher(config.training, data_)),
      start_(source_->state()),
      count_flops_(learner_.model_config(), learner_.parameters().total()),
      checkpoints_(path("checkpoints")),
      guard_(config.training.guard),
      log_(folder_, config.training.tensorboard, hooks_.say),
      device_(learner.ranks().broadcast(learner.backend().device().id)),
      clock_(learner.ranks().size() == 1 ? hooks_.clock : [this] { return clock_of_all_; }) {
    if (leads()) {
        checkpoints_.remove_leftovers();
    } else {
        hooks_.say = [](const std::string&) {};
        hooks_.report = {};
    }
    if (data_.valid) {
        validator_.emplace(learner_, config_.training, data_, path("model"));
    } else if (config.training.patience > 0) {
        throw Error(
            fmt::format("{}: \"training.patience\" ({}) counts validations: name a validation text in "
                        "\"data.valid\", or leave it out",
                        config.file, config.training.patience));
    }
    state_ = first_state();
    say_start(learner_, *source_, config_, data_, hooks_.say);
    if (const std::string way = learner_.sum() == nullptr ? "" : learner_.sum()->connect(); !way.empty()) {
        hooks_.say(way);
    }
}

std::string Run::path(const char* name) const {
    return (std::filesystem::path(folder_) / name).string();
}

TrainingState Run::first_state() const {
    TrainingState state;
    state.source = start_;
    if (learner_.scales_loss()) {
        state.loss_scale = {config_.training.loss_scale, 0.0};
    }
    return state;
}

void Run::begin_from(const std::string& model_directory) {
    load_first_model(learner_, config_, model_directory);
    from_ = model_directory;
    hooks_.say(fmt::format("starting from the weights of {}", model_directory));
}

bool Run::agreed(bool mine) {
    Communicator& ranks = learner_.ranks();
    if (ranks.size() == 1) {
        return mine;
    }
    struct Opinion {
        double clock = 0.0;
        std::uint64_t answer = 0;
    } opinion{.clock = hooks_.clock(), .answer = mine ? 1U : 0U};
    std::string bytes(sizeof opinion, '\0');
    std::memcpy(bytes.data(), &opinion, sizeof opinion);
    bytes = ranks.broadcast(bytes);
    std::memcpy(&opinion, bytes.data(), sizeof opinion);
    clock_of_all_ = opinion.clock;
    return opinion.answer != 0;
}

void Run::log(const nlohmann::json& line) {
    if (leads()) {
        log_.add(line);
    }
}

RunEnd Run::train() {
    if (leads()) {
        if (state_.step == 0) {
            std::filesystem::remove(path(kBestFile));  // left by a run that was given up
        }
        log_.open(state_.step);
    }
    share_clock();
    resumed_at_ = reported_at_ = checkpointed_at_ = clock_.now();
    checkpointed_ = state_.step;
    learning_rate_ = learning_rate(std::max<std::int64_t>(state_.step, 1));
    for (train_until_stopped(); agreed(diverged()); train_until_stopped()) {
        recover();
    }
    const bool done = agreed(finished());
    if (done && state_.totals.steps + state_.totals.skipped > 0) {
        report();
    }
    if (done && patience_spent()) {
        hooks_.say(fmt::format("stopping: {} validations in a row were no better than the one after step {}",
                               state_.validations_since_best, state_.best->step));
    }
    if (checkpointed_ != state_.step) {
        checkpoint(false);
    }
    return done ? RunEnd::Finished : RunEnd::Stopped;
}

// Also ends when the run has diverged. Leaves nothing in the learner's history.
void Run::train_until_stopped() {
    const TrainingOptions& t = config_.training;
    while (agreed((!finished() && !diverged() && !hooks_.stop_requested()) || !source_->between())) {
        take_step();
        if (state_.step % t.report_every == 0 || (finished() && source_->between())) {
            report();
        }
        if (validator_ && t.validate_every > 0 && state_.step % t.validate_every == 0) {
            validate();
        }
        state_.checkpoint_due = state_.checkpoint_due || checkpoint_due();
        const bool wanted = (state_.checkpoint_due || stays(state_.step)) && source_->between();
        if (wanted) {
            collect();
        }
        // After a skipped step a checkpoint would repeat the weights of an earlier step, from which perhaps no finite
        // gradient leads on, and would push out a checkpoint from before them.
        if (wanted && agreed(state_.totals.skipped_in_a_row == 0 && !diverged())) {
            checkpoint(state_.checkpoint_due);
        }
    }
    collect();
}

void Run::take_step() {
    learning_rate_ = learning_rate(state_.step + 1);
    source_->use_rate(learning_rate_);
    const TrainingStep step = source_->next();
    ++state_.step;
    learner_.ranks().announce(fmt::format("step {}", state_.step));
    ShardParts shards;
    do {
        shards = shard_parts(step.examples, data_.frame, config_.training, state_.part_tokens);
    } while (!learn(shards, step.divisor));
    for (const std::vector<Batch>& parts : shards) {
        for (const Batch& part : parts) {
            state_.tokens += part.predicted.count;
        }
        if (state_.flops) {
            *state_.flops += count_flops_.of(parts).total();
        }
    }
    trained_ = true;
    // Not in learn(): reading may run out of memory too, and a step that was taken must not be repeated.
    if (learner_.history_full()) {
        collect();
    }
    state_.source = source_->state();
}

// False if the parts do not fit in memory: then they become smaller. Gradients add up, so that only the order of sums
// changes, except where parts_matter() says more.
bool Run::learn(const ShardParts& shards, std::optional<double> divisor) {
    try {
        learner_.step(shards, state_.step, learning_rate_, divisor);
        return true;
    } catch (const OutOfMemory& error) {
        std::int64_t largest = 0;
        bool divisible = false;
        for (const std::vector<Batch>& parts : shards) {
            for (const Batch& part : parts) {
                largest = std::max(largest, part.sentences * std::max(part.source.length, part.target.length));
                divisible = divisible || part.examples() > 1;
            }
        }
        if (!config_.training.split_when_out_of_memory || !divisible) {
            throw;
        }
        state_.part_tokens = std::max<std::int64_t>(largest / 2, 1);
        hooks_.say(fmt::format("{}. From here on steps run in parts of {} padded tokens{}", error.what(),
                               state_.part_tokens, parts_matter(learner_.model_config(), config_.training)));
        return false;
    }
}

// Adds the learner's history to the totals; waits for the device.
void Run::collect() {
    for (const StepRecord& record : learner_.take_history()) {
        const double scale = state_.loss_scale ? state_.loss_scale->scale : 1.0;
        state_.totals.add(record, state_.loss_scale && record.loss_scale.scale < scale);
        const std::vector<std::string>& measures = learner_.options().objective.measures;
        for (std::size_t i = 0; i < measures.size() && !record.skipped; ++i) {
            state_.totals.measures[measures[i]] += record.measures[i];
        }
        if (learner_.watch() != nullptr) {
            count_gradients(record, record.divisor * scale);
        }
        if (state_.loss_scale) {
            state_.loss_scale = record.loss_scale;
        }
        state_.updates = record.updates;
        if (!record.skipped) {
            guard_.add(record.nll / record.divisor);
        }
    }
    state_.totals.seconds += clock_.now() - reported_at_;
    reported_at_ = clock_.now();
}

// The gradients of the record are sums over `divisor`.
void Run::count_gradients(const StepRecord& record, double divisor) {
    if (record.skipped) {
        state_.totals.first_not_finite = learner_.watch()->first_not_finite(record.gradient_squares);
        return;
    }
    ++state_.totals.watched_steps;
    for (const auto& [layer, norm] : learner_.watch()->norms(record.gradient_squares, divisor)) {
        state_.totals.layer_norms[layer] += norm;
    }
}

void Run::report() {
    collect();
    const Progress done = progress();
    const Report report{.step = state_.step,
                        .epoch = done.epochs,
                        .learning_rate = learning_rate_,
                        .minutes_left = config_.training.limits().minutes_left(done),
                        .loss_scale = state_.loss_scale ? state_.loss_scale->scale : 0.0,
                        .minutes = done.minutes,
                        .memory_bytes = learner_.backend().memory().peak,
                        .flops = state_.flops,
                        .of_source = source_->measures(),
                        .totals = state_.totals};
    if (hooks_.report) {
        hooks_.report(report);
    } else {
        hooks_.say(report.line());
    }
    log(report.json());
    state_.totals.restart();
}

bool Run::patience_spent() const {
    const std::int64_t patience = config_.training.patience;
    return patience > 0 && state_.validations_since_best >= patience;
}

std::string Run::ended_by() const {
    const std::string limit = config_.training.limits().reached_by(progress());
    return limit.empty() && patience_spent() ? fmt::format("\"training.patience\" ({})", config_.training.patience)
                                             : limit;
}

double Run::learning_rate(std::int64_t step) const {
    const double done = config_.training.limits().share(progress());
    return config_.schedule(learner_.model_config())(step, done) * guard_.state().rate_factor;
}

Progress Run::progress() const {
    return {.steps = state_.step,
            .epochs = source_->epochs_done(),
            .tokens = state_.tokens,
            .minutes = seconds_done() / 60.0};
}

double Run::seconds_done() const {
    return seconds_before_ + clock_.now() - resumed_at_;
}

void Run::note_progress() {
    state_.seconds = seconds_done();
    state_.epochs = source_->epochs_done();
}

}  // namespace headscope
