// headscope bench: measures the speed of training, translation, completion and single ops.
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/bench/bench_all_reduce.h"
#include "cli/bench/bench_devices.h"
#include "cli/bench/bench_ops_command.h"
#include "cli/bench/bench_report.h"
#include "cli/bench/bench_shapes.h"
#include "cli/bench/bench_turns.h"
#include "cli/command.h"
#include "infer/hypotheses.h"
#include "model/family.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct BenchOptions {
    CommonOptions common;
    BenchSizes sizes;
    int steps = 3;
    int repeat = 5;
    bool profile = false;
    bool no_peak = false;

    // Whether a single device was selected, explicitly or by default.
    bool one_device() const {
        return common.devices.size() < 2 && !names_several(asked_device(common.device(), common.open.settings));
    }
};

void check_family(BenchKind kind, Architecture architecture) {
    if (kind == BenchKind::Translate && !traits(architecture).reads_source) {
        throw UsageError(
            "bench translate needs a model with encoder and decoder: for a causal language model use "
            "headscope bench complete");
    }
    if (kind == BenchKind::Complete && !traits(architecture).continues_text) {
        throw UsageError(
            traits(architecture).fills_masks
                ? "bench complete needs a causal language model: a masked one writes no text, use headscope "
                  "bench train"
                : "bench complete needs a causal language model, which has no encoder (--encoder-layers 0): "
                  "for translating use headscope bench translate");
    }
}

void bench(BenchKind kind, BenchOptions options, const ResultOrigin& origin) {
    complete(options.sizes);
    BenchShape& shape = options.sizes.shape;
    check_family(kind, shape.model.architecture);
    const bool training = kind == BenchKind::Train;
    if (training && !traits(shape.model.architecture).reads_source) {
        shape.source_length = 0;
    }
    const BenchPlan plan{.open_options = options.common.open,
                         .training = training,
                         .shape = shape,
                         .steps = training ? options.steps : static_cast<int>(shape.target_length),
                         .peak = !options.no_peak};
    std::vector<BenchResult> results = measure_devices(
        plan, open_bench_devices(options.common.devices, options.common.precision, training, options.common.open),
        options.repeat, options.profile);
    if (options.one_device()) {
        if (!results[0].error.empty()) {
            throw Error(results[0].error);
        }
        write_output(options.common.json ? json_document(to_json(origin, plan, results[0]))
                                         : to_text(plan, results[0]));
        return;
    }
    std::string errors;
    for (BenchResult& each : results) {
        each.resident_bytes = 0;  // not known per device
        if (!each.error.empty()) {
            errors += (errors.empty() ? "" : "; ") + each.device.id + ": " + each.error;
        }
    }
    write_output(options.common.json ? json_document(to_json(origin, plan, results)) : to_text(plan, results));
    if (!errors.empty()) {
        throw Error(errors);
    }
}

void add_options(CLI::App& command, BenchKind kind, BenchOptions& options) {
    BenchShape& shape = options.sizes.shape;
    const CLI::Validator any = whole_number(1, 1'000'000);
    add_named_sizes(command, kind, options.sizes);
    add_model_sizes(command, options.sizes);
    command.option_defaults()->group("Batch");
    command.add_option("--sentences", shape.sentences, "Sentences in the batch, all of the same length")
        ->check(any)
        ->capture_default_str();
    command
        .add_option("--source-length", shape.source_length,
                    kind == BenchKind::Complete ? "Tokens of each prompt" : "Tokens of each source, including <EOS>")
        ->check(any)
        ->capture_default_str();
    command
        .add_option("--target-length", shape.target_length,
                    kind == BenchKind::Complete ? "New tokens of each" : "Tokens of each target, including <EOS>")
        ->check(any)
        ->capture_default_str();
    options.common.add_device_lists(command);
    options.common.add_precision(command, kind == BenchKind::Train ? training_precisions() : every_precision());
    command.option_defaults()->group("Measurement");
    command.add_option("--repeat", options.repeat, "Timed runs; the median counts")
        ->check(whole_number(1, 10'000))
        ->capture_default_str();
    command.add_flag("--profile", options.profile, "Also print the device time of each op, from another run");
    command.add_flag("--no-peak", options.no_peak,
                     "Do not measure what a large product reaches, which takes seconds on a GPU");
    options.common.add_json(command);
}

}  // namespace

void add_bench_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words) {
    CLI::App* command =
        app.add_subcommand("bench", "Measure the speed of training, translation, completion and single ops")
            ->group("Devices");
    command->require_subcommand(1);
    command->footer(
        "Examples:\n"
        "  headscope bench train --device cpu\n"
        "  headscope bench train --config base --device cuda --precision bf16 --profile\n"
        "  headscope bench translate --sentences 1 --target-length 64\n"
        "  headscope bench translate --beam 4 --device vulkan --json\n"
        "  headscope bench translate --model en-de --sentences 1 --device all\n"
        "  headscope bench train --config causal --device cpu\n"
        "  headscope bench complete --sentences 1 --target-length 200\n"
        "  headscope bench ops --device cpu,vulkan\n"
        "  headscope bench ops --device all --op matmul --size 512 --json\n"
        "  headscope bench ops --device cpu --op attention --length 128..8192\n"
        "  headscope bench all-reduce --ranks 2 --device cpu");

    const auto origin = [count, words] { return result_origin(count, words); };

    auto train = std::make_shared<BenchOptions>();
    train->common.open = open_options;
    train->sizes = default_sizes(BenchKind::Train);
    CLI::App* training = command->add_subcommand("train", "Whole training steps: forward, backward, Adam");
    add_options(*training, BenchKind::Train, *train);
    training->add_option("--steps", train->steps, "Steps per timed run")
        ->check(whole_number(1, 10'000))
        ->capture_default_str();
    training->add_option("--dropout", train->sizes.shape.dropout, "Dropout rate; --config sets the paper's")
        ->check(real_number(0.0, 0.99))
        ->capture_default_str()
        ->group("Model");
    training->callback([train, origin] { bench(BenchKind::Train, *train, origin()); });

    for (const auto& [kind, name, description] :
         {std::tuple{BenchKind::Translate, "translate", "Encoding and cached decoding of one batch"},
          std::tuple{BenchKind::Complete, "complete", "Reading one batch of prompts and cached decoding"}}) {
        auto generate = std::make_shared<BenchOptions>();
        generate->common.open = open_options;
        generate->sizes = default_sizes(kind);
        CLI::App* generating = command->add_subcommand(name, description);
        add_options(*generating, kind, *generate);
        generating->add_option("--beam", generate->sizes.shape.beam, "Hypotheses kept for each sentence; 1 is greedy")
            ->check(whole_number(1, SearchOptions::kMaxBeam))
            ->capture_default_str();
        generating->callback([kind = kind, generate, origin] { bench(kind, *generate, origin()); });
    }

    add_bench_ops_command(*command, open_options, origin);
    add_bench_all_reduce(*command, open_options, count, words);
}

}  // namespace headscope
