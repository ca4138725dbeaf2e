#include "app/bench_ops_command.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/bench_ops_report.h"
#include "app/command.h"
#include "app/precision_option.h"
#include "app/progress_line.h"
#include "conformance/cases/catalogue.h"
#include "support/check.h"

namespace headscope {
namespace {

struct OpsOptions {
    std::vector<std::string> devices;
    std::vector<std::string> ops;
    std::vector<std::int64_t> sizes;
    conformance::Workload work;
    Precision precision = Precision::F32;
    int repeat = 5;
    bool json = false;
};

conformance::SpeedPlan plan_of(const OpsOptions& options, ProgressLine& line) {
    conformance::SpeedPlan plan{.ops = options.ops,
                                .work = options.work,
                                .repeat = options.repeat,
                                .progress = [&line](const std::string& text) { line.show(text); }};
    plan.work.every_product = true;
    plan.work.sides = {512, 1024, 2048, 4096};
    if (!options.sizes.empty()) {
        plan.work.sides = options.sizes;
        plan.most_seconds = std::numeric_limits<double>::infinity();
    }
    return plan;
}

void bench_ops(const OpsOptions& options, const BenchOrigin& origin) {
    OpsResult result{.origin = origin,
                     .repeat = options.repeat,
                     .devices = open_bench_devices(options.devices, options.precision, false),
                     .ops = {}};
    std::vector<conformance::Contender> contenders;
    for (const BenchDevice& device : result.devices) {
        if (device.error.empty()) {
            contenders.push_back({*device.backend, device.arithmetic});
        }
    }
    {
        ProgressLine line;
        result.ops = conformance::time_side_by_side(plan_of(options, line), conformance::catalogue(), contenders);
    }
    write_output(options.json ? to_json(result).dump(2) + "\n" : to_text(result));
    if (const std::string errors = errors_of(result); !errors.empty()) {
        throw Error(errors);
    }
}

}  // namespace

void add_bench_ops_command(CLI::App& bench, const std::function<BenchOrigin()>& origin) {
    auto options = std::make_shared<OpsOptions>();
    options->work = {
        .sentences = 40, .length = 25, .d_model = 256, .d_ff = 1024, .vocabulary = 8000, .parameters = 8'000'000};
    CLI::App* command = bench.add_subcommand("ops", "Each op in the shapes of a model, on devices side by side");
    command->add_option("--device", options->devices,
                        "cpu, cuda, vulkan, vulkan:1, ..., a list such as cpu,vulkan, or all: every device that can be "
                        "used, also one that the CPU plays");
    command->add_option("--op", options->ops, "Only this op, or family of ops; again for several");
    command
        ->add_option("--size", options->sizes,
                     "Of square products; again for several. Without it 512 and 1024, and 2048 and 4096 where the "
                     "device takes less than a quarter of a second")
        ->check(CLI::Range(1, 32768));
    add_precision_option(*command, options->precision,
                         "f32 (default), tf32, bf16 or f16, where the device has it; i8 for the weights of products");
    command->add_option("--repeat", options->repeat, "Turns of each device; the median counts")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    command->add_flag("--json", options->json, "For programs: one object");
    command->callback([options, origin] { bench_ops(*options, origin()); });
}

}  // namespace headscope
