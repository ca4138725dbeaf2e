// headscope conform: whether a device computes the right thing, how far from the oracle and how fast.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/progress_line.h"
#include "conformance/cases/catalogue.h"
#include "conformance/onnx/node_tests.h"
#include "conformance/run.h"
#include "io/atomic_file.h"
#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {
namespace {

struct ConformOptions {
    std::vector<std::string> devices;
    std::vector<std::string> ops;
    std::vector<std::string> dtypes;
    std::vector<std::string> paths;
    bool quick = false;
    bool full = false;
    bool untimed = false;
    std::string onnx_node_tests;
    std::string json;
    std::string junit;
};

// Without a word of the user's every device that can be used but the CPU, which is what the others are compared with.
std::vector<std::string> devices_of(const ConformOptions& options) {
    if (!options.devices.empty()) {
        return compared_devices(options.devices);
    }
    std::vector<std::string> found;
    std::string rejected;
    for (const DeviceInfo& device : list_devices()) {
        if (!device.rejected.empty()) {
            rejected += fmt::format("\n  {}: {}", device.id, device.rejected);
        } else if (device.backend != "cpu") {
            found.push_back(device.id);
        }
    }
    if (found.empty()) {
        throw Error(
            fmt::format("there is no GPU to prove anything of, and no device is no pass. --device cpu proves the "
                        "CPU's own kernels. What was looked at:{}",
                        rejected));
    }
    return found;
}

// Opened before anything runs: a report that cannot be written is not worth minutes.
std::optional<AtomicFile> opened(const std::string& path) {
    return path.empty() ? std::nullopt : std::make_optional<AtomicFile>(path);
}

std::string summary(const conformance::Report& report) {
    std::string text;
    for (const conformance::DeviceReport& device : report.devices) {
        if (!device.passed()) {
            text += (text.empty() ? "" : "; ") + device.device.id + ": ";
            std::vector<std::string> words;
            if (device.failures() > 0) {
                words.push_back(fmt::format("{} of {} results failed", device.failures(), device.results.size()));
            }
            if (!device.failure.empty()) {
                words.push_back("the rest was not tried: " + device.failure);
            }
            if (words.empty()) {
                words.emplace_back("nothing ran: it has none of what was asked for, and that is no pass");
            }
            text += fmt::format("{}", fmt::join(words, ", "));
        }
    }
    return text;
}

conformance::Report run_catalogue(const ConformOptions& options) {
    ProgressLine line;
    return conformance::run({.devices = devices_of(options),
                             .ops = options.ops,
                             .dtypes = options.dtypes,
                             .paths = options.paths,
                             .full = !options.quick,
                             .timed = !options.untimed,
                             .progress = [&line](const std::string& text) { line.show(text); }},
                            conformance::catalogue());
}

// The tests that ONNX has, in place of ours.
conformance::Report run_vectors(const ConformOptions& options) {
    ProgressLine line;
    conformance::Report report;
    for (const std::string& id : devices_of(options)) {
        report.devices.push_back(conformance::run_onnx_node_tests(
            options.onnx_node_tests, *open_device(id), [&line](const std::string& text) { line.show(text); }));
        report.scope = "onnx node tests";
    }
    return report;
}

void conform(const ConformOptions& options) {
    const bool json_out = options.json == "-";
    std::optional<AtomicFile> json = opened(json_out ? "" : options.json);
    std::optional<AtomicFile> junit = opened(options.junit);
    conformance::Report report = options.onnx_node_tests.empty() ? run_catalogue(options) : run_vectors(options);
    report.version = HEADSCOPE_VERSION;
    const auto json_text = [&report] {
        return conformance::report_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    };
    if (json) {
        json->write(json_text());
        json->commit();
    }
    if (junit) {
        junit->write(conformance::report_junit(report));
        junit->commit();
    }
    if (json_out) {
        write_output(json_text());
    } else {
        for (const conformance::DeviceReport& device : report.devices) {
            write_output(conformance::report_table(device));
        }
    }
    if (!report.passed()) {
        throw Error(summary(report));
    }
}

}  // namespace

void add_conform_command(CLI::App& app) {
    auto options = std::make_shared<ConformOptions>();
    CLI::App* command = app.add_subcommand("conform", "Prove a device's shaders against the double-precision oracle");
    command->footer(
        "Every op, forward and backward, in every precision, layout and by every code path that the device has, over\n"
        "shapes and values that break things. NMSE is squared errors over squared values; WORST the largest error of\n"
        "an element, over what errors of its row are measured against; ALLOWED the largest error, as a share of what\n"
        "rounding explains: past 100 % it fails. FASTEST is the best of the shapes timed. The exit code is 0 only "
        "where\n"
        "everything that ran passed, and something ran.\n\n"
        "Examples:\n"
        "  headscope conform --quick\n"
        "  headscope conform --device vulkan:0 --json report.json --junit report.xml\n"
        "  headscope conform --device cuda --op matmul,attention --dtype f16\n"
        "  headscope conform --onnx-node-tests site-packages/onnx/backend/test/data/node");
    command->add_option(
        "--device", options->devices,
        "cpu, cuda, vulkan, vulkan:1, ... or all; again for several. Without it every GPU, also one that "
        "the CPU plays");
    CLI::Option* op =
        command->add_option("--op", options->ops, "Only these ops, or families of ops, such as matmul,linear")
            ->delimiter(',');
    CLI::Option* dtype = command
                             ->add_option("--dtype", options->dtypes,
                                          "Only cases in f32, f16, bf16, tf32, i8, i32; or several, such as f32,f16")
                             ->delimiter(',');
    CLI::Option* path =
        command
            ->add_option(
                "--path", options->paths,
                "By these paths of the device beside its own choice, such as no-subgroups,large-tiles; else by "
                "all, or quickly by none")
            ->delimiter(',');
    CLI::Option* quick = command->add_flag(
        "--quick", options->quick, "Only by the path that the device chooses and those of --path, and nothing large");
    CLI::Option* full = command->add_flag("--full", options->full, "By every path: what is done without either");
    full->excludes(quick);
    command->add_flag("--no-speed", options->untimed, "Do not measure how fast the ops are");
    command
        ->add_option("--onnx-node-tests", options->onnx_node_tests,
                     "In place of our cases those of ONNX: a folder as onnx/backend/test/data/node of its Python "
                     "package, up to 1.19")
        ->excludes(quick)
        ->excludes(full)
        ->excludes(op)
        ->excludes(path)
        ->excludes(dtype);
    command->add_option("--json", options->json, "Everything, for programs; - is standard output, without the table");
    command->add_option("--junit", options->junit, "JUnit's XML, a suite for each device");
    command->callback([options] { conform(*options); });
}

}  // namespace headscope
