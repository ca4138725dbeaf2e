// What a run does when it has diverged.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "support/check.h"
#include "train/first_model.h"
#include "train/run.h"

namespace headscope {
namespace {

// One bad batch is skipped without a word; this many skipped steps in a row mean that no later step will do better.
constexpr std::int64_t kMostSkippedInARow = 10;

}  // namespace

bool Run::diverged() const {
    // As long as the loss scale can fall, a skipped step may not be the last word.
    return guard_.diverged() || state_.totals.stuck_in_a_row >= kMostSkippedInARow;
}

std::string Run::divergence() const {
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
        "step {}: the gradients of the last {} steps were not finite{}{}: training cannot continue from the weights "
        "after step {}",
        state_.step, skipped,
        state_.totals.first_not_finite.empty()
            ? ""
            : fmt::format(", first in the backward pass: {}", state_.totals.first_not_finite),
        state_.loss_scale ? fmt::format(", the last ones at a loss scale of {:g}", state_.loss_scale->scale) : "",
        state_.step - skipped);
}

// The step after a checkpoint shows what its weights are worth: those of a checkpoint older than the newest weights had
// a finite gradient.
std::optional<Checkpoint> Run::newest_good() const {
    const std::int64_t newest_weights = state_.step - state_.totals.skipped_in_a_row;
    const std::vector<std::int64_t> there = checkpoints_.steps();
    for (auto kept = state_.kept.rbegin(); kept != state_.kept.rend(); ++kept) {
        if (kept->healthy && kept->step < newest_weights &&
            std::binary_search(there.begin(), there.end(), kept->step)) {
            if (std::optional<Checkpoint> found = open_or_warn(kept->step)) {
                return found;
            }
        }
    }
    return std::nullopt;
}

std::string Run::advice() const {
    constexpr const char* kGentler = "lower \"learning_rate_scale\" or set \"clip_norm\"";
    const std::optional<Checkpoint> found = newest_good();
    if (!found) {
        return fmt::format("there is no earlier checkpoint: {}, and start again with another --output", kGentler);
    }
    const std::int64_t good = count_at(found->state(), "step");
    std::vector<std::string> unusable;
    for (const std::int64_t step : checkpoints_.steps()) {
        if (step > good) {
            unusable.push_back(checkpoints_.file_of(step));
        }
    }
    const std::string remove = unusable.empty() ? "" : fmt::format("remove {}, ", fmt::join(unusable, " and "));
    return fmt::format("{}{}, and --resume continues after step {}, before the divergence", remove, kGentler, good);
}

void Run::recover() {
    const std::string why = divergence();
    if (!guard_.may_return()) {
        const std::int64_t returns = guard_.state().returns;
        throw Error(fmt::format("{}; {}{}{}", why,
                                returns == 0 ? "" : fmt::format("{} returns at a lower rate did not help; ", returns),
                                advice(), guard_.diverged() ? "" : "; HEADSCOPE_SCAN_NAN=1 names the op"));
    }
    const TrainingState before = state_;
    const GuardState spent = guard_.state();
    std::vector<Checkpoint> good;
    if (std::optional<Checkpoint> found = leads() ? newest_good() : std::nullopt) {
        good.push_back(std::move(*found));
    }
    good = of_leader(std::move(good));
    if (!good.empty()) {
        restore(good.front(), Purpose::Train);
    } else {
        learner_.begin();
        if (!from_.empty()) {
            load_first_model(learner_, config_, from_);
        }
        state_ = first_state();
        source_->set_state(state_.source);
    }
    guard_.set_state(spent);
    guard_.go_back(state_.guard);
    state_.guard = guard_.state();
    if (state_.best && before.best && state_.best->text != before.best->text) {
        state_.validations_since_best = 0;  // it counted validations on another text
    }
    state_.best = before.best;  // its file still exists
    state_.part_tokens = before.part_tokens;
    state_.flops = before.flops;  // that work was done
    note_progress();
    // A run that is killed now either finds this checkpoint, or comes to the same decision again.
    learner_.ranks().meet();  // all have read what is written again or removed
    if (!good.empty()) {
        write(good.front().path());
    }
    if (leads()) {
        checkpoints_.remove_after(state_.step);
    }
    checkpointed_ = state_.step;
    report_return(before.step, why);
}

void Run::report_return(std::int64_t from, const std::string& why) {
    const GuardState& guard = guard_.state();
    const std::string to =
        state_.step == 0 ? "the beginning" : fmt::format("the checkpoint after step {}", state_.step);
    hooks_.say(
        fmt::format("{}: returning to {}, with the learning rate scaled by {:g} from there on (return {} of at "
                    "most {})",
                    why, to, guard.rate_factor, guard.returns, guard_.options().returns));
    if (leads()) {
        log_.open(state_.step);
    }
    log({{"kind", "return"},
         {"step", state_.step},
         {"from", from},
         {"reason", why},
         {"rate_factor", guard.rate_factor},
         {"returns", guard.returns}});
}

}  // namespace headscope
