// What a trainer does beside its loop: the final model, and the proof that a set-up can learn at all.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "model/model_directory.h"
#include "support/check.h"
#include "train/averaging.h"
#include "train/trainer.h"

namespace headscope {

bool Trainer::read_best() {
    try {
        Checkpoint::open(path("best.safetensors")).read(backend_, {parameters_.flat_values()});
        parameters_.refresh_working();
        return true;
    } catch (const Error& error) {
        hooks_.say(fmt::format("warning: passing over the best single model: {}", error.what()));
        return false;
    }
}

void Trainer::write_model(const std::string& model_directory) {
    const TrainingOptions& t = config_.training;
    // Later ones were passed over by resume().
    const std::vector<Checkpoint> files = whole_checkpoints(t.average_last, state_.step);
    if (files.empty()) {
        throw Error(fmt::format("{} holds no whole checkpoint to make a model of", path("checkpoints")));
    }
    average_checkpoints(backend_, files, parameters_.flat_values());
    parameters_.refresh_working();
    const auto step_of = [](const Checkpoint& file) { return parse_training_state(file.state(), file.path()).step; };
    std::string origin = files.size() == 1 ? fmt::format("the checkpoint after step {}", step_of(files.back()))
                                           : fmt::format("the mean of the {} checkpoints after steps {} to {}",
                                                         files.size(), step_of(files.front()), step_of(files.back()));
    nlohmann::json line = {{"kind", "model"}, {"step", state_.step}};
    if (valid_) {
        double nll = validate(backend_, model_, *valid_, loss_options(), arithmetic_.compute).nll;
        origin += fmt::format(", validation nll {:.4f}, perplexity {:.3f}", nll, std::exp(nll));
        if (state_.best && !(nll <= state_.best->nll) && read_best()) {
            nll = state_.best->nll;
            origin = fmt::format("the best single model, after step {}, validation nll {:.4f} (better than {})",
                                 state_.best->step, nll, origin);
        }
        line["nll"] = nll;
        line["perplexity"] = std::exp(nll);
    }
    write_model_directory(backend_, model_directory, model_config_, parameters_, t.save, data_.source_tokenizer_file,
                          data_.target_tokenizer_file);
    hooks_.say(fmt::format("{}: {}", model_directory, origin));
    line["origin"] = origin;
    if (!log_) {
        log_.emplace(path("log.jsonl"), state_.step);
    }
    log(line);
}

std::optional<double> Trainer::overfit_one_batch(std::int64_t steps) {
    constexpr double kRate = 5e-4;        // low enough for any model, high enough for a few hundred steps
    constexpr std::int64_t kWarmup = 30;  // Adam's second moments are unknown at first
    constexpr double kLearned = 0.02;     // nll per token: every token has a probability of 98 %
    const std::vector<Batch> batch = {batcher_.batch(batcher_.plan(0).front())};
    double nll = 0.0;
    while (state_.step < steps) {
        if (hooks_.stop_requested()) {
            return std::nullopt;
        }
        ++state_.step;
        train_step(batch, kRate * std::min(1.0, static_cast<double>(state_.step) / kWarmup), false);
        const bool last = state_.step == steps;
        if (state_.step % config_.training.report_every == 0 || last) {
            collect();
            nll = state_.totals.target_tokens == 0
                      ? std::nan("")
                      : state_.totals.nll / static_cast<double>(state_.totals.target_tokens);
            hooks_.say(fmt::format("step {}  nll {:.4f} on one batch of {} sentences and {} target tokens", state_.step,
                                   nll, batch.front().sentences, batch.front().target_tokens));
            state_.totals.restart();
            if (nll < kLearned) {
                break;
            }
        }
    }
    return nll;
}

}  // namespace headscope
