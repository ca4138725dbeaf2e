#include "train/overfit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "support/check.h"
#include "support/counted.h"
#include "train/first_model.h"
#include "train/references.h"
#include "train/step_options.h"

namespace headscope {

double overfit_one_batch(Backend& backend, TrainConfig config, const TrainingData& data, const std::string& from,
                         std::int64_t steps, const RunHooks& hooks) {
    constexpr double kRate = 5e-4;        // low enough for any model, high enough for a few hundred steps
    constexpr std::int64_t kWarmup = 30;  // Adam's second moments are unknown at first
    constexpr double kLearned = 0.02;     // nll per token: every token has a probability of 98 %
    if (traits(config.task).rolls_out || traits(config.task).scores_samples) {
        throw Error(fmt::format("one batch cannot be overfitted in the \"task\" \"{}\", whose texts have no labels",
                                name_of(config.task)));
    }
    TrainingOptions& t = config.training;
    t.label_smoothing = 0.0;
    t.shards = 1;
    t.residual_dropout = t.embedding_dropout = t.attention_dropout = t.activation_dropout = 0.0;
    add_references(backend, config, data, hooks.say);
    Learner learner = make_learner(backend, config, data, hooks);
    const std::unique_ptr<Batcher> batcher = make_batcher(t, data);
    say_start(learner, *batcher, config, data, hooks.say);
    if (!from.empty()) {
        load_first_model(learner, config, from);
        hooks.say(fmt::format("starting from the weights of {}", from));
    }
    const std::vector<Batch> batch = {batcher->batch(batcher->next().examples)};
    double nll = 0.0;
    RunTotals totals;
    for (std::int64_t step = 1; step <= steps; ++step) {
        if (hooks.stop_requested()) {
            throw Error(fmt::format("stopped after step {} of an attempt, which saves nothing", step - 1));
        }
        learner.step(batch, step, kRate * std::min(1.0, static_cast<double>(step) / kWarmup));
        const bool report = step % t.report_every == 0 || step == steps;
        if (report || learner.history_full()) {
            for (const StepRecord& record : learner.take_history()) {
                totals.add(record, false);
            }
        }
        if (report) {
            nll = totals.divisor == 0.0 ? std::nan("") : totals.nll / totals.divisor;
            hooks.say(fmt::format("step {}  nll {:.4f} on one batch of {} and {}", step, nll,
                                  counted(batch.front().examples(), "example"),
                                  counted(batch.front().predicted.count, "target token")));
            totals.restart();
            if (nll < kLearned) {
                break;
            }
        }
    }
    return nll;
}

}  // namespace headscope
