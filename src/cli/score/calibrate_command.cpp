// headscope calibrate: finds the softmax temperature at which a model's probabilities fit.
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_engine.h"
#include "cli/score/calibration_picture.h"
#include "cli/score/evaluate_text.h"
#include "cli/score/model_family.h"
#include "cli/score/reference_scores.h"
#include "cli/score/temperature_report.h"
#include "cli/score/test_set.h"
#include "eval/temperature.h"
#include "import/open_model.h"
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "model/family.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "paint/picture_file.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct CalibrateOptions {
    CommonOptions common;
    DecodingChoices choices;  // languages and batches
    TestSetFiles files;
    EvaluatedText text;
    std::string picture;
    bool write = false;
};

void require_calibratable(const ModelConfig& config) {
    if (config.generation == Generation::MaskPredict) {
        throw UsageError("a model that fills in masks (mask-predict) has no probabilities of references");
    }
    if (config.adaptive()) {
        throw UsageError(
            "an adaptive output (\"output.adaptive\") has a softmax for each cluster, which one temperature does not "
            "calibrate");
    }
}

// The file to keep the temperature in. Error for a model of another program.
std::string config_file_of(const std::string& model) {
    const std::string folder = model_folder(model);
    if (format_of(folder) != ModelFormat::Headscope) {
        throw UsageError(fmt::format(
            "--write keeps the temperature in a model directory of headscope, and '{}' is another program's "
            "model: headscope import '{}' --output FOLDER makes one",
            model, model));
    }
    return (std::filesystem::path(folder) / "config.json").string();
}

// How well the model's probabilities fit at a temperature beside its own.
class CalibrationData {
public:
    CalibrationData(const CalibrateOptions& options, OpenedEngine& opened)
        : options_(options),
          opened_(opened),
          decoding_(options.choices.applied_to(
              opened.model->choices().applied_to(default_decoding_options(opened.directory().config.architecture)))) {
        if (options.text.file.empty()) {
            set_ = read_test_set(options.files);
        }
    }

    ForcedStatistics at(double temperature) {
        if (!options_.text.file.empty()) {
            return force_documents(opened_, options_.text,
                                   {.batch_tokens = decoding_.batch_tokens, .temperature = temperature})
                .statistics;
        }
        const ForcedReferences forced = score_references(opened_, set_.source, set_.references, decoding_, temperature);
        left_out_ = forced.left_out;
        return forced.statistics;
    }
    std::size_t left_out() const { return left_out_; }

private:
    const CalibrateOptions& options_;
    OpenedEngine& opened_;
    const DecodingOptions decoding_;
    TestSet set_;
    std::size_t left_out_ = 0;
};

void calibrate(const CalibrateOptions& options, const ResultOrigin& origin) {
    const CommonOptions& common = options.common;
    const std::string model = common.model_path();
    InputFiles inputs(common.open.settings);
    inputs.add({options.files.tsv, options.files.source, options.text.file, model});
    inputs.add(options.files.references);
    inputs.refuse("-");
    inputs.refuse(options.picture);
    const std::string config_file = options.write ? config_file_of(model) : "";
    require_files_of_family(model, options.text.file, true);
    OpenedEngine opened(common, {model}, log_of_command);
    ModelConfig config = opened.directory().config;
    require_calibratable(config);
    CalibrationData validation(options, opened);
    TemperatureFit fit{.had = config.output.temperature, .before = validation.at(1.0), .after = {}};
    if (fit.before.tokens() == 0) {
        throw Error("the validation data has no piece that the model can predict");
    }
    const double found =
        fit_temperature([&](double t) { return t == 1.0 ? fit.before.nll() : validation.at(t).nll(); });
    if (found < 1.01 * kLeastTemperature || found > 0.99 * kMostTemperature) {
        log_of_command(fmt::format(
            "perplexity falls as far as the temperature goes, from {} to {}: is this what the model was made for?",
            kLeastTemperature, kMostTemperature));
    }
    fit.after = validation.at(found);
    fit.temperature = fit.had * found;
    fit.left_out = validation.left_out();
    opened.tell_idle();
    if (!options.picture.empty()) {
        write_calibration(fit.after, {model}, options.picture);
    }
    if (options.write) {
        config.output.temperature = fit.temperature;
        check_model_config(config, config_file);
        atomic_write_file(config_file, to_json(config).dump(2) + "\n");
        fit.kept = config_file;
    }
    const EvaluatedBy by{{model}, opened.engine.devices(), common.precision};
    write_output(common.json ? temperature_json(fit, origin, by) : temperature_table(fit));
}

