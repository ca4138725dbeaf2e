// headscope conform: checks the ops of devices against the oracle, and measures their errors and speed.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/conform/conform_outputs.h"
#include "cli/conform/crash_note.h"
#include "cli/result_origin.h"
#include "cli/stop_signal.h"
#include "conformance/asked_run.h"
#include "conformance/cases/catalogue.h"
#include "conformance/onnx/node_tests.h"
#include "conformance/run.h"
#include "io/input_files.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "options/progress.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr const char* kFooter =
    "Runs every op, forward and backward, in every precision, layout and code path of the device. NMSE: squared "
    "errors\n"
    "over squared values. WORST: the largest error of an element, relative to its row. ALLOWED: the largest error as "
    "a\n"
    "share of what rounding explains; above 100 % it fails. FASTEST: the best of the timed shapes. The exit code is 0\n"
    "only if something ran and everything passed. A GPU takes minutes, a software device up to 50. Ctrl+C prints the\n"
    "report so far.\n\n"
    "Examples:\n"
    "  headscope conform --quick\n"
    "  headscope conform --device vulkan:0 --json report.json --junit report.xml\n"
    "  headscope conform --device cuda --op matmul,attention --dtype f16\n"
    "  headscope conform --device vulkan --op masked_softmax --path chosen --case '[1, 2, 3, 33]'\n"
    "  headscope conform --onnx-node-tests site-packages/onnx/backend/test/data/node";

struct ConformOptions {
    CommonOptions common;
    std::vector<std::string> ops;
    std::vector<std::string> dtypes;
    std::vector<std::string> paths;
    std::string case_text;
    bool quick = false;
    bool full = false;
    bool untimed = false;
    conformance::Part part;
    std::string onnx_node_tests;
    ConformOutputs outputs;
};

// Reports the current case in the progress line and the crash note.
class ProgressReporter {
public:
    void operator()(const conformance::Doing& doing) {
        line_.set_all(static_cast<std::int64_t>(doing.all));
        line_.done(static_cast<std::int64_t>(doing.done), doing.text);
        CrashNote::set(fmt::format("  {}\n  again: {}", doing.text, doing.repeat));
    }

private:
    ProgressMeter line_{"group"};
    CrashNote crash_note_;
};

conformance::Report run_catalogue(const ConformOptions& options) {
    ProgressReporter reporter;
    return conformance::run(
        {.devices = conformance::devices_asked_for(options.common.devices, options.common.open),
         .ops = options.ops,
         .dtypes = options.dtypes,
         .paths = options.paths,
         .case_text = options.case_text,
         .full = !options.quick,
         .part = options.part,
         .timed = !options.untimed,
         .progress = std::ref(reporter),
         .stop_requested = stop_requested,
         .open = [&options](const std::string& path,
                            const std::string& device) { return open_device_by(path, device, options.common.open); }},
        conformance::catalogue());
}

// Runs ONNX's node tests instead of our cases.
conformance::Report run_vectors(const ConformOptions& options) {
    ProgressReporter reporter;
    conformance::Report report;
    report.scope = "onnx node tests";
    for (const std::string& id : conformance::devices_asked_for(options.common.devices, options.common.open)) {
        report.devices.push_back(conformance::run_onnx_node_tests({.folder = options.onnx_node_tests,
                                                                   .name_text = options.case_text,
                                                                   .progress = std::ref(reporter),
                                                                   .stop_requested = stop_requested},
                                                                  *open_device(id, options.common.open)));
    }
    return report;
}

void conform(const ConformOptions& options, const ResultOrigin& origin) {
    conformance::require_no_scan(options.common.open.settings);
    InputFiles inputs(options.common.open.settings);
    inputs.add(options.onnx_node_tests);
    inputs.refuse(options.outputs.json);
    inputs.refuse(options.outputs.junit);
    require_writable(options.outputs);
    listen_for_stop();
    conformance::Report report = options.onnx_node_tests.empty() ? run_catalogue(options) : run_vectors(options);
    report.version = origin.version;
    report.date = origin.date;
    report.command = origin.command;
    report.settings = conformance::settings_of(options.common.open.settings);
    std::string failures = conformance::failures_of(report);
    try {
        write_report(report, options.outputs);
    } catch (const Error& error) {
        failures += (failures.empty() ? "" : "; ") + std::string(error.what());
    }
    if (report.interrupted()) {
        log_error("headscope: " + failures);
        end_by_stop_signal();
    }
    if (!failures.empty()) {
        throw Error(failures);
    }
}

}  // namespace

void add_conform_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words) {
    auto options = std::make_shared<ConformOptions>();
    options->common.open = open_options;
    CLI::App* command =
        app.add_subcommand("conform", "Check every op of a device against a double-precision oracle")->group("Prove");
    command->footer(kFooter);
    options->common.add_device_lists(*command)->default_str("HEADSCOPE_DEVICE, or every GPU and software device");
    command->option_defaults()->group("Cases");
    CLI::Option* op =
        command->add_option("--op", options->ops, "Only these ops or families of ops, such as matmul,linear")
            ->delimiter(',');
    CLI::Option* dtype = command
                             ->add_option("--dtype", options->dtypes,
                                          "Only cases in f32, f16, bf16, tf32, i8 or i32; a list such as f32,f16")
                             ->delimiter(',');
    CLI::Option* path =
        command
            ->add_option(
                "--path", options->paths,
                "Code paths to test besides the device's own choice, such as no-subgroups,large-tiles; chosen: none")
            ->default_str("all; with --quick none")
            ->delimiter(',');
    command->add_option("--case", options->case_text, "Only cases whose names contain this text");
    CLI::Option* quick = command->add_flag("--quick", options->quick,
                                           "Skip large cases, and all code paths but the device's choice and --path");
    CLI::Option* full = command->add_flag("--full", options->full, "Test every code path (the default)");
    full->excludes(quick);
    CLI::Option* part =
        command
            ->add_option_function<std::string>(
                "--part", [options](const std::string& text) { options->part = conformance::parse_part(text); },
                "Every N-th group of cases from the K-th on, for runs that share the work")
            ->type_name("K/N");
    command->add_flag("--no-speed", options->untimed, "Do not time the ops");
    command
        ->add_option("--onnx-node-tests", options->onnx_node_tests,
                     "Run ONNX's node tests from this folder instead: see docs/conformance.md")
        ->type_name("FOLDER")
        ->excludes(quick)
        ->excludes(full)
        ->excludes(op)
        ->excludes(path)
        ->excludes(part)
        ->excludes(dtype);
    command->option_defaults()->group("Output");
    // Empty if FILE was left out.
    const auto write_json = [options](const std::string& file) { options->outputs.json = file.empty() ? "-" : file; };
    command
        ->add_option_function<std::string>("--json", write_json,
                                           "Write the report as JSON: to FILE, or print it instead of the table")
        ->expected(0, 1)
        ->type_name("[FILE]");
    command->add_option("--junit", options->outputs.junit,
                        "Write a JUnit report, one suite per device; -: standard output");
    for (CLI::Option* each :
         command->get_options([](const CLI::Option* option) { return option->get_items_expected_max() > 0; })) {
        each->check(not_empty);
    }
    command->callback([options, count, words] { conform(*options, result_origin(count, words)); });
}

}  // namespace headscope
