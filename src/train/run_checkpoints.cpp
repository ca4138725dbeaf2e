// Checkpoints of a run: what is written, kept and continued from.
#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"
#include "support/duration.h"
#include "train/run.h"

namespace headscope {

RunIdentity Run::identity() const {
    return {config_.identity(), data_.fingerprint(), device_, name_of(learner_.options().arithmetic)};
}

bool Run::resume(Purpose purpose) {
    std::vector<Checkpoint> found;
    if (leads()) {
        found = checkpoints_.newest_whole(1, std::numeric_limits<std::int64_t>::max(), [&](const std::string& why) {
            hooks_.say("warning: skipping a checkpoint: " + why);
        });
    }
    found = of_leader(std::move(found));
    if (found.empty()) {
        if (!checkpoints_.steps().empty()) {
            throw Error(
                fmt::format("none of the checkpoints in {} can be used: restore one from a copy, or start "
                            "again with another --output",
                            path("checkpoints")));
        }
        return false;
    }
    const Checkpoint& checkpoint = found.front();
    const std::string warning = compare_identity(checkpoint.state(), identity(), checkpoint.path(), purpose);
    if (!warning.empty()) {
        hooks_.say("warning: " + warning);
    }
    restore(checkpoint, purpose);
    if (best_is_of_other_text()) {
        measure_best_again();
        read_tensors(checkpoint);
    }
    if (purpose == Purpose::Train && config_.training.tokens > 0 && state_.tokens == 0) {
        throw Error(
            fmt::format("{} was written by a version that counted no tokens, and \"training.tokens\" is {}: limit "
                        "\"steps\" or \"epochs\" instead",
                        checkpoint.path(), config_.training.tokens));
    }
    seconds_before_ = state_.seconds;
    resumed_at_ = clock_.now();
    hooks_.say(purpose == Purpose::Train
                   ? fmt::format("resuming after step {} from {}", state_.step, checkpoint.path())
                   : fmt::format("finishing a run after step {} from {}", state_.step, checkpoint.path()));
    return true;
}

std::vector<Checkpoint> Run::of_leader(std::vector<Checkpoint> found) const {
    Communicator& ranks = learner_.ranks();
    if (ranks.size() == 1) {
        return found;
    }
    nlohmann::json states = nlohmann::json::array();
    for (const Checkpoint& checkpoint : found) {
        states.push_back(checkpoint.state());
    }
    states = nlohmann::json::parse(ranks.broadcast(states.dump()));
    if (leads()) {
        return found;
    }
    found.clear();
    for (const nlohmann::json& state : states) {
        const Checkpoint& own = found.emplace_back(Checkpoint::open(checkpoints_.file_of(count_at(state, "step"))));
        if (own.state() != state) {
            throw Error(
                fmt::format("{} and {} see different files as {}: the --output folder must be one that all machines "
                            "share",
                            ranks.name_of(0), ranks.name_of(ranks.rank()), own.path()));
        }
    }
    return found;
}

void Run::restore(const Checkpoint& checkpoint, Purpose purpose) {
    const std::string& file = checkpoint.path();
    const std::optional<LossScaleState<double>> start =
        std::exchange(state_, parse_training_state(checkpoint.state(), file)).loss_scale;
    if (checkpoint.state().value("device", "") != device_) {
        state_.part_tokens = 0;  // another device has other memory
    }
    if (!learner_.scales_loss() || !state_.loss_scale) {  // the precision has changed
        state_.loss_scale = start;
    }
    if (state_.kept.empty()) {  // of an earlier version, which kept no list
        for (const std::int64_t step : checkpoints_.steps()) {
            if (step <= state_.step) {
                state_.kept.push_back({step, true});
            }
        }
    }
    if (purpose == Purpose::Train) {  // otherwise the batches may have another size
        source_->set_state(state_.source);
    }
    read_tensors(checkpoint);
    if (state_.loss_scale) {
        learner_.set_loss_scale(*state_.loss_scale);
    }
    learner_.set_updates(state_.updates);
    guard_.set_state(state_.guard);
}

void Run::write(const std::string& checkpoint) {
    Communicator& ranks = learner_.ranks();
    CheckpointTensors all = collect_tensors(learner_);
    all.others = source_->tensors();
    if (leads()) {
        ranks.announce("writing a checkpoint", Communicator::Takes::Long);
        write_checkpoint(learner_.backend(), checkpoint, all, to_json(state_, identity()));
    }
    ranks.announce(fmt::format("checkpoint after step {}", state_.step));
}

void Run::read_tensors(const Checkpoint& checkpoint) {
    CheckpointTensors all = tensors_of(learner_);
    all.others = source_->tensors();
    checkpoint.read(learner_.backend(), all);
    learner_.parameters().refresh_working();
    source_->tensors_read();
}

bool Run::checkpoint_due() const {
    const TrainingOptions& t = config_.training;
    return (t.checkpoint_every > 0 && state_.step % t.checkpoint_every == 0) ||
           (t.checkpoint_minutes > 0.0 && clock_.now() - checkpointed_at_ >= t.checkpoint_minutes * 60.0);
}

bool Run::stays(std::int64_t step) const {
    return config_.training.keep_powers_of_two && std::has_single_bit(static_cast<std::uint64_t>(step));
}

void Run::checkpoint(bool was_due) {
    collect();
    state_.checkpoint_due = state_.checkpoint_due && !was_due;
    note_progress();
    state_.guard = guard_.state();
    if (was_due) {
        state_.note_kept(guard_.healthy(), config_.training.keep_last);
    }
    const std::string file = checkpoints_.file_of(state_.step);
    write(file);
    checkpointed_ = state_.step;
    if (leads() && state_.totals.skipped_in_a_row == 0) {  // otherwise its weights may be the first bad ones
        std::vector<std::int64_t> steps = {state_.step};
        for (const TrainingState::Kept& kept : state_.kept) {
            steps.push_back(kept.step);
        }
        std::ranges::copy_if(checkpoints_.steps(), std::back_inserter(steps),
                             [this](std::int64_t step) { return stays(step); });
        checkpoints_.keep(steps, state_.step);
    }
    hooks_.say(fmt::format("checkpoint {} after {}", file, duration_text(state_.seconds / 60.0)));
    share_clock();
    checkpointed_at_ = reported_at_ = clock_.now();
}

// The scheduled checkpoints and the current one. Checkpoints that were written because the run was stopped do not
// count, so stops do not change the model.
std::vector<Checkpoint> Run::checkpoints_to_average() const {
    if (!leads()) {
        return of_leader({});
    }
    std::vector<std::int64_t> steps;
    for (const std::int64_t step : checkpoints_.steps()) {
        const bool kept = std::any_of(state_.kept.begin(), state_.kept.end(),
                                      [&](const TrainingState::Kept& one) { return one.step == step; });
        if (kept || step == state_.step) {
            steps.push_back(step);
        }
    }
    const std::ptrdiff_t surplus = std::ssize(steps) - config_.training.average_last;
    steps.erase(steps.begin(), steps.begin() + std::max<std::ptrdiff_t>(surplus, 0));
    std::vector<Checkpoint> found;
    for (const std::int64_t step : steps) {
        if (std::optional<Checkpoint> checkpoint = open_or_warn(step)) {
            found.push_back(std::move(*checkpoint));
        }
    }
    return of_leader(std::move(found));
}

std::optional<Checkpoint> Run::open_or_warn(std::int64_t step) const {
    try {
        return Checkpoint::open(checkpoints_.file_of(step));
    } catch (const Error& error) {
        hooks_.say(fmt::format("warning: skipping a checkpoint: {}", error.what()));
        return std::nullopt;
    }
}

}  // namespace headscope
