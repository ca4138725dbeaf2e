// headscope import: writes another program's model as a model directory.
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/opened_model.h"
#include "infer/model_lookup.h"
#include "io/input_files.h"
#include "io/usual_places.h"
#include "model/training_card.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "registry/registry.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct ImportOptions {
    CommonOptions common;
    std::string model;
    std::string output;
};

DType stored_as(Precision precision) {
    switch (precision) {
        case Precision::F16: return DType::F16;
        case Precision::BF16: return DType::BF16;
        case Precision::I8: return DType::I8;
        default: return DType::F32;
    }
}

void import(const ImportOptions& options) {
    const std::string folder = model_folder(named_model(options.model, usual_places()));
    InputFiles inputs;
    inputs.add(folder);
    inputs.refuse("-");
    std::error_code ignored;
    for (const std::string& input : {folder, options.model}) {
        if (std::filesystem::equivalent(input, options.output, ignored)) {
            throw UsageError(fmt::format("{} is the input: choose another --output", options.output));
        }
    }
    const ModelDirectory model = open_with_remarks(folder);
    const auto backend = open_device("cpu", options.common.open);
    const auto parameters = read_parameters(*backend, model, DType::F32);
    const DType stored = stored_as(options.common.precision);
    write_model_directory(*backend, options.output, model.config, *parameters, stored, *model.source_tokenizer,
                          *model.target_tokenizer, model.decoding.get());
    if (const nlohmann::json card = read_training_card(folder); !card.is_null()) {
        write_training_card(options.output, card);
    }
    if (options.common.json) {
        write_output(json_document({{"output", options.output},
                                    {"architecture", name_of(model.config.architecture)},
                                    {"parameters", count_parameters(model.config)},
                                    {"stored_as", name_of(stored)},
                                    {"remarks", model.remarks},
                                    {"files", written_files(options.output)}}));
        return;
    }
    log_line(fmt::format("{}: {}, {} parameters as {}", options.output, name_of(model.config.architecture),
                         fmt::group_digits(count_parameters(model.config)), name_of(stored)));
}

}  // namespace

void add_import_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ImportOptions>();
    options->common.open = open_options;
    CLI::App* command =
        app.add_subcommand("import", "Write another program's model as a model directory")->group("Models");
    command->footer(
        "All commands open other programs' models as they are: those of Hugging Face (MarianMT, M2M100, NLLB, BART,\n"
        "mBART, Pegasus, Blenderbot, BlenderbotSmall, T5, mT5, UMT5, GPT-2, BERT, RoBERTa, XLM-RoBERTa, CamemBERT,\n"
        "DistilBERT), Marian, CTranslate2, fairseq and Sockeye. A model directory\n"
        "is smaller with --precision f16 or i8. docs/importing.md describes the formats.\n\n"
        "Examples:\n"
        "  headscope import opus-mt-en-de --output models/en-de\n"
        "  headscope import opus-mt-en-de --output models/en-de-small --precision i8");
    command->add_option("MODEL", options->model, "Folder or file of another program")->required()->check(not_empty);
    command->option_defaults()->group("Output");
    command->add_option("-o,--output", options->output, "Model directory to write; an existing one is replaced")
        ->required()
        ->check(not_empty);
    add_precision_option(*command, options->common.precision, "How weights are stored (default f32)",
                         {Precision::F32, Precision::BF16, Precision::F16, Precision::I8});
    options->common.add_json(*command);
    command->callback([options] { import(*options); });
}

}  // namespace headscope
