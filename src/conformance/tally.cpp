#include "conformance/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/repeat.h"

namespace headscope::conformance {

void note_standing(const Standing& standing, const Backend& device, const Case& stated, Result& result) {
    result.level = std::max(result.level, standing.level);
    result.shortfalls.insert(standing.shortfalls.begin(), standing.shortfalls.end());
    if (standing.owed) {
        result.complaints.push_back(
            fmt::format("{}: {}: every backend has to have this", device.device().id, stated.title()));
    }
}

void note_failed(const std::string& device, const Case& stated, Result& result, std::vector<std::string> kernels) {
    result.failed.push_back({.title = stated.title(),
                             .repeat = repeat_command(device, result, stated.title()),
                             .kernels = std::move(kernels)});
}

void add(const Case& stated, const Outcome& outcome, Result& result) {
    ++result.cases;
    result.runs += outcome.runs;
    result.failed_runs += outcome.failed_runs;
    result.closeness.widen(outcome.closeness);
    result.kernels.insert(outcome.kernels.begin(), outcome.kernels.end());
    result.complaints.insert(result.complaints.end(), outcome.complaints.begin(), outcome.complaints.end());
    for (const Operand& operand : stated.operands) {
        if (const Tolerance tolerance = tolerance_of(stated, operand);
            operand.written() && tolerance.element >= result.tolerance.element) {
            result.tolerance = tolerance;
        }
    }
}

}  // namespace headscope::conformance
