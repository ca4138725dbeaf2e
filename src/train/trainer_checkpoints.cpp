// A trainer's checkpoints: written, taken up, and gone back to where a run goes astray.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/model_directory.h"
#include "support/check.h"
#include "train/trainer.h"

namespace headscope {
namespace {

// A single bad batch is skipped in silence; so many in a row mean that no later step will do better.
constexpr std::int64_t kMostSkippedInARow = 10;

}  // namespace

RunIdentity Trainer::identity() const {
    return {config_.identity(), data_.fingerprint(), backend_.device().id, name_of(arithmetic_)};
}

CheckpointTensors Trainer::tensors() const {
    return {parameters_.flat_values(), optimizer_.first_moment(), optimizer_.second_moment(),
            mean_ ? mean_->values() : Tensor()};
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
    const std::string warning = compare_identity(checkpoint.state(), identity(), checkpoint.path(), purpose);
    if (!warning.empty()) {
        hooks_.say("warning: " + warning);
    }
    take_up(checkpoint, purpose);
    if (best_is_of_other_text()) {
        measure_best_again();
        checkpoint.read(backend_, tensors());
        parameters_.refresh_working();
    }
    if (purpose == Purpose::Train && config_.training.tokens > 0 && state_.tokens == 0) {
        throw Error(
            fmt::format("{} was written by a version that counted no tokens, and \"training.tokens\" is {}: limit "
                        "\"steps\" or \"epochs\" instead",
                        checkpoint.path(), config_.training.tokens));
    }
    seconds_before_ = state_.seconds;
    resumed_at_ = now();
    hooks_.say(purpose == Purpose::Train
                   ? fmt::format("going on after step {} from {}", state_.step, checkpoint.path())
                   : fmt::format("finishing a run that stands after step {}, by {}", state_.step, checkpoint.path()));
    return true;
}

void Trainer::begin() {
    parameters_.initialise(static_cast<std::uint64_t>(config_.training.seed));
    if (!from_.empty()) {
        load_parameters(backend_, (std::filesystem::path(from_) / "model.safetensors").string(), parameters_);
    }
    optimizer_.begin();
    if (mean_) {
        mean_->begin();
    }
    state_ = {};
    if (scales_loss()) {
        state_.loss_scale = {config_.training.loss_scale, 0.0};
    }
    batcher_.set_state({});
}

void Trainer::take_up(const Checkpoint& checkpoint, Purpose purpose) {
    const std::string& file = checkpoint.path();
    const std::optional<LossScaleState<double>> start =
        std::exchange(state_, parse_training_state(checkpoint.state(), file)).loss_scale;
    if (checkpoint.state().value("device", "") != backend_.device().id) {
        state_.part_tokens = 0;  // another device has other memory
    }
    if (!scales_loss() || !state_.loss_scale) {  // the run was, or now is, one without
        state_.loss_scale = start;
    }
    if (state_.kept.empty()) {  // written when the folder alone knew
        for (const std::int64_t step : checkpoints_.steps()) {
            if (step <= state_.step) {
                state_.kept.push_back({step, true});
            }
        }
    }
    if (purpose == Purpose::Train) {  // a batch of another size is no matter else
        batcher_.set_state(state_.batcher);
    }
    checkpoint.read(backend_, tensors());
    parameters_.refresh_working();
    if (scales_loss()) {
        optimizer_.set_loss_scale(*state_.loss_scale);
    }
    guard_.set_state(state_.guard);
}

void Trainer::checkpoint(bool was_due) {
    collect();
    state_.checkpoint_due = state_.checkpoint_due && !was_due;
    state_.seconds = seconds_done();
    state_.epochs = progress().epochs;
    state_.guard = guard_.state();
    if (was_due) {
        note_kept();
    }
    const std::string file = checkpoints_.file_of(state_.step);
    write_checkpoint(backend_, file, tensors(), to_json(state_, identity()));
    checkpointed_ = state_.step;
    if (!skipping()) {  // else its weights may be the first bad ones
        std::vector<std::int64_t> steps = {state_.step};
        for (const TrainingState::Kept& kept : state_.kept) {
            steps.push_back(kept.step);
        }
        checkpoints_.keep(steps, state_.step);
    }
    hooks_.say(fmt::format("checkpoint {} after {}", file, duration_text(state_.seconds / 60.0)));
    checkpointed_at_ = reported_at_ = now();
}

// The newest `keep_last`, and the newest healthy one if that is older.
void Trainer::note_kept() {
    std::vector<TrainingState::Kept>& kept = state_.kept;
    kept.push_back({state_.step, guard_.healthy()});
    while (std::ssize(kept) > config_.training.keep_last) {
        const auto good = std::find_if(kept.rbegin(), kept.rend(), [](const auto& one) { return one.healthy; });
        if (good == std::prev(kept.rend())) {
            if (std::ssize(kept) == config_.training.keep_last + 1) {
                return;
            }
            kept.erase(std::next(kept.begin()));
        } else {
            kept.erase(kept.begin());
        }
    }
}

// Those that were due, so that the model does not depend on when the run was stopped, and where it stands.
std::vector<std::int64_t> Trainer::steps_to_average() const {
    const std::vector<std::int64_t> there = checkpoints_.steps();
    std::vector<std::int64_t> steps;
    for (const std::int64_t step : there) {
        const bool kept = std::any_of(state_.kept.begin(), state_.kept.end(),
                                      [&](const TrainingState::Kept& one) { return one.step == step; });
        if (kept || step == state_.step) {
            steps.push_back(step);
        }
    }
    const std::ptrdiff_t surplus = std::ssize(steps) - config_.training.average_last;
    steps.erase(steps.begin(), steps.begin() + std::max<std::ptrdiff_t>(surplus, 0));
    return steps;
}

bool Trainer::astray() const {
    // A smaller loss scale may yet help a skipped step.
    return guard_.diverged() || state_.totals.stuck_in_a_row >= kMostSkippedInARow;
}

std::string Trainer::trouble() const {
    const GuardState& guard = guard_.state();
    if (state_.totals.stuck_in_a_row < kMostSkippedInARow) {
        return guard.above >= guard_.options().steps
                   ? fmt::format(
                         "step {}: the mean nll was more than {} above its lowest, {:.4f}, for {} steps in a row, "
                         "and is {:.4f}",
                         state_.step, guard_.options().margin, guard.lowest, guard.above, guard.mean)
                   : fmt::format("step {}: the loss on the validation text is not finite", state_.step);
    }
    const std::int64_t skipped = state_.totals.skipped_in_a_row;
    return fmt::format(
        "step {}: the gradients of the last {} steps were not finite{}{}: the weights after step {} lead nowhere",
        state_.step, skipped,
        state_.totals.first_not_finite.empty()
            ? ""
            : fmt::format(", first on the way back that of {}", state_.totals.first_not_finite),
        scales_loss() ? fmt::format(", the last ones at a loss scale of {:g}", state_.loss_scale->scale) : "",
        state_.step - skipped);
}

// The step after a checkpoint shows what its weights are worth: one that is older than the newest weights had a finite
// gradient.
std::optional<Checkpoint> Trainer::newest_good() const {
    const std::int64_t spoilt = state_.step - state_.totals.skipped_in_a_row;
    const std::vector<std::int64_t> there = checkpoints_.steps();
    for (auto kept = state_.kept.rbegin(); kept != state_.kept.rend(); ++kept) {
        if (!kept->healthy || kept->step >= spoilt || !std::binary_search(there.begin(), there.end(), kept->step)) {
            continue;
        }
        try {
            return Checkpoint::open(checkpoints_.file_of(kept->step));
        } catch (const Error& error) {
            hooks_.say(fmt::format("warning: passing over a checkpoint: {}", error.what()));
        }
    }
    return std::nullopt;
}

std::string Trainer::way_back() const {
    constexpr const char* kGentler = "lower \"learning_rate_scale\" or set \"clip_norm\"";
    const std::optional<Checkpoint> found = newest_good();
    if (!found) {
        return fmt::format("there is no checkpoint of before that: {}, and begin anew in another --output", kGentler);
    }
    const std::int64_t good = count_at(found->state(), "step");
    std::vector<std::string> unusable;
    for (const std::int64_t step : checkpoints_.steps()) {
        if (step > good) {
            unusable.push_back(checkpoints_.file_of(step));
        }
    }
    const std::string remove = unusable.empty() ? "" : fmt::format("remove {}, ", fmt::join(unusable, " and "));
    return fmt::format("{}{}, and --resume goes on after step {}, before it went wrong", remove, kGentler, good);
}

void Trainer::recover() {
    const std::string why = trouble();
    if (!guard_.may_return()) {
        const std::int64_t returns = guard_.state().returns;
        throw Error(fmt::format("{}; {}{}{}", why,
                                returns == 0 ? "" : fmt::format("{} returns at a lower rate did not help; ", returns),
                                way_back(), guard_.diverged() ? "" : "; HEADSCOPE_SCAN_NAN=1 names the op"));
    }
    const TrainingState before = state_;
    const GuardState spent = guard_.state();
    const std::optional<Checkpoint> good = newest_good();
    if (good) {
        take_up(*good, Purpose::Train);
    } else {
        begin();
    }
    guard_.set_state(spent);
    guard_.go_back(state_.guard);
    state_.guard = guard_.state();
    if (state_.best && before.best && state_.best->text != before.best->text) {
        state_.validations_since_best = 0;  // it counts those on other text
    }
    state_.best = before.best;  // measured, and still on the disk
    state_.part_tokens = before.part_tokens;
    state_.seconds = seconds_done();
    state_.epochs = progress().epochs;
    // A run that is killed now either finds this, or comes to the same decision again.
    if (good) {
        write_checkpoint(backend_, good->path(), tensors(), to_json(state_, identity()));
    }
    checkpoints_.remove_after(state_.step);
    checkpointed_ = state_.step;
    say_return(before.step, why);
}

void Trainer::say_return(std::int64_t from, const std::string& why) {
    const GuardState& guard = guard_.state();
    const std::string to =
        state_.step == 0 ? "the beginning" : fmt::format("the checkpoint after step {}", state_.step);
    hooks_.say(
        fmt::format("{}: going back to {}, from where the learning rate is {:g} of what it was meant to be "
                    "(return {} of at most {})",
                    why, to, guard.rate_factor, guard.returns, guard_.options().returns));
    open_logs();
    log({{"kind", "return"},
         {"step", state_.step},
         {"from", from},
         {"reason", why},
         {"rate_factor", guard.rate_factor},
         {"returns", guard.returns}});
}

}  // namespace headscope
