// What a trainer says of itself: reports and validations.
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/check.h"
#include "train/step_options.h"
#include "train/trainer.h"

namespace headscope {
namespace {

// Every number of a line of the log, by the line's kind and its key.
void add_scalars(EventFile& events, const std::string& name, std::int64_t step, const nlohmann::json& values) {
    for (const auto& [key, value] : values.items()) {
        if (value.is_object()) {
            add_scalars(events, name + "/" + key, step, value);
        } else if (value.is_number() && key != "step") {
            events.scalar(name + "/" + key, step, value.get<double>());
        }
    }
}

}  // namespace

void Trainer::open_logs() {
    log_.emplace(path("log.jsonl"), state_.step);
    if (config_.training.tensorboard) {
        events_.emplace(path("tensorboard"), state_.step);
    }
}

void Trainer::log(const nlohmann::json& line) {
    // A line of the log is not worth the steps since the last checkpoint.
    const auto attempt = [this](bool& failed, const auto& write) {
        try {
            write();
        } catch (const Error& error) {
            if (!std::exchange(failed, true)) {
                hooks_.say(fmt::format("warning: {}; the training goes on, and warns of this file once", error.what()));
            }
        }
    };
    attempt(log_failed_, [&] { log_->add(line); });
    if (events_) {
        attempt(events_failed_, [&] {
            add_scalars(*events_, line.at("kind"), line.at("step"), line);
            events_->flush();
        });
    }
}

void Trainer::report() {
    collect();
    const Report report{.step = state_.step,
                        .epoch = progress().epochs,
                        .learning_rate = learning_rate_,
                        .minutes_left = config_.training.limits().minutes_left(progress()),
                        .loss_scale = scales_loss() ? state_.loss_scale->scale : 0.0,
                        .minutes = seconds_done() / 60.0,
                        .memory_bytes = backend_.memory().peak,
                        .totals = state_.totals};
    if (hooks_.report) {
        hooks_.report(report);
    } else {
        hooks_.say(report.line());
    }
    log(report.json());
    state_.totals.restart();
}

ValidationLoss Trainer::measure() const {
    return validate(backend_, model_, *valid_, loss_options(config_.training), arithmetic_.compute);
}

void Trainer::validate_now() {
    collect();
    const ValidationLoss result = measure();
    nlohmann::json line = {{"kind", "validation"},
                           {"step", state_.step},
                           {"loss", result.loss},
                           {"nll", result.nll},
                           {"perplexity", std::exp(result.nll)}};
    guard_.add_validation(result.nll);
    TrainingState::Best found{.step = state_.step, .nll = result.nll, .text = valid_fingerprint_};
    std::string more;
    if (mean_) {
        mean_->swap();
        const double nll = measure().nll;
        mean_->swap();
        line["mean_nll"] = nll;
        more = fmt::format("  of the mean of the weights {:.4f}", nll);
        if (nll < result.nll) {
            found.nll = nll;
            found.mean = true;
        }
    }
    if (bleu_ && std::isfinite(found.nll)) {
        const double bleu = bleu_of(found.mean);
        line["bleu"] = bleu;
        more += fmt::format("  BLEU {:.2f}", bleu);
    }
    const bool better = std::isfinite(found.nll) && (!state_.best || found.nll < state_.best->nll);
    line["best"] = better;
    note_validation(found, better);
    hooks_.say(fmt::format("validation after step {}: loss {:.4f}  nll {:.4f}  perplexity {:.3f}{}{}", state_.step,
                           result.loss, result.nll, std::exp(result.nll), more, better ? "  the best so far" : ""));
    log(line);
    reported_at_ = now();  // validation is no training time
}

double Trainer::bleu_of(bool mean) {
    if (mean) {
        mean_->swap();
    }
    const double found = bleu_->measure();
    if (mean) {
        mean_->swap();
    }
    return found;
}

void Trainer::note_validation(const TrainingState::Best& found, bool better) {
    if (!better) {
        ++state_.validations_since_best;
        return;
    }
    state_.best = found;
    state_.validations_since_best = 0;
    write_best(found.mean ? mean_->values() : parameters_.flat_values());
}

void Trainer::write_best(const Tensor& weights) const {
    write_checkpoint(backend_, path(kBestFile), {weights}, to_json(*state_.best));
}

bool Trainer::best_is_of_other_text() const {
    return state_.best && (!valid_ || state_.best->text != valid_fingerprint_);
}

void Trainer::measure_best_again() {
    if (!valid_) {
        hooks_.say(
            fmt::format("warning: there is no validation text any more: the best model, after step {}, is not "
                        "compared with what follows",
                        state_.best->step));
        return;
    }
    take_newer_best();
    const TrainingState::Best then = *state_.best;
    const std::string why = then.text ? "the validation text has changed"
                                      : "an earlier version did not record which validation text the run had";
    const double nll = read_best() ? measure().nll : std::nan("");
    if (!std::isfinite(nll)) {
        hooks_.say(
            fmt::format("warning: {}, and the best model, after step {}, cannot be measured again: the best is "
                        "sought anew",
                        why, then.step));
        state_.best.reset();
        state_.validations_since_best = 0;
        return;
    }
    hooks_.say(
        fmt::format("warning: {}: the best model, after step {}, was measured again: validation nll {:.4f}, "
                    "before {:.4f}",
                    why, then.step, nll, then.nll));
    state_.best->nll = nll;
    state_.best->text = valid_fingerprint_;
    if (nll != then.nll) {  // the text was another, and patience counted validations on it
        state_.validations_since_best = 0;
    }
    write_best(parameters_.flat_values());
}

}  // namespace headscope
