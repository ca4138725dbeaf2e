// headscope tune: finds and saves the fastest variants of a model's matrix products.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/bench/bench_ops_command.h"
#include "cli/bench/bench_shapes.h"
#include "cli/command.h"
#include "conformance/cases/catalogue.h"
#include "conformance/tune.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "options/progress.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {
namespace {

using conformance::ProductTuned;
using conformance::WayTried;

struct TuneOptions {
    CommonOptions common;
    BenchSizes sizes;
    std::vector<std::int64_t> sides = {512, 1024};
    int repeat = 5;
};

constexpr double kMilli = 1e3;

const WayTried* find(const ProductTuned& product, const std::string& way) {
    const auto found =
        std::find_if(product.ways.begin(), product.ways.end(), [&](const WayTried& each) { return each.way == way; });
    return found == product.ways.end() ? nullptr : &*found;
}

std::string line_of(const ProductTuned& product) {
    const WayTried* kept = find(product, product.kept);
    if (kept == nullptr) {
        return fmt::format("{:<28}{}\n", product.shape,
                           product.left_out.empty() ? "no correct variant" : "skipped: " + product.left_out);
    }
    const WayTried& before = product.ways.front();
    const std::string times = kept == &before ? fmt::format("{:.3f} ms", kMilli * kept->seconds)
                                              : fmt::format("{:.3f} ms, before {:.3f} with {}", kMilli * kept->seconds,
                                                            kMilli * before.seconds, before.way);
    return fmt::format("{:<28}{:<22}{}\n", product.shape, product.kept, times);
}

std::string to_text(const Backend& device, const Arithmetic& arithmetic, const std::vector<ProductTuned>& products) {
    std::string text = fmt::format("{} ({}), {}; {}\n\n", device.device().id, device.device().name,
                                   device.device().driver, name_of(arithmetic));
    text += fmt::format("{:<28}{:<22}{}\n", "PRODUCT", "FASTEST", "TIME");
    for (const ProductTuned& product : products) {
        text += line_of(product);
    }
    return text;
}

nlohmann::ordered_json to_json(const Backend& device, const Arithmetic& arithmetic,
                               const std::vector<ProductTuned>& products) {
    nlohmann::ordered_json json = {{"device", device.device().id},
                                   {"device_name", device.device().name},
                                   {"driver", device.device().driver},
                                   {"precision", name_of(arithmetic)},
                                   {"products", nlohmann::ordered_json::array()}};
    for (const ProductTuned& product : products) {
        nlohmann::ordered_json ways = nlohmann::ordered_json::array();
        for (const WayTried& tried : product.ways) {
            ways.push_back({{"way", tried.way}});
            if (tried.complaint.empty()) {
                ways.back()["median_seconds"] = tried.seconds;
            } else {
                ways.back()["wrong"] = tried.complaint;
            }
        }
        json["products"].push_back({{"shape", product.shape}});
        if (product.left_out.empty()) {
            json["products"].back().update({{"kept", product.kept}, {"on_disk", product.on_disk}, {"ways", ways}});
        } else {
            json["products"].back()["left_out"] = product.left_out;
        }
    }
    return json;
}

// Wrong variants reveal a driver error, which matters more than speed.
std::string wrong_ways(const std::vector<ProductTuned>& products) {
    std::string text;
    for (const ProductTuned& product : products) {
        for (const WayTried& tried : product.ways) {
            text += tried.complaint.empty()
                        ? ""
                        : fmt::format("\n{} with {} is wrong: {}", product.shape, tried.way, tried.complaint);
        }
    }
    return text;
}

void tune(const TuneOptions& options) {
    const std::unique_ptr<Backend> device = open_device(options.common.device(), options.common.open);
    conformance::TunePlan plan{.work = workload_of(options.sizes.shape),
                               .repeat = options.repeat,
                               .arithmetic = chosen_arithmetic(*device, options.common.precision),
                               .open_options = options.common.open,
                               .progress = {}};
    plan.work.sides = options.sides;
    std::vector<ProductTuned> products;
    {
        ProgressMeter progress("step");
        plan.progress = [&progress](const std::string& text) { progress.step(text); };
        products = conformance::tune_products(*device, plan, conformance::matmul_cases::family());
    }
    write_output(options.common.json ? json_document(to_json(*device, plan.arithmetic, products))
                                     : to_text(*device, plan.arithmetic, products));
    if (const std::string wrong = wrong_ways(products); !wrong.empty()) {
        throw Error(
            "some variants are disabled because their results are wrong; update the driver, and run headscope conform "
            "for a full report" +
            wrong);
    }
    if (std::any_of(products.begin(), products.end(),
                    [](const ProductTuned& each) { return !each.kept.empty() && !each.on_disk; })) {
        throw Error(
            "the results could not be saved: HOME or XDG_CACHE_HOME must be a folder with free space, "
            "and HEADSCOPE_VULKAN_DISABLE must name neither pipeline_cache nor tuning");
    }
}

}  // namespace

void add_tune_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<TuneOptions>();
    options->common.open = open_options;
    options->sizes = default_sizes(BenchKind::Ops);
    CLI::App* command =
        app.add_subcommand("tune", "Find and save the fastest matrix products of a Vulkan device")->group("Devices");
    add_named_sizes(*command, BenchKind::Ops, options->sizes);
    options->common.add_device(*command);
    add_batch_sizes(*command, options->sizes);
    command->add_option("--size", options->sides, "Side of square products; may be repeated")
        ->check(whole_number(1, 32768))
        ->capture_default_str();
    options->common.add_precision(*command, {Precision::F32, Precision::BF16, Precision::F16});
    command->option_defaults()->group("Measurement");
    command->add_option("--repeat", options->repeat, "Timed runs of each variant; the median counts")
        ->check(whole_number(1, 10'000))
        ->capture_default_str();
    options->common.add_json(*command);
    command->footer(
        "Every variant is compared with the double-precision oracle before it is timed. The fastest is saved by "
        "device\n"
        "and driver in XDG_CACHE_HOME/headscope or HOME/.cache/headscope, and used for products of similar sizes.\n\n"
        "Examples:\n"
        "  headscope tune --device vulkan\n"
        "  headscope tune --device vulkan --precision f16 --size 2048\n"
        "  headscope tune --device vulkan --model en-de --json");
    command->callback([options] { tune(*options); });
}

}  // namespace headscope
