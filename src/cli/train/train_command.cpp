// headscope train: from a configuration file, or from texts, to a model directory.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/train/train_run.h"
#include "infer/model_lookup.h"
#include "model/model_directory.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "options/text_options.h"
#include "support/check.h"
#include "support/usage_error.h"
#include "train/train_config.h"

namespace headscope {
namespace {

constexpr const char* kFooter =
    "The output folder gets tokenizer/, checkpoints/, training.json (the configuration as it was run), log.jsonl,\n"
    "best.safetensors and, at the end, model/. SIGINT and SIGTERM write a checkpoint first; after any end, --resume\n"
    "continues.\n\nExamples:\n"
    "  headscope train --source my.en --target my.de --output out/my\n"
    "  headscope train --output out/my --resume\n"
    "  headscope train --source my.en --target my.de --output out/faster --device cuda:0,cuda:1\n"
    "  headscope train --text my.txt --output out/lm\n"
    "  headscope train --task sft --from out/lm --text responses.jsonl --show-labels 2 --output out/sft\n"
    "  headscope train --task sft --from out/lm --text responses.jsonl --template none --output out/sft\n"
    "  headscope train --task classify --from out/lm --text reviews.jsonl --output out/mood\n"
    "  headscope train --task dpo --from out/sft --text ranked.jsonl --beta 0.1 --output out/dpo\n"
    "  headscope train digits --data data/digits --output out/digits --dry-run\n"
    "  headscope train digits --data data/digits --output out/digits\n"
    "  headscope train digits --data data/digits --output out/digits --resume\n"
    "  headscope train my.json --output out/mine --ranks 4 --network 12.5,20 --dry-run\n"
    "  headscope train my.json --output out/mine --minutes 30 --batch auto\n"
    "  headscope train my.json --output out/mine --finish\n"
    "  headscope train my.json --output out/try --overfit-one-batch";

// Requirements that CLI11 cannot express.
void check(const TrainOptions& options) {
    if (options.given.texts.source.empty() != options.given.texts.target.empty()) {
        throw UsageError(fmt::format("--source and --target belong together: --{} is missing",
                                     options.given.texts.source.empty() ? "source" : "target"));
    }
    for (const std::string& text : {options.given.texts.source, options.given.texts.target, options.given.texts.text}) {
        if (!text.empty() && !std::filesystem::is_regular_file(text)) {  // it is read twice
            throw Error(std::filesystem::exists(text) ? fmt::format("'{}' is not a file", text)
                                                      : fmt::format("'{}' does not exist", text));
        }
    }
    if (options.task_of_pairs && !options.given.texts.given()) {
        throw UsageError("--task needs --text, or --source and --target");
    }
    if (options.task_of_pairs && *options.task_of_pairs != options.given.texts.text.empty()) {
        throw UsageError(*options.task_of_pairs ? "this --task is of two texts: give --source and --target"
                                                : "this --task is of one text: give --text");
    }
    if (options.given.config.empty() && !options.given.texts.given() && !options.resume && !options.finish) {
        throw UsageError("nothing to train on: give a configuration, two texts with --source and --target, or --text");
    }
}

// "What a model of --text learns: the next piece (causal), masked pieces (masked), ..; of --source and --target: .."
std::string what_tasks_learn() {
    const auto list = [](bool pairs) {
        std::string text;
        for (const TaskTraits& task : tasks()) {
            if (task.reads_pairs == pairs) {
                text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", task.what, task.key);
            }
        }
        return text;
    };
    return fmt::format(
        "What a model of --text learns: {}; of --source and --target: {}; tasks on responses and on own translations "
        "need --from",
        list(false), list(true));
}

void add_input(CLI::App& command, TrainOptions& options) {
    command.option_defaults()->group("Data");
    CLI::Option* config = command.add_option_function<std::string>(
        "CONFIG,--config",
        [&options](const std::string& wanted) {
            options.given.config = find_config(wanted, options.common.search_path);
        },
        "Training configuration: a JSON file, or the name of one in assets/configs, such as paper/base-en-de; --resume "
        "and --finish use the run's own by default");
    config->type_name("FILE");
    CLI::Option* source = command
                              .add_option("--source", options.given.texts.source,
                                          "Text, one sentence per line, instead of a configuration, which is "
                                          "chosen by the amount of text")
                              ->type_name("FILE");
    CLI::Option* target =
        command.add_option("--target", options.given.texts.target, "Its translation, line by line")->type_name("FILE");
    CLI::Option* text =
        command
            .add_option("--text", options.given.texts.text,
                        "Text for a language model, or JSON Lines of prompts with responses or of texts "
                        "with classes, instead of a configuration, which is chosen by the amount of text")
            ->type_name("FILE");
    std::vector<const char*> keys;
    for (const TaskTraits& task : tasks()) {
        keys.push_back(task.key);
    }
    add_choice(
        command, "--task", keys,
        [&options](std::size_t at) {
            const TaskTraits& task = tasks()[at];
            (task.reads_pairs ? options.given.texts.of_pairs : options.given.texts.task) = task.task;
            options.task_of_pairs = task.reads_pairs;
        },
        what_tasks_learn())
        ->default_str("causal of --text, translate of --source and --target");
    add_choice(
        command, "--documents", kDocumentForms,
        [&options](std::size_t form) { options.given.texts.documents = static_cast<DocumentForm>(form); },
        "Documents of --text: one per line, or separated by empty lines")
        ->needs(text);
    CLI::Option* data =
        command.add_option("--data", options.given.data, "Folder of the configuration's data files (default: its own)")
            ->type_name("FOLDER");
    for (CLI::Option* one : {source, target, text}) {
        one->excludes(config)->excludes(data);
    }
    text->excludes(source);
    data->needs(config);
    command.add_option("-o,--output", options.output, "Folder of the run")->type_name("FOLDER")->required();
    options.common.add_device_list(command);
    command
        .add_option_function<std::string>(
            "--from",
            [&options](const std::string& folder) {
                options.from = model_folder(named_model(folder, options.common.search_path));
            },
            "Start from the weights and the tokenizer of this model or training, not from random weights")
        ->type_name("FOLDER")
        ->check(not_empty);
    for (const auto& [name, language] : {std::pair{"--source-language", &options.given.texts.languages.source},
                                         {"--target-language", &options.given.texts.languages.target}}) {
        command.add_option(name, *language, "Language of all pairs, for a --from model that needs it")
            ->check(not_empty)
            ->needs("--from")
            ->needs("--source");
    }
}

void add_course(CLI::App& command, TrainOptions& options) {
    options.common.add_json(command);
    command.option_defaults()->group("Run");
    CLI::Option* source = command.get_option("--source");
    CLI::Option* resume = command.add_flag("--resume", options.resume, "Continue from the newest checkpoint");
    CLI::Option* finish =
        command.add_flag("--finish", options.finish, "Write model/ from the existing checkpoints without training");
    CLI::Option* overfit = command.add_flag("--overfit-one-batch", options.overfit,
                                            "Overfit one batch, to test the set-up; saves nothing");
    CLI::Option* dry =
        command.add_flag("--dry-run", options.dry_run, "Print what the training would do and need, and write nothing");
    for (CLI::Option* alone : {overfit, dry}) {
        alone->excludes(resume)->excludes(finish);
    }
    dry->excludes(overfit);
    command
        .add_option("--show-labels", options.show_labels,
                    "Print the pieces of the first N examples of a language model, those with a loss in brackets, and "
                    "write nothing")
        ->type_name("N")
        ->check(whole_number(1, 1'000'000))
        ->excludes(overfit)
        ->excludes(dry)
        ->excludes(resume)
        ->excludes(finish);
    for (CLI::Option* later : {resume, finish}) {
        later->excludes(source)->excludes(command.get_option("--text"))->excludes(command.get_option("--from"));
    }
}

std::string wrong_network(const std::string& text) {
    try {
        static_cast<void>(parse_network(text));
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

void add_ranks(CLI::App& command, TrainOptions& options) {
    const std::vector<CLI::Option*> added = options.ranks.add(command);
    CLI::Option* restarts = command
                                .add_option("--max-restarts", options.ranks.restarts,
                                            "Start all ranks again from the last checkpoint when one fails, at most "
                                            "so often")
                                ->check(whole_number(0, 1000))
                                ->capture_default_str();
    for (CLI::Option* option : {added[0], added[1], restarts}) {
        for (const char* one : {"--overfit-one-batch", "--show-labels", "--finish"}) {
            option->excludes(command.get_option(one));
        }
    }
    CLI::Option* dry = command.get_option("--dry-run");
    restarts->excludes(dry);
    added[1]->excludes(dry);
    command
        .add_option("--network", options.network,
                    "Of --dry-run with --ranks: what `headscope bench all-reduce` found between the ranks")
        ->type_name("GB/S,US")
        ->check(CLI::Validator([](const std::string& text) { return wrong_network(text); }, ""))
        ->needs(dry);
}

std::string wrong_batch(const std::string& text) {
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && text.size() <= 9;
    return text == "auto" || (number && text != "0") ? "" : "'" + text + "' is neither a number of tokens nor auto";
}

// Instead of what the configuration says.
void add_changes(CLI::App& command, TrainOptions& options) {
    command.option_defaults()->group("Training");
    CLI::Option* finish = command.get_option("--finish");
    constexpr std::uint64_t kMany = 1'000'000'000;
    command
        .add_option("--steps", options.given.steps,
                    "Limit of steps; replaces all limits of the configuration, the first reached ends the run")
        ->excludes(finish)
        ->check(whole_number(1, kMany));
    command.add_option("--epochs", options.given.epochs, "Limit of epochs, like --steps")
        ->excludes(finish)
        ->check(real_number(0.001, 1e6));
    command.add_option("--tokens", options.given.tokens, "Limit of target tokens, like --steps")
        ->excludes(finish)
        ->check(whole_number(1, 1000 * kMany));
    command.add_option("--minutes", options.given.minutes, "Limit of minutes, like --steps")
        ->excludes(finish)
        ->check(real_number(0.001, 1e6));
    command
        .add_option("--batch", options.given.batch,
                    "Tokens per side in a step, or auto: what fits in the device's memory, up to 25000")
        ->excludes(finish)
        ->check(CLI::Validator(wrong_batch, "TOKENS or auto"));
    options.common.add_precision(command, training_precisions())->default_str("the configuration's");
    command
        .add_option("--validate-bleu", options.given.validate_bleu,
                    "At each validation, also print greedy BLEU of the first N held-out pairs; 0: none")
        ->check(whole_number(0, kMany));
    add_response_template(command, options.given.chat)->excludes(finish)->default_str("the --from model's");
    command
        .add_option_function<std::string>(
            "--reward",
            [&options](const std::string& folder) {
                options.given.reward = model_folder(named_model(folder, options.common.search_path));
            },
            "Of --task ppo: the model or training whose scores the responses are to earn, of --task reward")
        ->type_name("FOLDER")
        ->excludes(finish)
        ->check(not_empty);
    command
        .add_option("--kl", options.given.kl,
                    "Of --task ppo: the price of each nat by which it leaves its reference (default: 0.05)")
        ->excludes(finish)
        ->check(real_number(0.0, 1000.0));
    command
        .add_option("--learning-rate", options.given.learning_rate,
                    "Learning rate at its highest, at the end of the warm-up (default: the configuration's)")
        ->excludes(finish)
        ->check(real_number(1e-12, 1000.0));
    command
        .add_option("--beta", options.given.beta,
                    "Of --task dpo: how strongly the model is kept near its reference (default: 0.1)")
        ->excludes(finish)
        ->check(real_number(1e-6, 1000.0));
    command.add_flag("--watch-gradients", options.given.watch_gradients,
                     "Log the gradient norm of each layer in log.jsonl, and where one is not finite");
    command.add_flag("--tensorboard", options.given.tensorboard, "Also write event files in tensorboard/");
}

}  // namespace

void add_train_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words) {
    auto options = std::make_shared<TrainOptions>();
    options->common.open = open_options;
    options->ranks.command.assign(words, words + count);
    CLI::App* command =
        app.add_subcommand("train", "Train a model from a configuration file or from texts")->group("Train");
    command->footer(kFooter);
    add_input(*command, *options);
    add_course(*command, *options);
    add_changes(*command, *options);
    add_ranks(*command, *options);
    command->callback(
        [options, precision = command->get_option("--precision"), documents = command->get_option("--documents")] {
            if (precision->count() > 0) {
                options->given.precision = options->common.precision;
            }
            check(*options);
            const TaskTraits& task = traits(options->given.texts.task);
            if (documents->count() > 0 && (task.reads_replies || task.reads_labels)) {
                throw UsageError(fmt::format(
                    "--documents is for text, and --task {} reads one object per line: leave it out", task.key));
            }
            run_training(*options);
        });
}

}  // namespace headscope
