// headscope average: the mean of checkpoints, as a model.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "io/input_files.h"
#include "model/model_directory.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "registry/registry.h"
#include "support/counted.h"
#include "train/average_models.h"

namespace headscope {
namespace {

struct AverageOptions {
    CommonOptions common;
    std::vector<std::string> inputs;
    std::string output;
};

void average(const AverageOptions& options) {
    InputFiles inputs(options.common.open.settings);
    for (const std::string& path : options.inputs) {
        inputs.add(model_folder(path));
    }
    inputs.refuse("-");
    for (const char* name : {"config.json", "model.safetensors"}) {
        inputs.refuse((std::filesystem::path(options.output) / name).string());
    }
    const auto backend = open_device("cpu", options.common.open);
    const std::int64_t parameters = average_models(*backend, options.inputs, options.output);
    if (options.common.json) {
        write_output(json_document({{"output", options.output},
                                    {"inputs", options.inputs},
                                    {"parameters", parameters},
                                    {"files", written_files(options.output)}}));
        return;
    }
    log_line(fmt::format("{}: the mean of {}, {} parameters", options.output,
                         counted(options.inputs.size(), "set of weights", "sets of weights"),
                         fmt::group_digits(parameters)));
}

}  // namespace

void add_average_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<AverageOptions>();
    options->common.open = open_options;
    CLI::App* command = app.add_subcommand("average", "Write the mean of checkpoints as a model")->group("Train");
    command->footer(
        "Checkpoints stay in the folder of their training, from which the model gets its tokenizer and configuration.\n"
        "All weights have one shape and one vocabulary. The result is in F32; headscope import makes it smaller.\n\n"
        "Examples:\n"
        "  headscope average out/lm/checkpoints/step-*.safetensors --output out/lm-mean\n"
        "  headscope average out/lm out/lm/checkpoints/step-00000002.safetensors --output out/lm-mean");
    command
        ->add_option("CHECKPOINT", options->inputs,
                     "Checkpoints of trainings (checkpoints/step-N.safetensors, best.safetensors) or model directories")
        ->required()
        ->check(not_empty);
    command->add_option("-o,--output", options->output, "Model directory to write; an existing one is replaced")
        ->group("Output")
        ->required()
        ->check(not_empty);
    options->common.add_json(*command);
    command->callback([options] { average(*options); });
}

}  // namespace headscope
