#include "cli/bench/bench_ops_report.h"

#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/counted.h"

namespace headscope {
namespace {

using conformance::DeviceSpeed;
using conformance::OpSpeeds;

// The devices that could be opened.
std::vector<const BenchDevice*> opened(const OpsResult& result) {
    std::vector<const BenchDevice*> devices;
    for (const BenchDevice& device : result.devices) {
        if (device.error.empty()) {
            devices.push_back(&device);
        }
    }
    return devices;
}

// The speed relative to the CPU; std::nullopt without a CPU or a speed.
std::optional<double> ratio_to_cpu(const std::vector<const BenchDevice*>& devices, const OpSpeeds& op,
                                   const DeviceSpeed& speed) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices[i]->info.backend == "cpu") {
            const std::optional<conformance::Speed>& cpu = op.devices[i].speed;
            return cpu && speed.speed ? std::make_optional(cpu->seconds / speed.speed->seconds) : std::nullopt;
        }
    }
    return std::nullopt;
}

const char* name_of(SupportLevel level) {
    return level == SupportLevel::Native ? "native" : level == SupportLevel::Composed ? "composed" : "none";
}

nlohmann::ordered_json speed_json(const BenchDevice& device, const DeviceSpeed& found, std::optional<double> ratio) {
    nlohmann::ordered_json json = {{"device", device.info.id}};
    if (!found.error.empty()) {
        json["error"] = found.error;
        return json;
    }
    json["support"] = name_of(found.level);
    if (!found.reason.empty()) {
        json["reason"] = found.reason;
    }
    if (!found.speed) {
        return json;
    }
    json["precision"] = found.precision;
    json["median_seconds"] = found.speed->seconds;
    json["run_seconds"] = found.seconds;
    json[found.speed->is_arithmetic ? "gflops_per_second" : "gigabytes_per_second"] = found.speed->giga_a_second();
    if (ratio) {
        json["ratio_to_cpu"] = *ratio;
    }
    if (found.growth) {
        json["growth"] = *found.growth;
    }
    json["compared_with"] = found.checked.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(found.checked);
    if (!found.checked.empty()) {
        json["share_of_tolerance"] = found.closeness.of_bound;
    }
    json["kernels"] = found.kernels;
    return json;
}

constexpr int kOpWidth = 26;

std::string rate_text(double rate) {
    return fmt::format("{:.{}f}", rate, rate < 10.0 ? 2 : rate < 1000.0 ? 1 : 0);
}

// "   12.3  0.41x", or "FAILED" or "-".
std::string cell(const DeviceSpeed& found, std::optional<double> ratio, bool has_ratios) {
    const std::string rate = found.speed           ? rate_text(found.speed->giga_a_second())
                             : found.error.empty() ? "-"
                                                   : "FAILED";
    std::string text = fmt::format("{:>11}", rate);
    if (has_ratios) {
        text += fmt::format("{:>8}", ratio ? fmt::format("{:.2f}x", *ratio) : "");
    }
    return text;
}

const char* unit_of(const OpSpeeds& op) {
    for (const DeviceSpeed& each : op.devices) {
        if (each.speed) {
            return each.speed->unit();
        }
    }
    return "";
}

std::string devices_text(const OpsResult& result) {
    std::string text;
    for (const BenchDevice& device : result.devices) {
        text += device.error.empty() ? fmt::format("{:<11}{} ({}), {}\n", device.info.id, device.info.name,
                                                   device.info.driver, name_of(device.arithmetic))
                                     : fmt::format("{:<11}{}\n", device.info.id, failed_cell(device.error));
    }
    return text;
}

// The width of the column of shapes.
int shape_width(const OpsResult& result) {
    std::size_t width = 24;
    for (const OpSpeeds& op : result.ops) {
        width = std::max(width, op.shape.size() + 1);
    }
    return static_cast<int>(width);
}

std::string table_text(const OpsResult& result, const std::vector<const BenchDevice*>& devices) {
    const int width = shape_width(result);
    std::string text = fmt::format("{:<{}}{:<{}}{:<8}", "op", kOpWidth, "shape", width, "");
    const auto is_cpu = [](const BenchDevice* device) { return device->info.backend == "cpu"; };
    const bool has_cpu = std::any_of(devices.begin(), devices.end(), is_cpu);
    const bool has_ratios = has_cpu && devices.size() > 1;
    for (const BenchDevice* device : devices) {
        text += fmt::format("{:>11}{}", device->info.id, has_ratios ? fmt::format("{:>8}", "/ cpu") : "");
    }
    text += "\n";
    for (const OpSpeeds& op : result.ops) {
        text += fmt::format("{:<{}}{:<{}}{:<8}", op.op, kOpWidth, op.shape, width, unit_of(op));
        for (const DeviceSpeed& each : op.devices) {
            text += cell(each, ratio_to_cpu(devices, op, each), has_ratios);
        }
        text += "\n";
    }
    return text;
}

