// headscope export: writes a model in the format of another program.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/opened_model.h"
#include "import/export_model.h"
#include "infer/model_lookup.h"
#include "io/input_files.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "options/usual_places.h"
#include "registry/registry.h"

namespace headscope {
namespace {

const std::vector<std::pair<std::string, ExportFormat>> kFormats = {{"huggingface", ExportFormat::HuggingFace},
                                                                    {"ctranslate2", ExportFormat::CTranslate2},
                                                                    {"marian", ExportFormat::Marian}};

struct ExportOptions {
    OpenOptions open;
    std::string model;
    std::string output;
    ExportFormat format = ExportFormat::HuggingFace;
};

void export_as(const ExportOptions& options) {
    const std::string folder = model_folder(named_model(options.model, usual_places()));
    InputFiles inputs;
    inputs.add(folder);
    inputs.refuse(options.output);
    const ModelDirectory model = open_with_remarks(folder);
    const auto backend = open_device("cpu", options.open);
    const auto parameters = read_parameters(*backend, model, DType::F32);
    export_model(model, *parameters, options.format, options.output);
    for (const std::string& remark : options_left_out(model, options.format)) {
        log_line("headscope: " + remark);
    }
    log_line(fmt::format("{}: {}, {} parameters", options.output, name_of(model.config.architecture),
                         fmt::group_digits(count_parameters(model.config))));
}

}  // namespace

void add_export_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ExportOptions>();
    options->open = open_options;
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
    const auto take = [options](const std::string& name) {
        for (const auto& [known, format] : kFormats) {
            options->format = known == name ? format : options->format;
        }
    };
    std::vector<std::string> names;
    for (const auto& [name, format] : kFormats) {
        names.push_back(name);
    }
    command->add_option_function<std::string>("--format", take, "The other program")
        ->required()
        ->check(CLI::IsMember(names));
    command->add_option("-o,--output", options->output, "Folder to write; must not exist or be empty")
        ->required()
        ->check(not_empty);
    command->callback([options] { export_as(*options); });
}

}  // namespace headscope
