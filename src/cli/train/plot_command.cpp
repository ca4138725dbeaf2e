// headscope plot: the curves of trainings as a picture.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/train/course_json.h"
#include "figures/training_plot.h"
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "paint/picture_file.h"
#include "support/check.h"
#include "support/usage_error.h"
#include "train/log_reader.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

struct PlotOptions {
    CommonOptions common;
    std::vector<std::string> runs;
    std::string output;
    std::string theme = "light";
    double scale = kPictureScale;
    TrainingPlotOptions plot;
};

// A run's log, or the file itself.
fs::path log_of(const std::string& run) {
    const fs::path path = fs::is_directory(run) ? fs::path(run) / "log.jsonl" : fs::path(run);
    if (!fs::is_regular_file(path)) {
        throw Error(fmt::format("'{}' {}: name the folder of a training, or its log.jsonl", run,
                                fs::is_directory(run) ? "holds no log.jsonl" : "does not exist"));
    }
    return path;
}

fs::path folder_of(const std::string& run) {
    const fs::path path = fs::absolute(run).lexically_normal();
    return path.filename().empty() || path.filename() == "log.jsonl" ? path.parent_path() : path;
}

fs::path last_parts(fs::path path, std::size_t count) {
    fs::path parts = path.filename();
    for (path = path.parent_path(); --count > 0 && path.has_filename(); path = path.parent_path()) {
        parts = path.filename() / parts;
    }
    return parts;
}

// As many of the folders' last parts as it takes to tell them apart: "small" and "large", but "a/out" and "b/out".
std::vector<std::string> names_of(const std::vector<std::string>& runs) {
    std::set<fs::path> folders;
    for (const std::string& run : runs) {
        if (!folders.insert(folder_of(run)).second) {
            throw UsageError(fmt::format("the training '{}' is named twice: give each once", run));
        }
    }
    for (std::size_t count = 1;; ++count) {
        std::vector<std::string> names;
        std::set<std::string> different;
        for (const std::string& run : runs) {
            names.push_back(last_parts(folder_of(run), count).string());
            different.insert(names.back());
        }
        if (different.size() == names.size()) {
            return names;
        }
    }
}

void plot(PlotOptions options) {
    const PictureFormat& format =
        options.output == "-" ? kPictureFormats.front() : require_picture_name(options.output);
    if (options.output == "-" && options.common.json) {
        throw UsageError("--json and the picture cannot both go to standard output: name a file with -o");
    }
    options.plot.look.ink = options.theme == "dark" ? kDarkInk : kLightInk;
    const std::vector<std::string> names = names_of(options.runs);
    std::vector<PlottedRun> runs;
    InputFiles inputs;
    nlohmann::ordered_json drawn = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string log = log_of(options.runs[i]).string();
        inputs.add(log);
        require_training_log(log);
        runs.push_back({names[i], read_training_log(log)});
        drawn.push_back({{"name", names[i]}, {"log", log}});
        drawn.back().update(course_json(runs.back().log));
    }
    inputs.refuse(options.output);
    const std::string bytes = format.written(draw_training_plot(runs, options.plot), options.scale);
    if (options.output == "-") {
        write_output(bytes);
        return;
    }
    atomic_write_file(options.output, bytes);
    if (options.common.json) {
        write_output(
            json_document({{"runs", drawn}, {"files", nlohmann::ordered_json::array({written_file(options.output)})}}));
    }
}

}  // namespace

void add_plot_command(CLI::App& app) {
    auto options = std::make_shared<PlotOptions>();
    CLI::App* command =
        app.add_subcommand("plot", "Draw the losses, learning rates and measures of trainings")->group("Train");
    command->footer(
        "Reads log.jsonl of each folder, also of a training that still runs. Losses are per token and unsmoothed.\n"
        "What else a training measures has a chart each: BLEU, or the accuracy and margin of comparisons.\n"
        "Several trainings share their axes.\n\n"
        "Examples:\n"
        "  headscope plot out/digits -o digits.svg\n"
        "  headscope plot out/digits --from 10 --log -o digits.png\n"
        "  headscope plot runs/first runs/second -o both.svg");
    command->add_option("RUN", options->runs, "The folders of trainings, or their log.jsonl")->required();
    command->option_defaults()->group("Selection");
    command->add_option("--from", options->plot.from, "Skip the steps before this one")->check(whole_number(0));
    command->option_defaults()->group("Output");
    command->add_option("-o,--output", options->output, "An " + picture_names() + " file; -: SVG on standard output")
        ->type_name("FILE")
        ->required();
    command->add_flag("--log", options->plot.logarithmic, "Losses on a logarithmic axis");
    command->add_option("--theme", options->theme, "Background")
        ->check(CLI::IsMember({"light", "dark"}))
        ->capture_default_str();
    command->add_option("--scale", options->scale, "PNG pixels per unit of the drawing")
        ->check(real_number(0.05, 100.0))
        ->capture_default_str();
    options->common.add_json(*command);
    command->callback([options] { plot(*options); });
}

}  // namespace headscope
