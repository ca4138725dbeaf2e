// headscope experiment table1: the paper's Table 1, measured.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/experiment/experiment_command.h"
#include "cli/stop_signal.h"
#include "experiment/table1.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr const char* kTable1Footer =
    "Times one layer of each kind, forward and backward, for one sequence of n positions and d columns, and prints "
    "the\n"
    "exponents with which its multiply-adds and times grow, with 95 % intervals. Sequential operations are the "
    "longest\n"
    "chain of dependent ops in a layer; the path is that from the first position to the last one through as many "
    "layers\n"
    "as connect them. Both are counted on the CPU. table.json, table.md, by-length.svg and by-width.svg in the output\n"
    "folder have all measurements. docs/experiments.md says what they show.\n\n"
    "Examples:\n"
    "  headscope experiment table1 --output out/table1 --lengths 64,128,256 --widths 64,128 --repeat 1\n"
    "  headscope experiment table1 --output out/few --lengths 16,32,64 --widths 16,32 --layers self-attention --repeat "
    "1";

struct Table1Flags {
    CommonOptions common;
    std::string output;
    std::vector<std::string> layers;
    std::vector<std::int64_t> lengths = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
    std::vector<std::int64_t> widths = {64, 128, 256, 512, 1024};
    int repeat = 3;
};

void run_table1(const Table1Flags& flags) {
    const std::vector<const LayerKind*> kinds = chosen_layer_kinds(flags.layers);
    listen_for_stop();
    const std::unique_ptr<Backend> backend = open_device(flags.common.device(), flags.common.open);
    const auto cpu = [&] { return open_device("cpu", flags.common.open); };
    constexpr std::int64_t kPathLengths[] = {8, 16, 32, 64};
    constexpr std::int64_t kPathWidth = 16;
    Table1 table(fmt::format("{} ({})", backend->device().id, backend->device().name));
    for (const LayerKind* kind : kinds) {
        Table1Line line{.kind = kind};
        for (const std::int64_t length : kPathLengths) {
            line.paths.push_back(measure_path(cpu, *kind, length, kPathWidth));
        }
        for (const std::int64_t width : flags.widths) {
            for (const std::int64_t length : flags.lengths) {
                if (stop_requested()) {
                    throw Error("stopped by a signal; nothing was written");
                }
                line.costs.push_back(LayerProbe(*backend, *kind, length, width).measure(flags.repeat));
            }
            log_line(fmt::format("{}, d = {}: {:.3g} ms forward and {:.3g} ms backward for n = {}", kind->name, width,
                                 1e3 * line.costs.back().pass.forward_seconds,
                                 1e3 * line.costs.back().pass.backward_seconds, flags.lengths.back()));
        }
        table.add(std::move(line));
    }
    table.write(flags.output);
    write_output(table.table().plain());
    if (const TextTable crossings = table.crossings(); !crossings.rows.empty()) {
        write_output(("\n" + crossings.plain()));
    }
}

}  // namespace

void add_table1_command(CLI::App& app, const OpenOptions& open_options) {
    auto flags = std::make_shared<Table1Flags>();
    flags->common.open = open_options;
    CLI::App* command = app.add_subcommand("table1", "Cost and path length of each kind of layer: Table 1");
    command->footer(kTable1Footer);
    command->option_defaults()->group("Data");
    command->add_option("--output", flags->output, "Folder of the experiment")->type_name("FOLDER")->required();
    command->option_defaults()->group("Models");
    command->add_option("--layers", flags->layers, "Kinds of layers (default: all)")
        ->delimiter(',')
        ->type_name("LAYER,..");
    command->add_option("--lengths", flags->lengths, "Positions n (default: 16 to 4,096, doubling)")
        ->delimiter(',')
        ->check(whole_number(1, 65'536))
        ->type_name("N,..");
    command->add_option("--widths", flags->widths, "Columns d (default: 64 to 1,024, doubling)")
        ->delimiter(',')
        ->check(whole_number(2, 16'384))
        ->type_name("N,..");
    command->option_defaults()->group("Measurement");
    command->add_option("--repeat", flags->repeat, "Runs of each size; the median is reported")
        ->check(whole_number(1, 1000))
        ->capture_default_str();
    flags->common.add_device(*command);
    command->callback([flags] {
        for (std::vector<std::int64_t>* sizes : {&flags->lengths, &flags->widths}) {
            std::sort(sizes->begin(), sizes->end());
            sizes->erase(std::unique(sizes->begin(), sizes->end()), sizes->end());
        }
        run_table1(*flags);
    });
}

}  // namespace headscope
