#include "conformance/report.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "conformance/run.h"
#include "support/shell_quoted.h"

namespace headscope::conformance {

namespace {

bool changes_what_runs(std::string_view name) {
    constexpr std::array<std::string_view, 4> kOfDrivers{"LP_NATIVE_VECTOR_WIDTH", "VK_ADD_DRIVER_FILES",
                                                         "VK_DRIVER_FILES", "VK_ICD_FILENAMES"};
    return name.starts_with("HEADSCOPE_") || std::find(kOfDrivers.begin(), kOfDrivers.end(), name) != kOfDrivers.end();
}

}  // namespace

bool Result::backward() const {
    return op.find("backward") != std::string::npos;
}

int DeviceReport::runs() const {
    int total = 0;
    for (const Result& result : results) {
        total += result.runs;
    }
    return total;
}

std::size_t DeviceReport::failures() const {
    return static_cast<std::size_t>(
        std::count_if(results.begin(), results.end(), [](const Result& result) { return !result.passed(); }));
}

std::set<std::string> DeviceReport::unproven() const {
    std::set<std::string> timed;
    for (const Result& result : results) {
        if (!result.speeds.empty()) {
            timed.insert(result.kernels.begin(), result.kernels.end());
        }
    }
    for (const Result& result : results) {
        if (result.runs > 0) {
            for (const std::string& kernel : result.kernels) {
                timed.erase(kernel);
            }
        }
    }
    return timed;
}

bool Report::interrupted() const {
    return std::any_of(devices.begin(), devices.end(), [](const DeviceReport& report) { return report.interrupted; });
}

bool Report::passed() const {
    return !devices.empty() &&
           std::all_of(devices.begin(), devices.end(), [](const DeviceReport& report) { return report.passed(); });
}

std::string repeat_command(const std::string& device, const Result& result, const std::string& title) {
    // "bf16 products" are of --dtype bf16; the oracle's own type is none that one asks for.
    const std::string dtype = result.precision.substr(0, result.precision.find_first_of(" +"));
    return fmt::format("headscope conform --device {} --op {}{} --path {} --case {}", device, result.op,
                       dtype.empty() || dtype == "f64" ? "" : " --dtype " + dtype,
                       result.path.empty() ? kChosenPath : result.path, shell_quoted(title));
}

RunSettings settings_of(const Settings& settings) {
    RunSettings found(settings.all().begin(), settings.all().end());
    std::erase_if(found, [](const auto& each) { return !changes_what_runs(each.first); });
    return found;
}

}  // namespace headscope::conformance