void add_data(CLI::App& command, CalibrateOptions& options) {
    command.option_defaults()->group("Data");
    CLI::Option* tsv = command
                           .add_option("--tsv", options.files.tsv,
                                       "Validation data: lines of \"source TAB reference\"; may be compressed")
                           ->type_name("FILE");
    CLI::Option* source = command.add_option("--source", options.files.source, "Sentences, one per line")
                              ->type_name("FILE")
                              ->excludes(tsv);
    CLI::Option* reference = command
                                 .add_option("--reference", options.files.references,
                                             "Their reference translations, one per line; may be repeated")
                                 ->type_name("FILE")
                                 ->allow_extra_args(false)
                                 ->excludes(tsv);
    CLI::Option* limit =
        command.add_option("--limit", options.files.limit, "Only the first N pairs; 0: all")->check(whole_number(0));
    CLI::Option* text =
        command.add_option("--text", options.text.file, "Validation text for a language model; may be compressed")
            ->type_name("FILE");
    add_choice(
        command, "--documents", kDocumentForms,
        [&options](std::size_t form) { options.text.form = static_cast<DocumentForm>(form); },
        "Documents of --text: one per line, or separated by empty lines")
        ->needs(text);
    for (CLI::Option* other : {tsv, source, reference, limit}) {
        text->excludes(other);
    }
}

}  // namespace

void add_calibrate_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words) {
    auto options = std::make_shared<CalibrateOptions>();
    options->common.open = open_options;
    CLI::App* command =
        app.add_subcommand("calibrate", "Find the softmax temperature at which a model's probabilities fit")
            ->group("Translate");
    command->footer(
        "A model that was trained well may still be too sure of itself, or not sure enough: its likeliest piece is\n"
        "right less or more often than its probability says. One number repairs most of that: the temperature by "
        "which\n"
        "all logits are divided (Guo et al., 2017). This command finds the one at which validation data, which the\n"
        "model has not seen in training, has the lowest perplexity, and prints the calibration error before and "
        "after.\n"
        "--write keeps it in the model's config.json, so that everything that uses the model obeys it. The likeliest\n"
        "piece stays the same; a beam search may find another output.\n\n"
        "Examples:\n"
        "  headscope calibrate --tsv valid.tsv --model runs/my-model\n"
        "  headscope calibrate --tsv valid.tsv --model out/mine --write\n"
        "  headscope calibrate --text valid.txt --model out/lm --picture after.svg");
    add_data(*command, *options);
    CommonOptions& common = options->common;
    common.add_model(*command);
    common.add_device_list(*command);
    common.add_precision(*command);
    add_decoding_flags(*command, options->choices,
                       {"source_language", "target_language", "task_prefix", "batch_tokens"});
    command->option_defaults()->group("Output");
    command->add_flag("--write", options->write, "Keep the temperature in the model's config.json");
    command
        ->add_option("--picture", options->picture,
                     "Also draw how often the likeliest piece is right by its probability, after: a picture, such as "
                     ".svg")
        ->type_name("FILE");
    common.add_json(*command);
    command->callback([options, count, words] {
        if (!options->picture.empty()) {
            require_picture_name(options->picture);
            AtomicFile::require_replaceable(options->picture);
        }
        if (options->text.file.empty() && options->files.tsv.empty() && options->files.source.empty()) {
            throw UsageError(
                "nothing to calibrate with: give --tsv FILE, or --source FILE and --reference FILE; --text FILE for a "
                "language model");
        }
        if (!options->text.file.empty()) {
            options->common.bundled_model = kCausalModel;
        }
        if (options->write && options->common.models.empty()) {
            throw UsageError("--write changes a model: give --model, so that it is the one you mean");
        }
        calibrate(*options, result_origin(count, words));
    });
}

}  // namespace headscope
