#include "conformance/report.h"

#include <algorithm>

namespace headscope::conformance {

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

}  // namespace headscope::conformance
