// What a trainer does beside its loop: the first weights, and the proof that a set-up can learn at all.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "support/counted.h"
#include "train/first_model.h"
#include "train/trainer.h"

namespace headscope {

void Trainer::begin_from(const std::string& model_directory) {
    require_shape(open_model_directory(model_directory), model_config_, config_.file);
    from_ = model_directory;
    begin();
    hooks_.say(fmt::format("beginning with the weights of {}", model_directory));
}

std::optional<double> Trainer::overfit_one_batch(std::int64_t steps) {
    constexpr double kRate = 5e-4;        // low enough for any model, high enough for a few hundred steps
    constexpr std::int64_t kWarmup = 30;  // Adam's second moments are unknown at first
    constexpr double kLearned = 0.02;     // nll per token: every token has a probability of 98 %
    const std::vector<Batch> batch = {batcher_.batch(batcher_.next())};
    double nll = 0.0;
    while (state_.step < steps) {
        if (hooks_.stop_requested()) {
            return std::nullopt;
        }
        ++state_.step;
        train_step(batch, kRate * std::min(1.0, static_cast<double>(state_.step) / kWarmup), false);
        make_room_in_history();
        const bool last = state_.step == steps;
        if (state_.step % config_.training.report_every == 0 || last) {
            collect();
            nll = state_.totals.target_tokens == 0
                      ? std::nan("")
                      : state_.totals.nll / static_cast<double>(state_.totals.target_tokens);
            hooks_.say(fmt::format("step {}  nll {:.4f} on one batch of {} and {}", state_.step, nll,
                                   counted(batch.front().sentences, "sentence"),
                                   counted(batch.front().target_tokens, "target token")));
            state_.totals.restart();
            if (nll < kLearned) {
                break;
            }
        }
    }
    return nll;
}

}  // namespace headscope
