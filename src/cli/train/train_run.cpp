#include "cli/train/train_run.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/stop_signal.h"
#include "cli/train/train_setup.h"
#include "cli/train/train_terminal.h"
#include "io/scratch_folder.h"
#include "support/check.h"
#include "train/dry_run.h"
#include "train/first_model.h"
#include "train/folder_training.h"
#include "train/overfit.h"
#include "train/run_folder.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

// A training that leaves no files behind.
struct Attempt {
    // `needs_data`: whether it is an error if there is none.
    Attempt(const TrainOptions& options, const Log& say, bool needs_data) : setup(options, say) {
        setup.open();
        if (!setup.has_config()) {
            setup.choose_config(folder.path());
        }
        setup.inputs().files.refuse("-");
        if (!options.from.empty()) {
            try_first_model(setup.backend(), setup.config(), options.from);
        }
        if (needs_data || !setup.lacks_data()) {
            setup.prepare_data((fs::path(folder.path()) / "tokenizer").string());
            data = &setup.data();
        }
    }

    ScratchFolder folder;
    TrainSetup setup;
    const TrainingData* data = nullptr;
};

// --dry-run
void describe(const TrainOptions& options, Terminal& terminal) {
    Attempt attempt(options, terminal.say(), false);
    TrainSetup& setup = attempt.setup;
    if (attempt.data == nullptr) {
        terminal.say()(
            fmt::format("none of the files of {} is there: measuring with random pieces; --data names the folder",
                        setup.config().file));
    }
    write_output(describe_training(setup.backend(), setup.config(), attempt.data, options.output));
}

// --overfit-one-batch
void overfit(const TrainOptions& options, Terminal& terminal) {
    constexpr std::int64_t kSteps = 300;
    constexpr double kEnough = 0.1;  // nll per token
    require_unused(options.output);
    Attempt attempt(options, terminal.say(), true);
    TrainSetup& setup = attempt.setup;
    const double nll = overfit_one_batch(setup.backend(), setup.config(), setup.data(), options.from,
                                         options.given.steps.value_or(kSteps), hooks_for(setup.backend(), terminal));
    if (!(nll < kEnough)) {
        throw Error(fmt::format(
            "cannot overfit one batch: nll {:.4f} per token, expected less than {}: something in the set-up is "
            "wrong, or --steps is too low",
            nll, kEnough));
    }
    terminal.say()("one batch was overfitted: the set-up can learn");
}

class Training {
public:
    Training(const TrainOptions& options, Terminal& terminal)
        : options_(options), terminal_(terminal), say_(terminal.say()) {}

    void start() {
        // Errors in the input come before anything is written.
        check_folder();
        setup_.emplace(options_, say_);
        refuse_inputs(options_.output, setup_->inputs());
        if (!holds_checkpoints(options_.output)) {
            require_own_files(options_.output);
        }
        setup_->open();
        folder_.emplace(options_.output, say_);
        check_folder();  // again, now that nobody else can write there
        const bool resumed = holds_checkpoints(options_.output);
        if (options_.resume && !resumed) {
            say_(fmt::format("'{}' holds no checkpoint yet: starting from the beginning", options_.output));
        }
        if (!setup_->has_config()) {
            setup_->choose_config(options_.output);
            setup_->given().save(options_.output);  // so that a training that is killed now can be resumed
        }
        train(resumed);
    }

private:
    void check_folder() const {
        if (options_.finish && !holds_checkpoints(options_.output)) {
            throw Error(fmt::format("'{}' holds no checkpoint to make a model from: train first", options_.output));
        }
        if (!options_.resume && !options_.finish) {
            require_unused(options_.output);
        }
    }

    void train(bool resumed) {
        // Without a checkpoint nothing proves that a tokenizer there belongs to this configuration.
        const std::string tokenizer = (fs::path(options_.output) / "tokenizer").string();
        setup_->prepare_data(tokenizer, resumed ? &*folder_ : nullptr);
        const TrainedFolder trained = train_or_advise({.given = setup_->given(),
                                                       .config = setup_->config(),
                                                       .data = std::move(setup_->data()),
                                                       .from = options_.from,
                                                       .resumed = resumed,
                                                       .purpose = options_.finish ? Purpose::Finish : Purpose::Train});
        if (trained.end == RunEnd::Stopped) {
            throw Error(
                trained.step == 0
                    ? "stopped by a signal before the first step: there is no checkpoint yet; --resume starts again"
                    : fmt::format("stopped after step {} by a signal; the step is checkpointed, and --resume continues",
                                  trained.step));
        }
        if (!options_.finish) {
            say_(fmt::format("the training ended after step {} by {}", trained.step, trained.ended_by));
        }
    }

    TrainedFolder train_or_advise(FolderTraining training) {
        try {
            return train_in_folder(*folder_, setup_->backend(), std::move(training),
                                   hooks_for(setup_->backend(), terminal_));
        } catch (const DeviceLost& lost) {
            throw Error(lost.what() + std::string(holds_checkpoints(options_.output)
                                                      ? "; --resume continues from the last checkpoint"
                                                      : "; there is no checkpoint to resume from yet"));
        }
    }

    const TrainOptions& options_;
    Terminal& terminal_;
    Log say_;
    std::optional<TrainSetup> setup_;
    std::optional<RunFolder> folder_;
};

}  // namespace

void run_training(const TrainOptions& options) {
    listen_for_stop();
    Terminal terminal;
    if (options.dry_run) {
        describe(options, terminal);
    } else if (options.overfit) {
        overfit(options, terminal);
    } else {
        Training(options, terminal).start();
    }
}

}  // namespace headscope
