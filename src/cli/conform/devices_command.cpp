// headscope devices: lists the devices for --device, and why some cannot be used.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "answers/model_json.h"
#include "cli/command.h"
#include "options/common_options.h"
#include "registry/registry.h"

namespace headscope {
namespace {

using Named = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kLineWidth = 100;

// The device that is used without --device; empty if HEADSCOPE_DEVICE names something else.
std::string listed_default(const std::vector<DeviceInfo>& devices, const std::string& asked) {
    for (const DeviceInfo& device : devices) {
        if (device.rejected.empty() && (device.id == asked || device.backend == asked)) {
            return device.id;
        }
    }
    return "";
}

std::string readable_bytes(std::uint64_t bytes) {
    constexpr double kMebi = 1024.0 * 1024.0;
    const double mebibytes = static_cast<double>(bytes) / kMebi;
    return mebibytes < 1024.0 ? fmt::format("{:.0f} MiB", mebibytes) : fmt::format("{:.1f} GiB", mebibytes / 1024.0);
}

// "    label     name value, name value" over as many lines as it takes.
std::string wrapped(const std::string& label, const Named& entries) {
    std::string text;
    std::string line = fmt::format("    {:<10}", label);
    const std::string indent(line.size(), ' ');
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::string entry = entries[i].first + " " + entries[i].second + (i + 1 < entries.size() ? ", " : "");
        if (line.size() + entry.size() > kLineWidth && line.size() > indent.size()) {
            line.erase(line.find_last_not_of(' ') + 1);
            text += line + "\n";
            line = indent;
        }
        line += entry;
    }
    return entries.empty() ? "" : text + line + "\n";
}

// One line for each.
std::string listed(const std::string& label, const Named& entries) {
    std::string text;
    for (const auto& [name, value] : entries) {
        text += fmt::format("    {:<10}{}: {}\n", text.empty() ? label : "", name, value);
    }
    return text;
}

std::string describe(const DeviceInfo& device, const std::string& default_id, bool verbose) {
    std::string text = device.id + (device.id == default_id ? "  (default)" : "") +
                       (device.rejected.empty() ? "\n" : "  cannot be used: " + device.rejected + "\n");
    const auto row = [&text](const char* label, const std::string& value) {
        if (!value.empty()) {
            text += fmt::format("    {:<10}{}\n", label, value);
        }
    };
    row("name", device.name);
    row("driver", device.driver);
    const char* software = "software: a GPU's interface on the CPU's cores; correct, but slow";
    row("kind", device.gpu ? "GPU" : device.software ? software : "");
    row("memory", device.memory_bytes > 0 ? readable_bytes(device.memory_bytes) : "");
    const auto entries = verbose ? listed : wrapped;
    return text + entries("limits", device.limits) + entries("features", device.features);
}

void print_usable(const OpenOptions& open_options) {
    for (const DeviceInfo& device : list_devices(open_options)) {
        if (device.rejected.empty()) {
            write_output(device.id + "\n");
        }
    }
}

void print_devices(bool as_json, bool verbose, const OpenOptions& open_options) {
    const std::vector<DeviceInfo> devices = list_devices(open_options);
    const std::string asked = default_device(devices, open_options.settings);
    const std::string chosen = listed_default(devices, asked);
    if (as_json) {
        write_output(json_document({{"devices", devices_json(devices, chosen)}}));
        return;
    }
    for (const DeviceInfo& device : devices) {
        write_output(describe(device, chosen, verbose));
    }
    if (chosen.empty()) {
        write_output(fmt::format("\nHEADSCOPE_DEVICE is \"{}\", which is not a usable device\n", asked));
    }
}

}  // namespace

void add_devices_command(CLI::App& app, const OpenOptions& open_options) {
    struct Options {
        CommonOptions common;
        bool usable = false;
    };
    auto options = std::make_shared<Options>();
    options->common.open = open_options;
    CLI::App* command = app.add_subcommand("devices", "List the devices")->group("Devices");
    command->footer(
        "HEADSCOPE_DEVICE sets the default; without it, that is the best real GPU, else the CPU. Not listed is\n"
        "cpu:oracle, the slow double-precision CPU reference that other devices are checked against. --verbose prints\n"
        "each limit and feature, such as a kernel that is used or not, in a line of its own.\n\n"
        "Examples:\n  headscope devices\n  for d in $(headscope devices --usable); do echo \"$d\"; done");
    CLI::Option* json = options->common.add_json(*command);
    command->add_flag("--usable", options->usable, "Print only the names of usable devices, one per line")
        ->group("Output")
        ->excludes(json);
    command->callback([options] {
        const CommonOptions& common = options->common;
        options->usable ? print_usable(common.open) : print_devices(common.json, terminal_style().verbose, common.open);
    });
}

}  // namespace headscope
