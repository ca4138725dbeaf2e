// Validation of a run, and the choice of the weights that become its model.
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/peak.h"
#include "eval/training_cost.h"
#include "model/model_chat.h"
#include "model/model_directory.h"
#include "model/training_card.h"
#include "support/check.h"
#include "train/averaging.h"
#include "train/run.h"

namespace headscope {

void Run::validate() {
    collect();
    const Validation result = validator_->measure();
    guard_.add_validation(result.loss.nll);
    nlohmann::json line = {
        {"kind", "validation"}, {"step", state_.step}, {"loss", result.loss.loss}, {"nll", result.loss.nll}};
    add_measures(result.loss.nll, result.loss.measures, line);
    std::string more;
    if (result.mean_nll) {
        line["mean_nll"] = *result.mean_nll;
        more = fmt::format("  nll of the EMA of the weights {:.4f}", *result.mean_nll);
    }
    if (result.bleu) {
        line["bleu"] = *result.bleu;
        more += fmt::format("  BLEU {:.2f}", *result.bleu);
    }
    const double nll = result.best_nll();
    const bool better = std::isfinite(nll) && (!state_.best || nll < state_.best->nll);
    line["best"] = better;
    if (better) {
        state_.best = {
            .step = state_.step, .nll = nll, .mean = result.mean_is_better(), .text = validator_->fingerprint()};
        state_.validations_since_best = 0;
        write_best(result.mean_is_better());
    } else {
        ++state_.validations_since_best;
    }
    hooks_.say(fmt::format("validation after step {}: loss {:.4f}  nll {:.4f}{}{}{}", state_.step, result.loss.loss,
                           result.loss.nll, instead_of_perplexity(result.loss.nll, result.loss.measures, 3), more,
                           better ? "  the best so far" : ""));
    log(line);
    share_clock();
    reported_at_ = clock_.now();  // validation does not count as training time
}

bool Run::best_is_of_other_text() const {
    return state_.best && (!validator_ || state_.best->text != validator_->fingerprint());
}

void Run::measure_best_again() {
    if (!validator_) {
        hooks_.say(
            fmt::format("warning: there is no validation text any more: the best model, after step {}, is not "
                        "compared with later ones",
                        state_.best->step));
        return;
    }
    find_newer_best();
    const TrainingState::Best then = *state_.best;
    const std::string why = then.text ? "the validation text has changed"
                                      : "an earlier version did not record which validation text the run had";
    const double nll = read_best() ? validator_->nll() : std::nan("");
    if (!std::isfinite(nll)) {
        hooks_.say(
            fmt::format("warning: {}, and the best model, after step {}, cannot be measured again: the search for "
                        "the best starts again",
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
    state_.best->text = validator_->fingerprint();
    if (nll != then.nll) {  // the text did change, and patience counted validations on the old one
        state_.validations_since_best = 0;
    }
    write_best(false);
}

void Run::write_best(bool mean) const {
    if (!leads()) {
        return;
    }
    write_checkpoint(learner_.backend(), path(kBestFile), weights_of(learner_, mean), to_json(*state_.best));
}

bool Run::read_best() {
    try {
        Checkpoint::open(path(kBestFile)).read(learner_.backend(), weights_of(learner_));
        learner_.parameters().refresh_working();
        return true;
    } catch (const Error& error) {
        hooks_.say(fmt::format("warning: skipping the best single model: {}", error.what()));
        return false;
    }
}

// A killed run may have written a better model since its newest checkpoint.
void Run::find_newer_best() {
    const std::string file = path(kBestFile);
    if (!std::filesystem::exists(std::filesystem::symlink_status(file))) {
        return;
    }
    try {
        const TrainingState::Best found = parse_best(Checkpoint::open(file).state(), file);
        if (!state_.best || found.step != state_.best->step) {
            state_.best = found;
        }
    } catch (const Error& error) {
        if (!state_.best) {  // otherwise read_best() warns, if it matters
            hooks_.say(fmt::format("warning: skipping the best single model: {}", error.what()));
        }
    }
}

std::string Run::load_average(const std::vector<Checkpoint>& files) {
    average_checkpoints(learner_.backend(), files, learner_.parameters().flat_values());
    learner_.parameters().refresh_working();
    const auto step_of = [](const Checkpoint& file) { return parse_training_state(file.state(), file.path()).step; };
    return files.size() == 1 ? fmt::format("the checkpoint after step {}", step_of(files.back()))
                             : fmt::format("the mean of the {} checkpoints after steps {} to {}", files.size(),
                                           step_of(files.front()), step_of(files.back()));
}

// Loads the weights of the model and describes them. `nll`: on the validation text, if there is one.
std::string Run::load_best_weights(const std::vector<Checkpoint>& files, std::optional<double>& nll) {
    if (validator_) {
        find_newer_best();
        if (best_is_of_other_text()) {
            measure_best_again();
        }
    }
    const auto load_mean = [&] {
        learner_.load_mean();
        return fmt::format("the exponential mean of the weights after step {} (\"ema_decay\" {})", state_.step,
                           config_.training.ema_decay);
    };
    std::string origin = load_average(files);
    if (!validator_) {
        return learner_.mean() != nullptr
                   ? load_mean()
                   : origin;  // the mean was asked for, and without validation nothing tells which is better
    }
    const bool of_tokens = learner_.options().objective.measured() == 0;
    const auto describe = [of_tokens](const std::string& what, double found) {
        return fmt::format("{}, validation nll {:.4f}{}", what, found,
                           of_tokens ? fmt::format(", perplexity {:.3f}", std::exp(found)) : "");
    };
    nll = validator_->nll();
    origin = describe(origin, *nll);
    if (config_.training.average_always) {
        return origin;
    }
    if (learner_.mean() != nullptr) {
        const std::string mean = load_mean();
        const double found = validator_->nll();
        if (found < *nll) {
            origin = fmt::format("{} (better than {})", describe(mean, found), origin);
            nll = found;
        } else {
            load_average(files);
        }
    }
    if (state_.best && !(*nll <= state_.best->nll) && read_best()) {
        nll = state_.best->nll;
        origin = fmt::format("the best {}, after step {}, validation nll {:.4f} (better than {})",
                             state_.best->mean ? "exponential mean of the weights" : "single model", state_.best->step,
                             *nll, origin);
    }
    return origin;
}

// What the training cost so far. `state`: of its newest checkpoint. A model that is written again, without further
// steps, keeps its card, since this may be another device.
nlohmann::json Run::training_card(const std::string& model_directory, const nlohmann::json& state) const {
    constexpr double kWorthMeasuring = 60.0;  // seconds: measuring the device takes up to one
    const nlohmann::json before = read_training_card(model_directory);
    if (!trained_ && before.is_object() && before.value("steps", nlohmann::json()) == state_.step) {
        return before;
    }
    const Backend& backend = learner_.backend();
    nlohmann::json card = {{"steps", state_.step},           {"epochs", state_.epochs},
                           {"target_tokens", state_.tokens}, {"seconds", state_.seconds},
                           {"device", state.at("device")},   {"arithmetic", state.at("compute")}};
    if (state_.flops) {
        card["flops"] = *state_.flops;
    }
    if (trained_) {
        card["device"] = fmt::format("{} ({})", backend.device().id, backend.device().name);
    }
    if (trained_ && state_.seconds >= kWorthMeasuring) {
        const double sustained = measure_peak(learner_.backend(), learner_.options().arithmetic).flops_per_second;
        card["sustained_flops_per_second"] = sustained;
        card["estimated_flops"] = estimated_flops(state_.seconds, 1.0, sustained);
    }
    return card;
}

void Run::write_model(const std::string& model_directory) {
    learner_.ranks().meet();  // rank 0 has written the last checkpoint
    learner_.ranks().announce("writing the model", Communicator::Takes::Long);
    const std::vector<Checkpoint> files = checkpoints_to_average();
    if (files.empty()) {
        throw Error(fmt::format("{} holds no intact checkpoint to make a model from", path("checkpoints")));
    }
    std::optional<double> nll;
    const std::string origin = load_best_weights(files, nll);
    std::optional<double> bleu;
    if (validator_ && validator_->bleu_pairs() > 0) {
        bleu = validator_->bleu();
    }
    if (!leads()) {
        return;
    }
    const nlohmann::json card = training_card(model_directory, files.back().state());
    write_model_directory(learner_.backend(), model_directory, learner_.model_config(), learner_.parameters(),
                          config_.training.save, *data_.source_tokenizer, *data_.target_tokenizer);
    if (traits(config_.task).reads_pairs) {
        write_decoding_choices(model_directory, config_.training.max_length, data_.languages);
    }
    if (config_.data.chat != kNoTemplate) {
        write_decoding(model_directory, {{kChatKey, config_.data.chat}});
    }
    write_training_card(model_directory, card);
    hooks_.say(fmt::format("{}: {}", model_directory, origin));
    nlohmann::json line = {{"kind", "model"}, {"step", state_.step}, {"origin", origin}, {"training", card}};
    if (nll) {
        line["nll"] = *nll;
        if (learner_.options().objective.measured() == 0) {
            line["perplexity"] = std::exp(*nll);
        }
    }
    if (bleu) {
        line["bleu"] = *bleu;
        hooks_.say(fmt::format("BLEU {:.2f} of its {}translations of {} held-out pairs", *bleu,
                               learner_.model_config().generation == Generation::LeftToRight ? "greedy " : "",
                               validator_->bleu_pairs()));
    }
    if (!log_.is_open()) {
        log_.open(state_.step);
    }
    log_.add(line);
}

}  // namespace headscope
