// headscope experiment table2: translation quality as in the paper's Table 2.
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/experiment/experiment_command.h"
#include "cli/experiment/experiment_run.h"
#include "data/corpus.h"
#include "experiment/table2.h"
#include "io/atomic_file.h"
#include "options/option_values.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable2Footer =
    "Trains models of two shapes, translates test.tsv with the last checkpoint, the mean of the last five, and\n"
    "ensembles of two and four seeds, and prints BLEU beside the paper's; table.json and table.md in the output "
    "folder\n"
    "have the same. The same command continues after any end. docs/experiments.md says what the numbers show.\n\n"
    "Example:\n"
    "  headscope experiment table2 --config my.json --data data/digits --output out/table2 --shapes base --seeds 2";

struct Table2Options {
    ExperimentFlags flags;
    std::vector<std::string> shapes{std::begin(kTable2Shapes), std::end(kTable2Shapes)};
    int seeds = 4;
};

void run_table2(const Table2Options& options) {
    const nlohmann::json base = options.flags.base();
    const std::string test = (fs::path(options.flags.data) / "test.tsv").string();
    const bool exists = fs::is_regular_file(test);
    if (!exists || read_tsv(test).source.empty()) {
        throw Error(fmt::format("'{}' {}: Table 2 needs a test text of \"source TAB target\" lines", test,
                                exists ? "is empty" : "does not exist"));
    }
    Table2 table(base, options.shapes, options.seeds);
    if (options.flags.dry_run) {
        print_plan(options.flags, base, table.trials());
        return;
    }
    const ExperimentOptions experiment_options = options.flags.experiment();
    const Experiment experiment("table2", base, experiment_options);
    const auto write = [&](const std::vector<TrialProblem>& problems) {
        const std::unique_ptr<Backend> backend = experiment_options.open(experiment_options.devices.front());
        table.measure(*backend, experiment, test);
        const fs::path folder(experiment.folder());
        const TextTable text = table.table(experiment);
        const std::string notes = "\n" + table.notes() + problem_lines(table.trials(), problems);
        atomic_write_file((folder / "table.json").string(), table.json(experiment).dump(2) + "\n");
        atomic_write_file((folder / "table.md").string(), text.markdown() + notes);
        return text.plain() + notes;
    };
    run_reported(experiment, table.trials(), write);
    if (const std::size_t failed = table.problems().size(); failed > 0) {
        throw Error(fmt::format("{} could not be measured; the same command tries again", counted(failed, "row")));
    }
}

}  // namespace

void add_table2_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<Table2Options>();
    options->flags.common.open = open_options;
    CLI::App* command = app.add_subcommand("table2", "Translation quality of one model, means and ensembles: Table 2");
    command->footer(kTable2Footer);
    options->flags.add_data(*command);
    command->option_defaults()->group("Models");
    command->add_option("--shapes", options->shapes, "Shapes of the model: base,big (default), or one of them")
        ->delimiter(',')
        ->check(CLI::IsMember({"base", "big"}))
        ->type_name("SHAPE,..");
    command->add_option("--seeds", options->seeds, "Trainings of each shape; ensembles need 2 and 4")
        ->check(whole_number(1, 4))
        ->capture_default_str();
    options->flags.add_training(*command);
    command->callback([options] { run_table2(*options); });
}

}  // namespace headscope
