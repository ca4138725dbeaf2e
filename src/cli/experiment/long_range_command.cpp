// headscope experiment long-range: dependencies over growing distances, learnt by each kind of layer.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/experiment/experiment_command.h"
#include "cli/stop_signal.h"
#include "experiment/long_range.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

constexpr const char* kLongRangeFooter =
    "Trains a small causal language model for each layer and distance, all with as many parameters, and prints the\n"
    "steps until 99 % of the answers were right, or the accuracy where they never were. recall: after D random "
    "symbols\n"
    "the first one is asked for. copy: D random symbols are to be repeated. table.json, table.md, recall.svg and\n"
    "copy.svg in the output folder have the same. The same command continues after any end.\n\n"
    "Examples:\n"
    "  headscope experiment long-range --output out/long-range --distances 2,4 --steps 40\n"
    "  headscope experiment long-range --output out/short --layers self-attention --distances 4,8 --steps 50";

struct LongRangeFlags {
    CommonOptions common;
    std::string output;
    std::vector<std::string> layers;
    LongRangeSettings settings;
};

void run_long_range(const LongRangeFlags& flags) {
    if (flags.settings.d_model % 4 != 0) {
        throw UsageError(
            fmt::format("--d-model must be a multiple of 4, for four heads, found {}", flags.settings.d_model));
    }
    const std::vector<const LayerKind*> kinds = chosen_layer_kinds(flags.layers);
    LongRange experiment(flags.output, flags.settings);
    listen_for_stop();
    const std::unique_ptr<Backend> backend = open_device(flags.common.device(), flags.common.open);
    for (const std::int64_t distance : flags.settings.distances) {
        for (const LongRangeTask task : {LongRangeTask::Recall, LongRangeTask::Copy}) {
            for (const LayerKind* kind : kinds) {
                if (experiment.find(task, kind->name, distance) != nullptr) {
                    continue;
                }
                const std::optional<LongRangeResult> result =
                    learn_long_range(*backend, flags.settings, task, *kind, distance, stop_requested);
                if (!result) {
                    throw Error("stopped by a signal; the same command continues");
                }
                experiment.add(*result);
                log_line(fmt::format("{} over {}, {}: {}", kLongRangeTasks[static_cast<std::size_t>(task)], distance,
                                     kind->name,
                                     result->steps ? fmt::format("{} steps", *result->steps)
                                                   : fmt::format("{:.1f} % right after {} steps",
                                                                 100.0 * result->accuracy, flags.settings.steps)));
            }
        }
    }
    write_output(experiment.table().plain());
}

}  // namespace

void add_long_range_command(CLI::App& app, const OpenOptions& open_options) {
    auto flags = std::make_shared<LongRangeFlags>();
    flags->common.open = open_options;
    LongRangeSettings& settings = flags->settings;
    CLI::App* command = app.add_subcommand("long-range", "How many steps each kind of layer needs to learn a distance");
    command->footer(kLongRangeFooter);
    command->option_defaults()->group("Data");
    command->add_option("--output", flags->output, "Folder of the experiment")->type_name("FOLDER")->required();
    command->option_defaults()->group("Models");
    command->add_option("--layers", flags->layers, "Kinds of layers (default: all)")
        ->delimiter(',')
        ->type_name("LAYER,..");
    command->add_option("--depth", settings.layers, "Layers of each model")
        ->check(whole_number(1, 64))
        ->capture_default_str();
    command->add_option("--d-model", settings.d_model, "Columns, a multiple of 4")
        ->check(whole_number(4, 4096))
        ->capture_default_str();
    command->option_defaults()->group("Training");
    command
        ->add_option("--distances", settings.distances, "Symbols between question and answer (default: 8,16,32,64,128)")
        ->delimiter(',')
        ->check(whole_number(1, 4096))
        ->type_name("N,..");
    command->add_option("--steps", settings.steps, "At most, for each model")
        ->check(whole_number(1, 1'000'000))
        ->capture_default_str();
    command->add_option("--batch", settings.sequences, "Sequences of each step")
        ->check(whole_number(1, 100'000))
        ->capture_default_str();
    command->add_option("--seed", settings.seed, "Random seed of weights and sequences")
        ->check(seed_number())
        ->capture_default_str();
    flags->common.add_device(*command);
    command->callback([flags] { run_long_range(*flags); });
}

}  // namespace headscope
