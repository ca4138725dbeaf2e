// headscope train: from a configuration file to a model directory.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "app/command.h"
#include "app/precision_option.h"
#include "app/stop_signal.h"
#include "backend/instrumented.h"
#include "registry/registry.h"
#include "support/check.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace headscope {
namespace {

struct TrainOptions {
    std::string config;
    std::string output;
    std::string data;
    std::string device;
    bool resume = false;
    bool finish = false;
    bool overfit = false;
    bool watch_gradients = false;
    std::optional<Precision> precision;  // none: as the configuration says
    std::int64_t steps = 0;              // 0: as the configuration says
    double minutes = 0.0;
};

// Progress is news for people: it goes to standard error, and a closed terminal must not end a training of hours.
void say(const std::string& line) {
    tell(line);
}

TrainerHooks hooks_for(Backend& backend) {
    TrainerHooks hooks{.say = say, .stop_requested = stop_requested};
    if (auto* instrumented = dynamic_cast<Instrumented*>(&backend)) {
        hooks.label = [instrumented](const std::string& label) { instrumented->set_label(label); };
    }
    return hooks;
}

void overfit(Trainer& trainer, std::int64_t steps) {
    constexpr std::int64_t kSteps = 300;
    constexpr double kEnough = 0.1;  // nll per token
    const std::optional<double> nll = trainer.overfit_one_batch(steps > 0 ? steps : kSteps);
    if (!nll) {
        throw Error(fmt::format("stopped after step {} of an attempt, which saves nothing", trainer.step()));
    }
    if (!(*nll < kEnough)) {
        throw Error(
            fmt::format("one batch was not learnt by heart: nll {:.4f} per token, expected less than {}: something "
                        "in the set-up is wrong, or --steps is too low",
                        *nll, kEnough));
    }
    say("one batch was learnt by heart: the set-up can learn");
}

TrainConfig configuration(const TrainOptions& options) {
    TrainConfig config = read_train_config(options.config, options.data);
    if (options.steps > 0 && !options.overfit) {  // whose steps are no limit of the run
        if (options.steps < config.training.cooldown_steps) {
            throw Error(
                fmt::format("--steps {} is less than \"training.cooldown_steps\" ({}) of {}: ask for at least as "
                            "many, or lower that",
                            options.steps, config.training.cooldown_steps, config.file));
        }
        config.training.steps = options.steps;
    }
    if (options.minutes > 0.0) {
        config.training.minutes = options.minutes;
    }
    if (options.watch_gradients) {
        config.training.watch_gradients = true;
    }
    if (options.precision) {
        config.training.precision = options.precision;
    }
    check_train_config(config);
    return config;
}

void train(const TrainOptions& options) {
    const TrainConfig config = configuration(options);
    listen_for_stop();
    const std::unique_ptr<Backend> backend = open_device(options.device);
    static_cast<void>(arithmetic_of(config, *backend));  // before data is prepared for what the device has not
    const RunFolder folder(options.output, say);
    const bool going_on = options.resume || options.finish;
    if (!going_on) {
        folder.require_unused();
    }
    const bool begun = folder.holds_checkpoints();
    if (options.finish && !begun) {
        throw Error(fmt::format("'{}' holds no checkpoint to make a model of: train first", options.output));
    }
    if (options.resume && !begun) {
        say(fmt::format("'{}' holds no checkpoint yet: starting from the beginning", options.output));
    }
    const std::filesystem::path output(options.output);
    // Without a checkpoint nothing says that a tokenizer left there is of this configuration.
    TrainingData data = prepare_training_data(config, (output / "tokenizer").string(), begun, say);
    Trainer trainer(*backend, config, std::move(data), options.output, hooks_for(*backend));
    if (options.overfit) {
        overfit(trainer, options.steps);
        return;
    }
    if (begun) {
        trainer.resume(options.finish ? Purpose::Finish : Purpose::Train);
    }
    if (!options.finish && trainer.run() == RunEnd::Stopped) {
        throw Error(
            trainer.step() == 0
                ? "stopped before the first step: there is nothing to resume yet"
                : fmt::format("stopped after step {}, which is checkpointed; --resume continues", trainer.step()));
    }
    trainer.write_model((output / "model").string());
}

}  // namespace

void add_train_command(CLI::App& app) {
    auto options = std::make_shared<TrainOptions>();
    CLI::App* command = app.add_subcommand("train", "Train a model by a configuration file");
    command->footer(
        "The output folder gets tokenizer/, checkpoints/, log.jsonl, best.safetensors and, at the end, model/.\n"
        "SIGINT and SIGTERM write a checkpoint first; after any end, --resume continues.\n\nExamples:\n"
        "  headscope train assets/configs/digits.json --data data/digits --output out/digits\n"
        "  headscope train assets/configs/digits.json --data data/digits --output out/digits --resume\n"
        "  headscope train my.json --output out/mine --minutes 30\n"
        "  headscope train my.json --output out/mine --finish\n"
        "  headscope train my.json --output out/try --overfit-one-batch");
    command->add_option("CONFIG", options->config, "Training configuration (JSON), see assets/configs")->required();
    command->add_option("--output", options->output, "Folder of the run")->required();
    command->add_option("--data", options->data,
                        "Folder that the configuration's data paths count from (default: its own)");
    command->add_option("--device", options->device,
                        "cpu, cuda, vulkan, vulkan:1; default: the best GPU, else the CPU");
    add_precision_option(*command, options->precision, "f32, tf32, bf16 or f16, instead of the configuration's");
    command->add_flag("--watch-gradients", options->watch_gradients,
                      "The norm of each layer's gradient in log.jsonl, and where one was not finite");
    CLI::Option* resume = command->add_flag("--resume", options->resume, "Continue from the newest checkpoint");
    CLI::Option* finish =
        command->add_flag("--finish", options->finish, "Train no further: write model/ from the checkpoints there are");
    command
        ->add_flag("--overfit-one-batch", options->overfit,
                   "Learn one batch by heart, to prove a set-up; saves nothing")
        ->excludes(resume)
        ->excludes(finish);
    command->add_option("--steps", options->steps, "Instead of the configuration's limit")
        ->excludes(finish)
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
    command->add_option("--minutes", options->minutes, "Instead of the configuration's limit")
        ->excludes(finish)
        ->check(CLI::Range(0.001, 1e6));
    command->callback([options] { train(*options); });
}

}  // namespace headscope
