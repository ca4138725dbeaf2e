// headscope experiment: repeats the paper's experiments.
#include "cli/experiment/experiment_command.h"

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace headscope {

void add_experiment_command(CLI::App& app, const OpenOptions& open_options) {
    CLI::App* command =
        app.add_subcommand("experiment", "Repeat the paper's experiments with your data")->group("Train");
    command->require_subcommand(1);
    command->footer(
        "Example:\n"
        "  headscope experiment table3 --config my.json --data data/digits --output out/table3 --rows base,D --seeds "
        "2");
    add_table1_command(*command, open_options);
    add_table2_command(*command, open_options);
    add_table3_command(*command, open_options);
    add_attention_scores_command(*command, open_options);
    add_long_range_command(*command, open_options);
    add_replaced_command(*command, open_options);
}

}  // namespace headscope
