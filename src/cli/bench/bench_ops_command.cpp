#include "cli/bench/bench_ops_command.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/bench/bench_ops_report.h"
#include "cli/bench/bench_shapes.h"
#include "cli/command.h"
#include "conformance/by_length.h"
#include "conformance/cases/catalogue.h"
#include "options/common_options.h"
#include "options/length_range.h"
#include "options/option_values.h"
#include "options/progress.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct OpsOptions {
    CommonOptions common;
    std::vector<std::string> ops;
    std::vector<std::int64_t> sides;
    BenchSizes sizes;
    std::string length = {};  // a number or a range; empty: that of `sizes`
    bool has_sentences = false;
    std::int64_t window = 0;
    int repeat = 5;
};

conformance::SpeedPlan plan_of(const OpsOptions& options, ProgressMeter& progress) {
    conformance::SpeedPlan plan{.ops = options.ops,
                                .work = workload_of(options.sizes.shape),
                                .repeat = options.repeat,
                                .open_options = options.common.open,
                                .progress = [&progress](const std::string& text) { progress.step(text); }};
    plan.work.window = options.window;
    if (!options.sides.empty()) {
        plan.work.sides = options.sides;
        plan.most_seconds = std::numeric_limits<double>::infinity();
    }
    return plan;
}

// One sentence unless --sentences is given: the longest lengths fill a device by themselves.
std::vector<conformance::OpSpeeds> time_lengths(conformance::SpeedPlan plan, const OpsOptions& options,
                                                const std::vector<conformance::Contender>& contenders) {
    if (options.ops.empty()) {
        throw UsageError("a range of --length needs --op, such as --op attention,attention_backward");
    }
    plan.work.sentences = options.has_sentences ? plan.work.sentences : 1;
    plan.most_seconds = std::numeric_limits<double>::infinity();
    return conformance::time_by_length(plan, lengths_in(options.length), conformance::catalogue(), contenders);
}

void bench_ops(OpsOptions options, const ResultOrigin& origin) {
    const std::vector<std::int64_t> lengths = lengths_in(options.length);
    if (lengths.size() == 1) {
        options.sizes.shape.source_length = lengths.front();
    }
    OpsResult result{
        .origin = origin,
        .repeat = options.repeat,
        .devices = open_bench_devices(options.common.devices, options.common.precision, false, options.common.open),
        .ops = {}};
    std::vector<conformance::Contender> contenders;
    for (const BenchDevice& device : result.devices) {
        if (device.error.empty()) {
            contenders.push_back({*device.backend, device.arithmetic});
        }
    }
    if (contenders.empty()) {
        throw Error(errors_of(result.devices));
    }
    {
        ProgressMeter progress("step");
        const conformance::SpeedPlan plan = plan_of(options, progress);
        result.ops = lengths.size() > 1 ? time_lengths(plan, options, contenders)
                                        : conformance::time_side_by_side(plan, conformance::catalogue(), contenders);
    }
    write_output(options.common.json ? json_document(to_json(result)) : to_text(result));
    if (const std::string errors = errors_of(result); !errors.empty()) {
        throw Error(errors);
    }
}

}  // namespace

conformance::Workload workload_of(const BenchShape& shape) {
    constexpr std::int64_t kMostParameters = 4'000'000;  // too large for caches, but quick to check
    const ModelConfig& model = shape.model;
    return {.sentences = shape.sentences,
            .length = shape.source_length,
            .d_model = model.d_model,
            .d_ff = model.feed_forward.d_ff,
            .heads = model.attention.heads,
            .vocabulary = model.target_vocabulary,
            .parameters = std::min(count_parameters(model), kMostParameters),
            .sides = {512, 1024, 2048, 4096},
            .every_product = true};
}

void add_bench_ops_command(CLI::App& bench, const OpenOptions& open_options,
                           const std::function<ResultOrigin()>& origin) {
    auto options = std::make_shared<OpsOptions>();
    options->common.open = open_options;
    options->sizes = default_sizes(BenchKind::Ops);
    CLI::App* command = bench.add_subcommand("ops", "Each op in the shapes of a model, on devices side by side");
    add_named_sizes(*command, BenchKind::Ops, options->sizes);
    options->common.add_device_lists(*command);
    command->add_option("--op", options->ops, "Only these ops or families of ops, such as matmul,linear")
        ->delimiter(',')
        ->check(not_empty);
    command->add_option("--size", options->sides, "Side of square products; may be repeated")
        ->default_str("512 to 4096, while one takes less than 1.5 seconds")
        ->check(whole_number(1, 32768));
    options->common.add_precision(*command,
                                  {Precision::F32, Precision::TF32, Precision::BF16, Precision::F16, Precision::I8});
    command->option_defaults()->group("Measurement");
    command->add_option("--repeat", options->repeat, "Timed runs of each device; the median counts")
        ->check(whole_number(1, 10'000))
        ->capture_default_str();
    CLI::Option* const sentences = add_sentences(*command, options->sizes);
    command
        ->add_option("--length", options->length,
                     "Tokens of each sentence, including <EOS>; a range that doubles, such as 128..8192, shows how "
                     "the time of each --op grows, with one sentence unless --sentences is given")
        ->type_name("N or N..N")
        ->default_str(std::to_string(options->sizes.shape.source_length))
        ->check(length_or_range);
    command
        ->add_option("--window", options->window,
                     "Also time self-attention in which a query sees the keys less than this far away")
        ->check(whole_number(1, AttentionMask::kWidest));
    options->common.add_json(*command);
    command->callback([options, origin, sentences] {
        options->has_sentences = sentences->count() > 0;
        bench_ops(*options, origin());
    });
}

}  // namespace headscope
