// headscope experiment replaced: recurrent and convolutional translators beside the Transformer.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/experiment/experiment_command.h"
#include "cli/experiment/experiment_run.h"
#include "experiment/replaced.h"
#include "options/option_values.h"

namespace headscope {
namespace {

constexpr const char* kReplacedFooter =
    "Trains translators of other kinds of layers with as many parameters as the Transformer, and prints BLEU,\n"
    "perplexity and speeds of the development data; table.json, table.md and by-length.svg in the output folder have\n"
    "the same, and BLEU by the length of the source. All have layer norms before each part. The same command "
    "continues\n"
    "after any end.\n\n"
    "Examples:\n"
    "  headscope experiment replaced --data data/digits --config my.json --output out/replaced --models transformer\n"
    "  headscope experiment replaced --config my.json --data data/digits --output out/timed --minutes 5 --dry-run";

struct ReplacedOptions {
    ExperimentFlags flags;
    std::vector<std::string> models;
    double minutes = 0.0;
};

void run_replaced(const ReplacedOptions& options) {
    const nlohmann::json base = replaced_base(options.flags.base());
    std::vector<Trial> trials;
    for (const ReplacedPlan& plan : plan_replaced(options.models, base, options.minutes)) {
        if (plan.impossible.empty()) {
            trials.push_back(plan.trial);
        } else {
            log_line(fmt::format("{} is impossible with this base: {}", plan.row->name, plan.impossible));
        }
    }
    if (options.flags.dry_run) {
        print_plan(options.flags, base, trials);
        return;
    }
    const Experiment experiment("replaced", base, options.flags.experiment());
    const std::vector<ReplacedPlan> all = plan_replaced({}, base, options.minutes);
    run_reported(experiment, trials, [&](const std::vector<TrialProblem>& problems) {
        const Replaced results(experiment, all);
        results.write(experiment.folder());
        return results.table().plain() + "\n" + results.by_length().plain() + problem_lines(trials, problems);
    });
}

}  // namespace

void add_replaced_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ReplacedOptions>();
    options->flags.common.open = open_options;
    CLI::App* command = app.add_subcommand("replaced", "The recurrent and convolutional models that came before");
    command->footer(kReplacedFooter);
    options->flags.add_data(*command);
    command->option_defaults()->group("Models");
    command->add_option("--models", options->models, "Models to train (default: all)")
        ->delimiter(',')
        ->type_name("MODEL,..");
    options->flags.add_training(*command);
    command->option_defaults()->group("Training");
    command->add_option("--minutes", options->minutes, "Train each for this long, instead of the same steps")
        ->excludes("--steps")
        ->check(real_number(0.001, 1e6));
    command->callback([options] { run_replaced(*options); });
}

}  // namespace headscope
