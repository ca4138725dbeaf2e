// headscope bench: how fast this machine trains and translates.
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench_runs.h"
#include "app/command.h"
#include "app/precision_option.h"
#include "infer/hypotheses.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {
namespace {

struct BenchOptions {
    std::string device;
    BenchShape shape;
    int steps = 3;
    int repeat = 5;
    Precision precision = Precision::F32;
    bool json = false;
};

nlohmann::ordered_json report(const std::string& what, const BenchOptions& options, const Backend& backend,
                              const BenchRuns& runs, int steps) {
    const BenchShape& shape = options.shape;
    const double seconds = runs.median();
    nlohmann::ordered_json json = {
        {"bench", what},
        {"device", backend.device().id},
        {"device_name", backend.device().name},
        {"driver", backend.device().driver},
        {"precision", name_of(shape.arithmetic)},
        {"encoder_layers", shape.model.encoder_layers},
        {"decoder_layers", shape.model.decoder_layers},
        {"d_model", shape.model.d_model},
        {"d_ff", shape.model.d_ff},
        {"heads", shape.model.heads},
        {"vocabulary", shape.model.target_vocabulary},
        {"parameters", count_parameters(shape.model)},
        {"sentences", shape.sentences},
        {"source_length", shape.source_length},
        {"target_length", shape.target_length},
        {"repetitions", runs.seconds.size()},
        {"milliseconds_per_step", 1e3 * seconds / steps},
        {"source_tokens_per_second", static_cast<double>(runs.source_tokens) / seconds},
        {"target_tokens_per_second", static_cast<double>(runs.target_tokens) / seconds},
        {"run_seconds", runs.seconds},
        {"peak_resident_bytes", peak_resident_bytes()},
        {"peak_device_bytes", backend.memory().peak},
    };
    json[what == "train" ? "dropout" : "beam"] =
        what == "train" ? nlohmann::ordered_json(shape.dropout) : nlohmann::ordered_json(shape.beam);
    return json;
}

void print_report(const nlohmann::ordered_json& json) {
    constexpr double kMebi = 1024.0 * 1024.0;
    const auto number = [&](const char* key) { return json.at(key).get<double>(); };
    write_output(fmt::format(
        "{} on {} ({}), {}\n"
        "model       {}+{} layers, d_model {}, d_ff {}, {} heads, vocabulary {}: {:.1f} M parameters\n"
        "batch       {} sentences, source {} and target {} tokens each\n"
        "speed       {:.0f} target tokens/s, {:.0f} source tokens/s, {:.2f} ms a step (median of {} runs)\n"
        "memory      {:.0f} MiB resident at most, {:.0f} MiB on the device\n",
        json.at("bench").get<std::string>(), json.at("device").get<std::string>(),
        json.at("device_name").get<std::string>(), json.at("precision").get<std::string>(),
        json.at("encoder_layers").get<int>(), json.at("decoder_layers").get<int>(), json.at("d_model").get<int>(),
        json.at("d_ff").get<int>(), json.at("heads").get<int>(), json.at("vocabulary").get<int>(),
        number("parameters") / 1e6, json.at("sentences").get<int>(), json.at("source_length").get<int>(),
        json.at("target_length").get<int>(), number("target_tokens_per_second"), number("source_tokens_per_second"),
        number("milliseconds_per_step"), json.at("repetitions").get<int>(), number("peak_resident_bytes") / kMebi,
        number("peak_device_bytes") / kMebi));
}

// The shape that the options leave open: sizes that follow from others.
void complete(BenchOptions& options) {
    BenchShape& shape = options.shape;
    ModelConfig& model = shape.model;
    if (model.d_model % model.heads != 0) {
        throw Error(fmt::format("--d-model {} is no multiple of --heads {}", model.d_model, model.heads));
    }
    model.d_k = model.d_v = model.d_model / model.heads;
    model.source_vocabulary = model.target_vocabulary;
    model.max_length = std::max({model.max_length, shape.source_length, shape.target_length});
    check_model_config(model, "the options of bench");
}

void check_memory(const Backend& backend, double least) {
    constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;
    const auto present = static_cast<double>(backend.device().memory_bytes);
    if (present > 0.0 && least > present) {  // 0: not known
        throw Error(
            fmt::format("this takes at least {:.1f} GiB, and {} has {:.1f} GiB: take fewer --sentences, shorter "
                        "ones or a smaller model",
                        least / kGibi, backend.device().id, present / kGibi));
    }
}

void bench(const std::string& what, BenchOptions options) {
    complete(options);
    const std::unique_ptr<Backend> backend = open_device(options.device);
    options.shape.arithmetic = chosen_arithmetic(*backend, options.precision);
    const bool training = what == "train";
    check_memory(*backend, training ? least_training_bytes(options.shape) : least_translation_bytes(options.shape));
    const BenchRuns runs = training ? bench_training(*backend, options.shape, options.steps, options.repeat)
                                    : bench_translation(*backend, options.shape, options.repeat);
    const int steps = training ? options.steps : static_cast<int>(options.shape.target_length);
    const nlohmann::ordered_json json = report(what, options, *backend, runs, steps);
    if (options.json) {
        write_output(json.dump(2) + "\n");
    } else {
        print_report(json);
    }
}

void add_shape_options(CLI::App& command, BenchOptions& options) {
    ModelConfig& model = options.shape.model;
    const CLI::Range sizes(1, 1'000'000);
    command.add_option("--device", options.device, "cpu, vulkan, vulkan:1, ...; see headscope devices");
    command.add_option("--encoder-layers", model.encoder_layers)->check(CLI::Range(1, 100))->capture_default_str();
    command.add_option("--decoder-layers", model.decoder_layers)->check(CLI::Range(1, 100))->capture_default_str();
    command.add_option("--d-model", model.d_model)->check(sizes)->capture_default_str();
    command.add_option("--d-ff", model.d_ff)->check(sizes)->capture_default_str();
    command.add_option("--heads", model.heads)->check(sizes)->capture_default_str();
    command.add_option("--vocabulary", model.target_vocabulary)
        ->check(CLI::Range(80, 1'000'000))
        ->capture_default_str();
    command.add_option("--sentences", options.shape.sentences, "In the batch")->check(sizes)->capture_default_str();
    command.add_option("--source-length", options.shape.source_length, "Tokens of each, end counted")
        ->check(sizes)
        ->capture_default_str();
    command.add_option("--target-length", options.shape.target_length, "Tokens of each, end counted")
        ->check(sizes)
        ->capture_default_str();
    command.add_option("--repeat", options.repeat, "Timed runs; the median counts")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    add_precision_option(command, options.precision, "f32 (default), tf32, bf16 or f16, where the device has it");
    command.add_flag("--json", options.json, "For programs: one object");
}

std::shared_ptr<BenchOptions> default_options(int encoder_layers, int decoder_layers) {
    auto options = std::make_shared<BenchOptions>();
    ModelConfig& model = options->shape.model;
    model.encoder_layers = encoder_layers;
    model.decoder_layers = decoder_layers;
    model.d_model = 256;
    model.d_ff = 1024;
    model.target_vocabulary = 8000;
    return options;
}

}  // namespace

void add_bench_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("bench", "Measure training and translating on random weights and tokens");
    command->require_subcommand(1);
    command->footer(
        "Examples:\n"
        "  headscope bench train --device cpu\n"
        "  headscope bench translate --sentences 1 --target-length 64\n"
        "  headscope bench translate --beam 4 --device vulkan --json");

    auto train = default_options(6, 3);
    train->shape.sentences = 64;
    CLI::App* training = command->add_subcommand("train", "Whole training steps: forward, backward, Adam");
    add_shape_options(*training, *train);
    training->add_option("--steps", train->steps, "Steps of one timed run")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    training->add_option("--dropout", train->shape.dropout)->check(CLI::Range(0.0, 0.99))->capture_default_str();
    training->callback([train] { bench("train", *train); });

    auto translate = default_options(4, 4);
    CLI::App* translating = command->add_subcommand("translate", "Encoding and cached decoding of one batch");
    add_shape_options(*translating, *translate);
    translating->add_option("--beam", translate->shape.beam, "1 is greedy")
        ->check(CLI::Range(1, SearchOptions::kMaxBeam))
        ->capture_default_str();
    translating->callback([translate] { bench("translate", *translate); });
}

}  // namespace headscope
