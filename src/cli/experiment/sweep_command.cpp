// headscope sweep: chooses values of a configuration on development data.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/experiment/experiment_run.h"
#include "experiment/sweep.h"
#include "options/option_values.h"

namespace headscope {
namespace {

constexpr const char* kSweepFooter =
    "Trains every combination of the values on the same data, and lists the results, best first; table.json and\n"
    "table.md in the output folder have the same. Beam and length penalty need no further training. The same command\n"
    "continues after any end and repeats no finished training; later it may name further values.\n\n"
    "Examples:\n"
    "  headscope sweep my.json --data data/digits --output out/sweep --vary training.label_smoothing=0,0.1 --dry-run\n"
    "  headscope sweep my.json --data data/digits --output out/sweep --vary model.attention.heads=1,2 --vary "
    "decoding.length_penalty=0,0.6\n"
    "  headscope sweep my.json --data data/digits --output out/both --random 2 --vary "
    "training.residual_dropout+training.embedding_dropout=0,0.1,0.2,0.3";

constexpr const char* kSweepOrders[] = {"bleu", "ppl", "f1"};

struct SweepOptions {
    ExperimentFlags flags;
    std::vector<std::string> vary;
    std::size_t random = 0;
    std::uint64_t seed = 1;
    Sweep::Order order = Sweep::Order::Bleu;
};

void run_sweep(const SweepOptions& options) {
    const nlohmann::json base = options.flags.base();
    std::vector<SweepAxis> axes;
    std::transform(options.vary.begin(), options.vary.end(), std::back_inserter(axes), SweepAxis::parse);
    Sweep sweep(base, axes, options.random, options.seed, options.order);
    run_trainings("sweep", options.flags, base, sweep);
}

}  // namespace

void add_sweep_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<SweepOptions>();
    options->flags.common.open = open_options;
    CLI::App* command =
        app.add_subcommand("sweep", "Choose values of a configuration on development data")->group("Train");
    command->footer(kSweepFooter);
    options->flags.add_data(*command);
    command->option_defaults()->group("Values");
    command->add_option("--vary", options->vary, "Values of a key of the configuration; may be repeated")
        ->type_name("SECTION.KEY=VALUE,..")
        ->allow_extra_args(false)
        ->required();
    CLI::Option* random =
        command->add_option("--random", options->random, "Only this many combinations, drawn at random; 0: all")
            ->check(whole_number(0));
    command->add_option("--seed", options->seed, "Random seed of --random")->check(seed_number())->needs(random);
    add_choice(
        *command, "--sort", kSweepOrders,
        [options](std::size_t order) { options->order = static_cast<Sweep::Order>(order); },
        "What the table is sorted by; f1: of models that write trees (docs/parsing.md)");
    options->flags.add_training(*command, "CONFIG");
    command->callback([options] { run_sweep(*options); });
}

}  // namespace headscope
