#include "cli/train/train_run.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/stop_signal.h"
#include "cli/train/train_setup.h"
#include "cli/train/train_terminal.h"
#include "support/check.h"
#include "train/dry_run.h"
#include "train/first_model.h"
#include "train/overfit.h"
#include "train/run_folder.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

// A temporary folder, removed at the end.
struct ScratchFolder {
    ScratchFolder() {
        if (::mkdtemp(path.data()) == nullptr) {
            throw Error(
                fmt::format("cannot make a temporary folder {}: {}", path, std::generic_category().message(errno)));
        }
    }
    ~ScratchFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    std::string path = (fs::temp_directory_path() / "headscope-XXXXXX").string();
};

// A training that leaves no files behind.
struct Attempt {
    Attempt(const TrainOptions& options, const Say& say) : setup(options, say) {
        setup.open();
        if (!setup.has_config()) {
            setup.choose_config(folder.path);
        }
        setup.inputs().files.refuse("-");
        if (!options.from.empty()) {
            try_first_model(setup.backend(), setup.config(), options.from);
        }
        setup.prepare_data((fs::path(folder.path) / "tokenizer").string());
    }

    ScratchFolder folder;
    TrainSetup setup;
};

// --dry-run
void describe(const TrainOptions& options, Terminal& terminal) {
    Attempt attempt(options, terminal.say());
    TrainSetup& setup = attempt.setup;
    write_output(describe_training(setup.backend(), setup.config(), setup.data(), options.output));
}

// --overfit-one-batch
void overfit(const TrainOptions& options, Terminal& terminal) {
    constexpr std::int64_t kSteps = 300;
    constexpr double kEnough = 0.1;  // nll per token
    require_unused(options.output);
    Attempt attempt(options, terminal.say());
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
        const fs::path output(options_.output);
        // Without a checkpoint nothing proves that a tokenizer there belongs to this configuration.
        setup_->prepare_data((output / "tokenizer").string(), resumed ? &*folder_ : nullptr);
        const RunConfig& given = setup_->given();
        const RunHooks hooks = hooks_for(setup_->backend(), terminal_);
        Learner learner = make_learner(setup_->backend(), setup_->config(), setup_->data(), hooks);
        Run run(learner, setup_->config(), std::move(setup_->data()), options_.output, hooks);
        if (!options_.from.empty()) {
            run.begin_from(options_.from);
        }
        if (resumed) {
            given.naming_options([&] { run.resume(options_.finish ? Purpose::Finish : Purpose::Train); });
        }
        folder_->keep();
        if (!options_.finish) {
            given.save(options_.output);
            train_to_the_end(run);
        }
        run.write_model((output / "model").string());
        if (!options_.finish) {
            say_(fmt::format("the training ended after step {} by {}", run.step(), given.with_options(run.ended_by())));
        }
    }

    void train_to_the_end(Run& run) const {
        RunEnd end = RunEnd::Finished;
        try {
            end = run.train();
        } catch (const DeviceLost& lost) {
            throw Error(lost.what() + std::string(holds_checkpoints(options_.output)
                                                      ? "; --resume continues from the last checkpoint"
                                                      : "; there is no checkpoint to resume from yet"));
        }
        if (end == RunEnd::Stopped) {
            throw Error(
                run.step() == 0
                    ? "stopped by a signal before the first step: there is no checkpoint yet; --resume starts again"
                    : fmt::format("stopped after step {} by a signal; the step is checkpointed, and --resume continues",
                                  run.step()));
        }
    }

    const TrainOptions& options_;
    Terminal& terminal_;
    Say say_;
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
