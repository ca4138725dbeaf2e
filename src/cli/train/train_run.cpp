#include "cli/train/train_run.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/stop_signal.h"
#include "cli/train/train_attempt.h"
#include "cli/train/train_given.h"
#include "cli/train/train_terminal.h"
#include "registry/registry.h"
#include "support/check.h"
#include "train/first_model.h"
#include "train/run_folder.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

class Run {
public:
    Run(const TrainOptions& options, Terminal& terminal)
        : options_(options), terminal_(terminal), say_(terminal.say()) {}

    void begin() {
        // Complaints about what was given come before anything is made.
        check_folder();
        if (!options_.given.of_texts()) {
            take(given_config(options_.given, options_.output));
        }
        check_files();
        backend_ = open_device(options_.common.device(), options_.common.open);
        if (given_) {
            check_config();
        }
        folder_.emplace(options_.output, say_);
        check_folder();  // nobody else writes there any more
        begun_ = holds_checkpoints(options_.output);
        if (options_.resume && !begun_) {
            say_(fmt::format("'{}' holds no checkpoint yet: starting from the beginning", options_.output));
        }
        if (!given_) {
            take(config_of_texts(options_, *backend_, options_.output, say_));
            check_config();
            given_->keep(options_.output);  // a training that is killed now can still be gone on with
        }
        train();
    }

private:
    void take(RunConfig given) {
        config_ = given.parsed();
        given_ = std::move(given);
    }

    void check_folder() const {
        if (options_.finish && !holds_checkpoints(options_.output)) {
            throw Error(fmt::format("'{}' holds no checkpoint to make a model of: train first", options_.output));
        }
        if (!options_.resume && !options_.finish) {
            require_unused(options_.output);
        }
    }

    void check_files() const {
        refuse_inputs(options_.output, inputs_of(options_, config_.data));
        if (!holds_checkpoints(options_.output)) {
            require_own_files(options_.output);
        }
    }

    void check_config() const {
        static_cast<void>(arithmetic_of(config_, *backend_));
        if (!options_.from.empty()) {
            require_first_model(config_, options_.from);
        }
    }

    void train() {
        const fs::path output(options_.output);
        // Without a checkpoint nothing says that a tokenizer left there is of this configuration.
        TrainingData data = prepare_training_data(
            config_, (output / "tokenizer").string(),
            {.reuse = begun_, .from_model = options_.from, .warned = options_.given.of_texts()}, say_);
        if (config_.training.find_batch) {
            RunConfig found = *given_;
            set_batch(found, begun_ ? folder_->recorded_batch() : found_batch(*backend_, config_, data, say_));
            take(std::move(found));
        }
        Trainer trainer(*backend_, config_, std::move(data), options_.output, hooks_for(*backend_, terminal_));
        if (!options_.from.empty()) {
            trainer.begin_from(options_.from);
        }
        if (begun_) {
            given_->naming_options([&] { trainer.resume(options_.finish ? Purpose::Finish : Purpose::Train); });
        }
        folder_->keep();
        if (!options_.finish) {
            given_->keep(options_.output);
            to_the_end(trainer);
        }
        trainer.write_model((output / "model").string());
        if (!options_.finish) {
            say_(fmt::format("the training ended after step {} by {}", trainer.step(),
                             given_->with_options(trainer.ended_by())));
        }
    }

    void to_the_end(Trainer& trainer) {
        RunEnd end = RunEnd::Finished;
        try {
            end = trainer.run();
        } catch (const DeviceLost& lost) {
            throw Error(lost.what() + std::string(holds_checkpoints(options_.output)
                                                      ? "; --resume goes on from the last checkpoint"
                                                      : "; there is no checkpoint to resume from yet"));
        }
        if (end == RunEnd::Stopped) {
            throw Error(
                trainer.step() == 0
                    ? "stopped by a signal before the first step: there is no checkpoint yet; --resume starts again"
                    : fmt::format("stopped after step {} by a signal; the step is checkpointed, and --resume continues",
                                  trainer.step()));
        }
    }

    const TrainOptions& options_;
    Terminal& terminal_;
    Say say_;
    std::optional<RunConfig> given_;  // to be kept
    TrainConfig config_;              // the same, parsed
    std::unique_ptr<Backend> backend_;
    std::optional<RunFolder> folder_;
    bool begun_ = false;
};

}  // namespace

void run_training(const TrainOptions& options) {
    listen_for_stop();
    Terminal terminal;
    if (options.dry_run) {
        dry_run(options, terminal);
    } else if (options.overfit) {
        overfit_one_batch(options, terminal);
    } else {
        Run(options, terminal).begin();
    }
}

}  // namespace headscope
