// The model that a trainer leaves: which weights of its run it is made of.
#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "infer/decoding_choices.h"
#include "io/atomic_file.h"
#include "model/model_directory.h"
#include "support/check.h"
#include "train/averaging.h"
#include "train/step_options.h"
#include "train/trainer.h"

namespace headscope {

namespace {

std::filesystem::path decoding_file(const std::string& model_directory) {
    return std::filesystem::path(model_directory) / kDecodingFile;
}

bool is_there(const std::filesystem::path& file) {
    return std::filesystem::exists(std::filesystem::symlink_status(file));
}

// Of lines longer than any that it was trained with a model leaves out a part. What somebody chose for it stays.
void say_how_to_decode(const std::string& model_directory, std::int64_t longest) {
    const std::filesystem::path file = decoding_file(model_directory);
    if (!is_there(file)) {
        atomic_write_file(file.string(), nlohmann::json{{"split_longer_than", longest}}.dump(2) + "\n");
    }
}

}  // namespace

// How the model that the run writes will be decoded.
DecodingChoices Trainer::decoding_choices() const {
    const std::string model = path("model");
    return is_there(decoding_file(model)) ? read_decoding_choices(model)
                                          : DecodingChoices{.split_longer_than = config_.training.max_length};
}

// A run that was killed may have written a better one since its newest checkpoint, which remembers the one before.
void Trainer::take_newer_best() {
    if (!is_there(path(kBestFile))) {
        return;
    }
    try {
        const Checkpoint file = Checkpoint::open(path(kBestFile));
        const TrainingState::Best found = parse_best(file.state(), file.path());
        if (!state_.best || found.step != state_.best->step) {
            state_.best = found;
        }
    } catch (const Error& error) {
        if (!state_.best) {  // else read_best() warns, where it matters
            hooks_.say(fmt::format("warning: passing over the best single model: {}", error.what()));
        }
    }
}

bool Trainer::read_best() {
    try {
        const Checkpoint best = Checkpoint::open(path(kBestFile));
        best.read(backend_, {parameters_.flat_values()});
        parameters_.refresh_working();
        return true;
    } catch (const Error& error) {
        hooks_.say(fmt::format("warning: passing over the best single model: {}", error.what()));
        return false;
    }
}

std::string Trainer::load_average(const std::vector<Checkpoint>& files) {
    average_checkpoints(backend_, files, parameters_.flat_values());
    parameters_.refresh_working();
    const auto step_of = [](const Checkpoint& file) { return parse_training_state(file.state(), file.path()).step; };
    return files.size() == 1 ? fmt::format("the checkpoint after step {}", step_of(files.back()))
                             : fmt::format("the mean of the {} checkpoints after steps {} to {}", files.size(),
                                           step_of(files.front()), step_of(files.back()));
}

std::string Trainer::load_mean() {
    backend_.run(Copy{.x = mean_->values(), .out = parameters_.flat_values()});
    parameters_.refresh_working();
    return fmt::format("the exponential mean of the weights after step {} (\"ema_decay\" {})", state_.step,
                       config_.training.ema_decay);
}

// Leaves the weights of the model in the parameters. `nll`: on the validation text, where there is one.
std::string Trainer::choose_weights(const std::vector<Checkpoint>& files, std::optional<double>& nll) {
    if (valid_) {
        take_newer_best();
        if (best_is_of_other_text()) {
            measure_best_again();
        }
    }
    std::string origin = load_average(files);
    if (!valid_) {
        return mean_ ? load_mean() : origin;  // asked for, and nothing tells which is better
    }
    const auto describe = [](const std::string& what, double found) {
        return fmt::format("{}, validation nll {:.4f}, perplexity {:.3f}", what, found, std::exp(found));
    };
    nll = measure().nll;
    origin = describe(origin, *nll);
    if (mean_) {
        const std::string mean = load_mean();
        const double found = measure().nll;
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

void Trainer::write_model(const std::string& model_directory) {
    std::vector<Checkpoint> files;
    for (const std::int64_t step : steps_to_average()) {
        try {
            files.push_back(Checkpoint::open(checkpoints_.file_of(step)));
        } catch (const Error& error) {
            hooks_.say(fmt::format("warning: passing over a checkpoint: {}", error.what()));
        }
    }
    if (files.empty()) {
        throw Error(fmt::format("{} holds no whole checkpoint to make a model of", path("checkpoints")));
    }
    std::optional<double> nll;
    const std::string origin = choose_weights(files, nll);
    write_model_directory(backend_, model_directory, model_config_, parameters_, config_.training.save,
                          data_.source_tokenizer_file, data_.target_tokenizer_file);
    say_how_to_decode(model_directory, config_.training.max_length);
    hooks_.say(fmt::format("{}: {}", model_directory, origin));
    nlohmann::json line = {{"kind", "model"}, {"step", state_.step}, {"origin", origin}};
    if (nll) {
        line["nll"] = *nll;
        line["perplexity"] = std::exp(*nll);
    }
    if (bleu_) {
        const double bleu = bleu_->measure();
        line["bleu"] = bleu;
        hooks_.say(fmt::format("BLEU {:.2f} of its greedy translations of {} held-out pairs", bleu, bleu_->pairs()));
    }
    if (!log_) {
        open_logs();
    }
    log(line);
}

}  // namespace headscope
