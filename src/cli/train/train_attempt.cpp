#include "cli/train/train_attempt.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/train/train_given.h"
#include "registry/registry.h"
#include "support/check.h"
#include "train/dry_run.h"
#include "train/first_model.h"
#include "train/run_folder.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

// For what has to lie in files as long as it is needed, and no longer.
class PassingFolder {
public:
    PassingFolder() {
        std::string pattern = (fs::temp_directory_path() / "headscope-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw Error(
                fmt::format("cannot make a temporary folder {}: {}", pattern, std::generic_category().message(errno)));
        }
        path_ = pattern;
    }
    ~PassingFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    PassingFolder(const PassingFolder&) = delete;
    PassingFolder& operator=(const PassingFolder&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// A training that could begin now.
class Attempt {
public:
    Attempt(const TrainOptions& options, const Say& say)
        : backend_(open_device(options.common.device(), options.common.open)) {
        RunConfig given = options.given.of_texts() ? config_of_texts(options, *backend_, folder_.path(), say)
                                                   : given_config(options.given, options.output);
        config_ = given.parsed();
        inputs_of(options, config_.data).files.refuse("-");
        static_cast<void>(arithmetic_of(config_, *backend_));
        if (!options.from.empty()) {
            try_first_model(*backend_, config_, options.from);
        }
        data_ = prepare_training_data(config_, (fs::path(folder_.path()) / "tokenizer").string(),
                                      {.reuse = false, .from_model = options.from, .warned = options.given.of_texts()},
                                      say);
        if (config_.training.find_batch) {
            set_batch(given, found_batch(*backend_, config_, data_, say));
            config_ = given.parsed();
        }
    }

    const std::string& folder() const { return folder_.path(); }
    Backend& backend() const { return *backend_; }
    const TrainConfig& config() const { return config_; }
    TrainingData& data() { return data_; }

private:
    PassingFolder folder_;
    std::unique_ptr<Backend> backend_;
    TrainConfig config_;
    TrainingData data_;
};

}  // namespace

void dry_run(const TrainOptions& options, Terminal& terminal) {
    Attempt attempt(options, terminal.say());
    write_output(describe_training(attempt.backend(), attempt.config(), attempt.data(), options.output));
}

void overfit_one_batch(const TrainOptions& options, Terminal& terminal) {
    constexpr std::int64_t kSteps = 300;
    constexpr double kEnough = 0.1;  // nll per token
    require_unused(options.output);
    TrainOptions unlimited = options;  // the limits are those of a run
    unlimited.given.steps = unlimited.given.tokens = std::nullopt;
    unlimited.given.epochs = unlimited.given.minutes = std::nullopt;
    Attempt attempt(unlimited, terminal.say());
    Trainer trainer(attempt.backend(), attempt.config(), std::move(attempt.data()), attempt.folder(),
                    hooks_for(attempt.backend(), terminal));
    if (!options.from.empty()) {
        trainer.begin_from(options.from);
    }
    const std::optional<double> nll = trainer.overfit_one_batch(options.given.steps.value_or(kSteps));
    if (!nll) {
        throw Error(fmt::format("stopped after step {} of an attempt, which saves nothing", trainer.step()));
    }
    if (!(*nll < kEnough)) {
        throw Error(fmt::format(
            "cannot overfit one batch: nll {:.4f} per token, expected less than {}: something in the set-up is "
            "wrong, or --steps is too low",
            *nll, kEnough));
    }
    terminal.say()("one batch was overfitted: the set-up can learn");
}

}  // namespace headscope
