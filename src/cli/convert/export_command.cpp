// headscope export: writes a model in the format of another program.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/opened_model.h"
#include "import/export_model.h"
#include "infer/model_lookup.h"
#include "io/input_files.h"
#include "io/usual_places.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "registry/registry.h"

namespace headscope {
namespace {

constexpr const char* kFormatNames[] = {"huggingface", "ctranslate2", "marian"};
constexpr ExportFormat kFormats[] = {ExportFormat::HuggingFace, ExportFormat::CTranslate2, ExportFormat::Marian};

struct ExportOptions {
    CommonOptions common;
    std::string model;
    std::string output;
    std::size_t format = 0;  // of kFormatNames and kFormats
};

void export_as(const ExportOptions& options) {
    const std::string folder = model_folder(named_model(options.model, usual_places()));
    InputFiles inputs;
    inputs.add(folder);
    inputs.refuse(options.output);
    const ModelDirectory model = open_with_remarks(folder);
    const auto backend = open_device("cpu", options.common.open);
    const auto parameters = read_parameters(*backend, model, DType::F32);
    const ExportFormat format = kFormats[options.format];
    export_model(model, *parameters, format, options.output);
    const std::vector<std::string> left_out = options_left_out(model, format);
    for (const std::string& remark : left_out) {
        log_line("headscope: " + remark);
    }
    if (options.common.json) {
        write_output(json_document({{"output", options.output},
                                    {"format", kFormatNames[options.format]},
                                    {"architecture", name_of(model.config.architecture)},
                                    {"parameters", count_parameters(model.config)},
                                    {"remarks", model.remarks},
                                    {"left_out", left_out},
                                    {"files", written_files(options.output)}}));
        return;
    }
    log_line(fmt::format("{}: {}, {} parameters", options.output, name_of(model.config.architecture),
                         fmt::group_digits(count_parameters(model.config))));
}

}  // namespace

void add_export_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ExportOptions>();
    options->common.open = open_options;
    CLI::App* command = app.add_subcommand("export", "Write a model in the format of another program")->group("Models");
    command->footer(
        "huggingface writes a folder for transformers: MarianMT, GPT-2 or BERT. ctranslate2 and marian hold "
        "translation\n"
        "models. What a format cannot hold is listed in one error; docs/importing.md has the rules.\n\n"
        "Examples:\n"
        "  headscope export opus-mt-en-de --format huggingface --output out/opus\n"
        "  headscope export runs/my-model --format ctranslate2 --output out/ct2");
    command->add_option("MODEL", options->model, "Model directory, or another program's model")
        ->required()
        ->check(not_empty);
    command->option_defaults()->group("Output");
    add_choice(
        *command, "--format", kFormatNames, [options](std::size_t format) { options->format = format; },
        "The other program")
        ->required()
        ->default_str("");
    command->add_option("-o,--output", options->output, "Folder to write; must not exist or be empty")
        ->required()
        ->check(not_empty);
    options->common.add_json(*command);
    command->callback([options] { export_as(*options); });
}

}  // namespace headscope
