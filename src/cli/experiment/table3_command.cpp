// headscope experiment table3: the variations of the model in the paper's Table 3.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/experiment/experiment_command.h"
#include "cli/experiment/experiment_run.h"
#include "experiment/table3.h"
#include "options/option_values.h"

namespace headscope {
namespace {

constexpr const char* kTable3Footer =
    "Trains each row on the same data with the same steps, and prints perplexity, BLEU and parameters beside the\n"
    "paper's; table.json, table.md, table.svg and table.png in the output folder have the same. The same command\n"
    "continues after any end and repeats no finished row; later it may ask for further rows or seeds.\n"
    "docs/experiments.md says what the numbers show.\n\n"
    "Examples:\n"
    "  headscope experiment table3 --config my.json --data data/digits --output out/table3 --dry-run\n"
    "  headscope experiment table3 --config my.json --data data/digits --output out/table3 --rows base,D --seeds 2";

struct Table3Options {
    ExperimentFlags flags;
    std::vector<std::string> rows;
    int seeds = 1;
};

struct PlannedRow {
    const Table3Row* row;
    int seed;
};

void run_table3(const Table3Options& options) {
    const nlohmann::json base = options.flags.base();
    std::vector<PlannedRow> planned;
    std::vector<Trial> trials;
    for (int seed = 1; seed <= options.seeds; ++seed) {
        for (const Table3Row* row : chosen_rows(options.rows)) {
            const std::string impossible = row_config(*row, base).impossible;
            if (impossible.empty()) {
                planned.push_back({row, seed});
                trials.push_back(table3_trial(*row, base, seed));
            } else if (seed == 1) {
                log_line(fmt::format("{} is impossible with this base: {}", row->name, impossible));
            }
        }
    }
    if (options.flags.dry_run) {
        print_plan(options.flags, base, trials);
        return;
    }
    const Experiment experiment("table3", base, options.flags.experiment());
    run_reported(experiment, trials, [&](const std::vector<TrialProblem>& problems) {
        Table3 table(base, experiment, options.seeds);
        for (const auto& [trial, problem] : problems) {
            table.add_problem(*planned[trial].row, planned[trial].seed, problem);
        }
        table.write(experiment.folder());
        return table.table().plain() + "\n" + table.notes();
    });
}

}  // namespace

void add_table3_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<Table3Options>();
    options->flags.common.open = open_options;
    CLI::App* command = app.add_subcommand("table3", "The variations of the model in the paper's Table 3");
    command->footer(kTable3Footer);
    options->flags.add_data(*command);
    command->option_defaults()->group("Rows");
    command->add_option("--rows", options->rows, "Rows or groups, such as base,A,D2 (default: all)")
        ->delimiter(',')
        ->type_name("ROW,..");
    command->add_option("--seeds", options->seeds, "Trainings of each row, with seeds from 1")
        ->check(whole_number(1, 1000))
        ->capture_default_str();
    options->flags.add_training(*command);
    command->callback([options] { run_table3(*options); });
}

}  // namespace headscope