// Each length with its time, rate and growth.
std::string lengths_text(const OpsResult& result, const std::vector<const BenchDevice*>& devices) {
    const int width = shape_width(result);
    std::string text = fmt::format("{:<{}}{:<{}}", "op", kOpWidth, "shape", width);
    for (const BenchDevice* device : devices) {
        text += fmt::format("{:>14} ms{:>11}{:>8}", device->info.id, result.ops.empty() ? "" : unit_of(result.ops[0]),
                            "growth");
    }
    text += "\n";
    for (const OpSpeeds& op : result.ops) {
        text += fmt::format("{:<{}}{:<{}}", op.op, kOpWidth, op.shape, width);
        for (const DeviceSpeed& each : op.devices) {
            text +=
                fmt::format("{:>17}{}{:>8}", each.speed ? fmt::format("{:.3f}", 1e3 * each.speed->seconds) : "",
                            cell(each, std::nullopt, false), each.growth ? fmt::format("{:.2f}x", *each.growth) : "");
        }
        text += "\n";
    }
    return text + "growth: the time over that of the line before, of half the length; 4.00x where it grows with n^2\n";
}

// Explains cells without a number and composed ops, each once.
std::string notes_text(const OpsResult& result, const std::vector<const BenchDevice*>& devices) {
    std::string text;
    for (const OpSpeeds& op : result.ops) {
        for (std::size_t i = 0; i < devices.size(); ++i) {
            const DeviceSpeed& found = op.devices[i];
            const std::string whose = devices[i]->info.id + ": ";
            std::string note;
            if (!found.error.empty()) {
                note = fmt::format("{}{} {}: {}\n", whose, op.op, op.shape, failed_cell(found.error));
            } else if (!found.reason.empty()) {  // the same in every shape if the op is composed
                note = whose + (found.speed ? "" : op.op + " " + op.shape + ": ") + found.reason + "\n";
            }
            text += text.find(note) == std::string::npos ? note : "";
        }
    }
    return text.empty() ? "" : "\n" + text;
}

}  // namespace

nlohmann::ordered_json to_json(const OpsResult& result) {
    nlohmann::ordered_json json = to_json(result.origin, "ops");
    json["repetitions"] = result.repeat;
    json["devices"] = nlohmann::ordered_json::array();
    for (const BenchDevice& device : result.devices) {
        nlohmann::ordered_json& entry = json["devices"].emplace_back(to_json(device.info));
        if (device.error.empty()) {
            entry["precision"] = name_of(device.arithmetic);
        } else {
            entry = {{"id", device.info.id}, {"error", device.error}};
        }
    }
    json["ops"] = nlohmann::ordered_json::array();
    const std::vector<const BenchDevice*> devices = opened(result);
    for (const OpSpeeds& op : result.ops) {
        nlohmann::ordered_json& entry =
            json["ops"].emplace_back(nlohmann::ordered_json{{"op", op.op}, {"family", op.family}, {"shape", op.shape}});
        if (op.length > 0) {
            entry["length"] = op.length;
        }
        for (std::size_t i = 0; i < devices.size(); ++i) {
            entry["results"].push_back(
                speed_json(*devices[i], op.devices[i], ratio_to_cpu(devices, op, op.devices[i])));
        }
    }
    return json;
}

std::string to_text(const OpsResult& result) {
    const std::vector<const BenchDevice*> devices = opened(result);
    const std::string head = fmt::format("headscope {}, {}: medians of {}\n{}\n", result.origin.version,
                                         result.origin.date, counted(result.repeat, "turn"), devices_text(result));
    const bool by_length =
        std::any_of(result.ops.begin(), result.ops.end(), [](const OpSpeeds& op) { return op.length > 0; });
    return head + (by_length ? lengths_text(result, devices) : table_text(result, devices)) +
           notes_text(result, devices);
}

std::string errors_of(const OpsResult& result) {
    std::string text = errors_of(result.devices);
    const std::vector<const BenchDevice*> devices = opened(result);
    for (const OpSpeeds& op : result.ops) {
        for (std::size_t i = 0; i < devices.size(); ++i) {
            if (!op.devices[i].error.empty()) {
                text += fmt::format("{}{}: {} {}: {}", text.empty() ? "" : "; ", devices[i]->info.id, op.op, op.shape,
                                    op.devices[i].error);
            }
        }
    }
    return text;
}

}  // namespace headscope
