// headscope bench: how fast this machine trains and translates.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/bench_ops_command.h"
#include "app/bench_report.h"
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
    bool profile = false;
    bool json = false;
};

// Table 3 of the paper, and what the shipped model is like.
struct Preset {
    const char* name;
    int encoder_layers, decoder_layers;
    std::int64_t d_model, d_ff, heads, vocabulary;
    float dropout;
    std::int64_t sentences, length;  // of a training step: 25,000 tokens of each side for the paper's models
};
constexpr std::array kPresets{Preset{"small", 6, 3, 256, 1024, 8, 8000, 0.1F, 64, 32},
                              Preset{"base", 6, 6, 512, 2048, 8, 37000, 0.1F, 625, 40},
                              Preset{"big", 6, 6, 1024, 4096, 16, 37000, 0.3F, 625, 40}};
constexpr std::int64_t kTranslatedSentences = 64;

void take(const Preset& preset, bool training, BenchShape& shape) {
    ModelConfig& model = shape.model;
    model.encoder_layers = preset.encoder_layers;
    model.decoder_layers = preset.decoder_layers;
    model.d_model = preset.d_model;
    model.d_ff = preset.d_ff;
    model.heads = preset.heads;
    model.target_vocabulary = preset.vocabulary;
    shape.dropout = preset.dropout;
    shape.sentences = training ? preset.sentences : kTranslatedSentences;
    shape.source_length = shape.target_length = preset.length;
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

BenchRuns runs_of(bool training, Backend& backend, const BenchOptions& options, int repeat, const WarmedUp& warmed_up) {
    return training ? bench_training(backend, options.shape, options.steps, repeat, warmed_up)
                    : bench_translation(backend, options.shape, repeat, warmed_up);
}

// The time of each op in one run, after one that warms up.
void profile(bool training, const BenchOptions& options, BenchResult& result) {
    Instrumented backend(open_device(options.device), {.time = true});
    OpTimes before;
    runs_of(training, backend, options, 1, [&] { before = backend.times(); });
    OpTimes times = backend.times();
    for (const auto& [name, time] : before) {
        times[name].calls -= time.calls;
        times[name].seconds -= time.seconds;
    }
    std::erase_if(times, [](const auto& entry) { return entry.second.calls == 0; });
    result.profile = std::move(times);
    result.profile_events = backend.events();
}

void bench(bool training, BenchOptions options) {
    complete(options);
    std::unique_ptr<Backend> backend = open_device(options.device);
    options.shape.arithmetic = (training ? chosen_training_arithmetic : chosen_arithmetic)(*backend, options.precision);
    check_memory(*backend, training ? least_training_bytes(options.shape) : least_translation_bytes(options.shape));
    BenchResult result{.training = training,
                       .shape = options.shape,
                       .steps = training ? options.steps : static_cast<int>(options.shape.target_length),
                       .device = backend->device(),
                       .runs = runs_of(training, *backend, options, options.repeat, [] {})};
    result.memory = backend->memory();
    result.resident_bytes = peak_resident_bytes();
    result.peak = measure_peak(*backend, options.shape.arithmetic);
    backend.reset();
    if (options.profile) {
        profile(training, options, result);
    }
    write_output(options.json ? to_json(result).dump(2) + "\n" : to_text(result));
}

// First of all options: those after it change what it chose, wherever they stand in the command.
void add_config_option(CLI::App& command, bool training, BenchOptions& options) {
    command
        .add_option_function<std::string>(
            "--config",
            [training, &options](const std::string& name) {
                take(*std::find_if(kPresets.begin(), kPresets.end(),
                                   [&](const Preset& preset) { return name == preset.name; }),
                     training, options.shape);
            },
            "Sizes of model and batch: base or big, the paper's, with 25,000 tokens of each side in a training step; "
            "or "
            "small. The options below change them")
        ->check(CLI::IsMember({"small", "base", "big"}));
}

void add_shape_options(CLI::App& command, BenchOptions& options) {
    ModelConfig& model = options.shape.model;
    const CLI::Range sizes(1, 1'000'000);
    command.add_option("--device", options.device, "cpu, cuda, vulkan, vulkan:1, ...; see headscope devices");
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
    add_precision_option(command, options.precision,
                         "f32 (default), tf32, bf16 or f16, where the device has it; i8 for the weights in "
                         "translating");
    command.add_flag("--profile", options.profile, "Also the time that the device takes for each op, in another run");
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

void add_bench_command(CLI::App& app, int count, const char* const* words) {
    CLI::App* command = app.add_subcommand("bench", "Measure training, translating and single ops on random numbers");
    command->require_subcommand(1);
    command->footer(
        "Examples:\n"
        "  headscope bench train --device cpu\n"
        "  headscope bench train --config base --device cuda --precision bf16 --profile\n"
        "  headscope bench translate --sentences 1 --target-length 64\n"
        "  headscope bench translate --beam 4 --device vulkan --json\n"
        "  headscope bench ops --device cpu,vulkan\n"
        "  headscope bench ops --device all --op matmul --size 512 --json");

    auto train = default_options(6, 3);
    train->shape.sentences = 64;
    CLI::App* training = command->add_subcommand("train", "Whole training steps: forward, backward, Adam");
    add_config_option(*training, true, *train);
    add_shape_options(*training, *train);
    training->add_option("--steps", train->steps, "Steps of one timed run")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    training->add_option("--dropout", train->shape.dropout)->check(CLI::Range(0.0, 0.99))->capture_default_str();
    training->callback([train] { bench(true, *train); });

    auto translate = default_options(4, 4);
    CLI::App* translating = command->add_subcommand("translate", "Encoding and cached decoding of one batch");
    add_config_option(*translating, false, *translate);
    add_shape_options(*translating, *translate);
    translating->add_option("--beam", translate->shape.beam, "1 is greedy")
        ->check(CLI::Range(1, SearchOptions::kMaxBeam))
        ->capture_default_str();
    translating->callback([translate] { bench(false, *translate); });

    add_bench_ops_command(*command, [count, words] { return bench_origin(count, words); });
}

}  // namespace headscope
