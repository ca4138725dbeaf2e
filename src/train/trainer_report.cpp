// What a trainer says of itself: reports, validations, and why it cannot go on.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"
#include "train/trainer.h"

namespace headscope {
namespace {

// A single bad batch is skipped in silence; so many in a row mean that no later step will do better.
constexpr std::int64_t kMostSkippedInARow = 10;

}  // namespace

void Trainer::log(const nlohmann::json& line) {
    try {
        log_->add(line);
    } catch (const Error& error) {  // a line of the log is not worth the steps since the last checkpoint
        hooks_.say(fmt::format("warning: {}", error.what()));
    }
}

void Trainer::report() {
    collect();
    const Report report{.step = state_.step,
                        .epoch = epochs_done(),
                        .learning_rate = config_.schedule(model_config_)(state_.step),
                        .minutes_left = minutes_left(),
                        .loss_scale = scales_loss() ? state_.loss_scale->scale : 0.0,
                        .totals = state_.totals};
    hooks_.say(report.line());
    log(report.json());
    state_.totals.restart();
}

void Trainer::validate_now() {
    collect();
    const ValidationLoss result = validate(backend_, model_, *valid_, loss_options(), arithmetic_.compute);
    const bool better = std::isfinite(result.nll) && (!state_.best || result.nll < state_.best->nll);
    if (better) {
        state_.best = {state_.step, result.nll};
        write_checkpoint(backend_, path("best.safetensors"), {parameters_.flat_values()},
                         {{"step", state_.step}, {"nll", result.nll}});
    }
    hooks_.say(fmt::format("validation after step {}: loss {:.4f}  nll {:.4f}  perplexity {:.3f}{}", state_.step,
                           result.loss, result.nll, std::exp(result.nll), better ? "  the best so far" : ""));
    log({{"kind", "validation"},
         {"step", state_.step},
         {"loss", result.loss},
         {"nll", result.nll},
         {"perplexity", std::exp(result.nll)},
         {"best", better}});
    reported_at_ = Clock::now();  // validation is no training time
}

void Trainer::require_progress() const {
    const std::int64_t skipped = state_.totals.skipped_in_a_row;
    if (state_.totals.stuck_in_a_row < kMostSkippedInARow) {  // a smaller loss scale may yet help
        return;
    }
    const std::int64_t spoilt = state_.step - skipped;  // the newest weights are those after this step
    throw Error(fmt::format(
        "step {}: the gradients of the last {} steps were not finite{}{}: the weights after step {} lead "
        "nowhere; {}; HEADSCOPE_SCAN_NAN=1 names the op",
        state_.step, skipped,
        state_.totals.first_not_finite.empty()
            ? ""
            : fmt::format(", first on the way back that of {}", state_.totals.first_not_finite),
        scales_loss() ? fmt::format(", the last ones at a loss scale of {:g}", state_.loss_scale->scale) : "", spoilt,
        way_back(spoilt)));
}

// The step after a checkpoint shows what its weights are worth: the newest that is older than `spoilt` had a finite
// gradient.
std::string Trainer::way_back(std::int64_t spoilt) const {
    constexpr const char* kGentler = "lower \"learning_rate_scale\" or set \"clip_norm\"";
    std::vector<std::string> unusable;
    std::optional<std::int64_t> good;
    for (const std::int64_t step : checkpoints_.steps()) {
        if (step < spoilt) {
            good = step;
        } else {
            unusable.push_back(checkpoints_.file_of(step));
        }
    }
    if (!good) {
        return fmt::format("there is no checkpoint of before that: {}, and begin anew in another --output", kGentler);
    }
    const std::string remove = unusable.empty() ? "" : fmt::format("remove {}, ", fmt::join(unusable, " and "));
    return fmt::format("{}{}, and --resume goes on after step {}, whose weights still had a finite gradient", remove,
                       kGentler, *good);
}

// The limit that will be reached first, at the pace so far.
double Trainer::minutes_left() const {
    const TrainingOptions& t = config_.training;
    const double minutes = seconds_done() / 60.0;
    double left = std::numeric_limits<double>::infinity();
    if (t.minutes > 0.0) {
        left = t.minutes - minutes;
    }
    if (t.steps > 0) {
        left = std::min(left, minutes * static_cast<double>(t.steps - state_.step) / static_cast<double>(state_.step));
    }
    if (t.epochs > 0.0 && epochs_done() > 0.0) {
        left = std::min(left, minutes * (t.epochs - epochs_done()) / epochs_done());
    }
    return std::isfinite(left) ? std::max(left, 0.0) : -1.0;
}

}  // namespace headscope
