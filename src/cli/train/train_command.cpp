// headscope train: from a configuration file, or from two texts, to a model directory.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/train/train_run.h"
#include "model/model_directory.h"
#include "options/option_values.h"
#include "options/precision_option.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr const char* kFooter =
    "The output folder gets tokenizer/, checkpoints/, training.json (the configuration as it was run), log.jsonl,\n"
    "best.safetensors and, at the end, model/. SIGINT and SIGTERM write a checkpoint first; after any end, --resume\n"
    "continues.\n\nExamples:\n"
    "  headscope train --source my.en --target my.de --output out/my\n"
    "  headscope train --output out/my --resume\n"
    "  headscope train assets/configs/digits.json --data data/digits --output out/digits --dry-run\n"
    "  headscope train assets/configs/digits.json --data data/digits --output out/digits\n"
    "  headscope train assets/configs/digits.json --data data/digits --output out/digits --resume\n"
    "  headscope train my.json --output out/mine --minutes 30 --batch auto\n"
    "  headscope train my.json --output out/mine --finish\n"
    "  headscope train my.json --output out/try --overfit-one-batch";

// What may not stand beside what is said by CLI; this is what must.
void check(const TrainOptions& options) {
    if (options.given.source.empty() != options.given.target.empty()) {
        throw Error(fmt::format("--source and --target belong together: --{} is missing",
                                options.given.source.empty() ? "source" : "target"));
    }
    for (const std::string& text : {options.given.source, options.given.target}) {
        if (!text.empty() && !std::filesystem::is_regular_file(text)) {  // it is read twice
            throw Error(std::filesystem::exists(text) ? fmt::format("'{}' is no file", text)
                                                      : fmt::format("'{}' does not exist", text));
        }
    }
    if (options.given.config.empty() && options.given.source.empty() && !options.resume && !options.finish) {
        throw Error("nothing to train with: give a configuration, or two texts with --source and --target");
    }
}

void add_input(CLI::App& command, TrainOptions& options) {
    CLI::Option* config = command.add_option("CONFIG", options.given.config,
                                             "Training configuration (JSON), see assets/configs; with --resume or "
                                             "--finish by default the run's own");
    CLI::Option* source = command.add_option("--source", options.given.source,
                                             "Text of one sentence a line: instead of a configuration, which is then "
                                             "chosen by the amount of text");
    CLI::Option* target = command.add_option("--target", options.given.target, "Its translation, line by line");
    CLI::Option* data = command.add_option("--data", options.given.data,
                                           "Folder that the configuration's data paths count from (default: its own)");
    for (CLI::Option* text : {source, target}) {
        text->excludes(config)->excludes(data);
    }
    data->needs(config);
    command.add_option("--output", options.output, "Folder of the run")->required();
    command.add_option("--device", options.device, "cpu, cuda, vulkan, vulkan:1; default: the best GPU, else the CPU")
        ->check(something);
    command
        .add_option_function<std::string>(
            "--from", [&options](const std::string& folder) { options.from = model_folder(folder); },
            "Begin with the weights and the tokenizer of this model, or of this training's, not by chance")
        ->check(something);
}

void add_course(CLI::App& command, TrainOptions& options) {
    CLI::Option* source = command.get_option("--source");
    CLI::Option* resume = command.add_flag("--resume", options.resume, "Continue from the newest checkpoint");
    CLI::Option* finish =
        command.add_flag("--finish", options.finish, "Train no further: write model/ from the checkpoints there are");
    CLI::Option* overfit = command.add_flag("--overfit-one-batch", options.overfit,
                                            "Learn one batch by heart, to prove a set-up; saves nothing");
    CLI::Option* dry = command.add_flag("--dry-run", options.dry_run,
                                        "Say what the training would be, take and write, and write nothing");
    for (CLI::Option* alone : {overfit, dry}) {
        alone->excludes(resume)->excludes(finish);
    }
    dry->excludes(overfit);
    for (CLI::Option* later : {resume, finish}) {
        later->excludes(source)->excludes(command.get_option("--from"));
    }
}

std::string wrong_batch(const std::string& text) {
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && text.size() <= 9;
    return text == "auto" || (number && text != "0") ? "" : "'" + text + "' is neither a number of tokens nor auto";
}

// Instead of what the configuration says.
void add_changes(CLI::App& command, TrainOptions& options) {
    CLI::Option* finish = command.get_option("--finish");
    constexpr std::uint64_t kMany = 1'000'000'000;
    command
        .add_option("--steps", options.given.steps,
                    "Instead of all limits of the configuration; the first reached counts")
        ->excludes(finish)
        ->check(whole_number(1, kMany));
    command
        .add_option("--epochs", options.given.epochs,
                    "Instead of all limits of the configuration; the first reached counts")
        ->excludes(finish)
        ->check(real_number(0.001, 1e6));
    command
        .add_option("--tokens", options.given.tokens,
                    "Of the target side, instead of all limits of the configuration; the first reached counts")
        ->excludes(finish)
        ->check(whole_number(1, 1000 * kMany));
    command
        .add_option("--minutes", options.given.minutes,
                    "Instead of all limits of the configuration; the first reached counts")
        ->excludes(finish)
        ->check(real_number(0.001, 1e6));
    command
        .add_option("--batch", options.given.batch,
                    "Tokens of each side in a step, or auto: what the device's memory holds, at most 25000")
        ->excludes(finish)
        ->check(CLI::Validator(wrong_batch, "TOKENS or auto"));
    add_precision_option(command, options.given.precision, "f32, tf32, bf16 or f16, instead of the configuration's");
    command
        .add_option("--validate-bleu", options.given.validate_bleu,
                    "BLEU of the first so many held-out pairs at each validation, translated greedily; 0: none")
        ->check(whole_number(0, kMany));
    command.add_flag("--watch-gradients", options.given.watch_gradients,
                     "The norm of each layer's gradient in log.jsonl, and where one was not finite");
    command.add_flag("--tensorboard", options.given.tensorboard, "Event files in tensorboard/, beside log.jsonl");
}

}  // namespace

void add_train_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<TrainOptions>();
    options->open_options = open_options;
    CLI::App* command = app.add_subcommand("train", "Train a model by a configuration file, or from two texts");
    command->footer(kFooter);
    add_input(*command, *options);
    add_course(*command, *options);
    add_changes(*command, *options);
    command->callback([options] {
        check(*options);
        run_training(*options);
    });
}

}  // namespace headscope
