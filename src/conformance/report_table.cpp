// The report for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "conformance/report.h"
#include "support/counted.h"

namespace headscope::conformance {

namespace {

constexpr std::size_t kComplaintsShown = 3;  // of each result; the JSON has all

// A line of the table: the results of one op in one precision by one path, over all groups.
struct Line {
    std::string op, precision, path;
    SupportLevel level = SupportLevel::Native;
    int cases = 0;
    int runs = 0;
    bool failed = false;
    int failed_runs = 0;
    Closeness closeness = {};
    std::vector<Speed> speeds = {};
};

std::vector<Line> lines_of(const DeviceReport& report) {
    std::vector<Line> lines;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
    for (const Result& result : report.results) {
        if (result.missing() && result.passed()) {
            continue;  // among the shortfalls
        }
        const auto [at, is_new] = places.try_emplace({result.op, result.precision, result.path}, lines.size());
        if (is_new) {
            lines.push_back({.op = result.op, .precision = result.precision, .path = result.path});
        }
        Line& line = lines[at->second];
        line.level = std::max(line.level, result.level);
        line.cases += result.cases;
        line.runs += result.runs;
        line.failed = line.failed || !result.passed();
        line.failed_runs += result.failed_runs;
        line.closeness.widen(result.closeness);
        line.speeds.insert(line.speeds.end(), result.speeds.begin(), result.speeds.end());
    }
    // Lines of one op are adjacent; ops are in order of first appearance.
    std::map<std::string, std::size_t> first;
    for (const Line& line : lines) {
        first.try_emplace(line.op, first.size());
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [&](const Line& a, const Line& b) { return first.at(a.op) < first.at(b.op); });
    return lines;
}

std::string verdict(const Line& line) {
    if (line.failed) {
        return line.failed_runs > 0 ? fmt::format("FAILED {}", line.failed_runs) : "FAILED";
    }
    if (line.runs == 0) {
        return "timed";
    }
    return line.level == SupportLevel::Composed ? "passed, composed" : "passed";
}

// An error beyond any tolerance has no number.
std::string measured(double value, std::string text) {
    return std::isfinite(value) ? std::move(text) : "wrong";
}

std::string path_of(const Line& line) {
    return line.path.empty() ? "as it chooses" : line.path;
}

std::string row(const Line& line, std::size_t width, std::size_t path_width) {
    const bool ran = line.runs > 0;
    std::string text = fmt::format(
        "{:<{}} {:<13} {:<{}} {:>5} {:>5} {:>7} {:>7} {:>7}  {:<16} ", line.op, width, line.precision, path_of(line),
        path_width, ran ? std::to_string(line.cases) : "", ran ? std::to_string(line.runs) : "",
        ran ? measured(line.closeness.nmse, fmt::format("{:.1e}", line.closeness.nmse)) : "",
        ran ? measured(line.closeness.worst_relative, fmt::format("{:.1e}", line.closeness.worst_relative)) : "",
        ran ? measured(line.closeness.of_bound, fmt::format("{:.0f} %", 100 * line.closeness.of_bound)) : "",
        verdict(line));
    const auto fastest = std::max_element(line.speeds.begin(), line.speeds.end(), [](const Speed& a, const Speed& b) {
        return a.giga_a_second() < b.giga_a_second();
    });
    if (fastest != line.speeds.end()) {
        text += fmt::format("{:.3g} {}", fastest->giga_a_second(), fastest->unit());
    }
    return text.erase(text.find_last_not_of(' ') + 1) + "\n";
}

using Named = std::vector<std::pair<std::string, std::string>>;

std::string listed(const char* label, const Named& entries, const char* between = " ") {
    std::vector<std::string> words;
    words.reserve(entries.size());
    for (const auto& [name, value] : entries) {
        words.push_back(name + between + value);
    }
    return entries.empty() ? "" : fmt::format("    {:<10}{}\n", label, fmt::join(words, ", "));
}

std::string heading(const DeviceInfo& device, const RunSettings& settings) {
    std::string text = fmt::format("{}  {}\n", device.id, device.name);
    text += device.driver.empty() ? "" : fmt::format("    driver    {}\n", device.driver);
    text += device.software ? "    kind      software: a GPU's interface on the CPU's cores\n" : "";
    return text + listed("limits", device.limits) + listed("features", device.features) +
           listed("settings", settings, "=") + "\n";
}

std::string failures(const DeviceReport& report) {
    std::string text;
    for (const Result& result : report.results) {
        if (result.passed()) {
            continue;
        }
        text += fmt::format("\nFAILED  {}{}, {} ({}{})\n", result.op,
                            result.precision.empty() ? "" : " in " + result.precision, result.says, result.group,
                            result.path.empty() ? "" : ", " + result.path);
        const std::size_t shown = std::min(kComplaintsShown, result.complaints.size());
        for (std::size_t i = 0; i < shown; ++i) {
            text += "    " + result.complaints[i] + "\n";
        }
        if (shown < result.complaints.size()) {
            text += fmt::format("    and {} more\n", result.complaints.size() - shown);
        }
        if (!result.failed.empty()) {
            text += "    again: " + result.failed.front().repeat + "\n";
        }
    }
    return text;
}

// What 100 % means for each precision, with the reason.
std::string allowed(const DeviceReport& report) {
    std::map<std::string, Tolerance> most;
    std::vector<std::string> precisions;  // in order of first appearance
    for (const Result& result : report.results) {
        if (result.runs == 0) {
            continue;
        }
        const auto [at, is_new] = most.try_emplace(result.precision, result.tolerance);
        if (is_new) {
            precisions.push_back(result.precision);
        } else if (result.tolerance.element > at->second.element) {
            at->second = result.tolerance;
        }
    }
    std::string text = precisions.empty() ? "" : "\nAllowed at most, of what WORST is measured against:\n";
    for (const std::string& precision : precisions) {
        const Tolerance& tolerance = most.at(precision);
        text += fmt::format("    {:<13} {:.1e}  {}\n", precision, tolerance.element, tolerance.reason);
    }
    return text;
}

// Timed kernels that no case of this run checks.
std::string unproven(const DeviceReport& report) {
    const std::size_t count = report.unproven().size();
    return count == 0 ? ""
                      : fmt::format("\nTimed, but in no case of this run: {} (the JSON has their names)\n",
                                    counted(count, "kernel"));
}

// What is not native, and why: equal reasons share a line.
std::string shortfalls(const DeviceReport& report) {
    std::map<std::tuple<SupportLevel, std::string, std::string>, std::set<std::string>> lines;
    for (const Result& result : report.results) {
        for (const Shortfall& each : result.shortfalls) {
            lines[{each.level, each.dtype, each.why}].insert(each.what);
        }
    }
    std::string text = lines.empty() ? "" : "\nNot natively:\n";
    for (const auto& [key, what] : lines) {
        const auto& [level, dtype, why] = key;
        text += fmt::format("    {:<8} in {:<4} {}: {}\n", level == SupportLevel::None ? "missing" : "composed", dtype,
                            fmt::join(what, ", "), why);
    }
    return text;
}

// ONNX tests that were skipped, by op and reason.
std::string skipped(const DeviceReport& report) {
    std::map<std::pair<std::string, std::string>, int> lines;
    int total = 0;
    for (const Result& result : report.results) {
        for (const auto& [why, count] : result.skipped) {
            lines[{result.op, why}] += count;
            total += count;
        }
    }
    std::string text = total == 0 ? "" : fmt::format("\nSkipped: {}\n", counted(total, "test"));
    for (const auto& [key, count] : lines) {
        text += fmt::format("    {:>5}  {}: {}\n", count, key.first, key.second);
    }
    return text;
}

}  // namespace

std::string report_table(const DeviceReport& report, const RunSettings& settings) {
    const std::vector<Line> lines = lines_of(report);
    std::size_t width = 2;
    std::size_t path_width = 4;
    for (const Line& line : lines) {
        width = std::max(width, line.op.size());
        path_width = std::max(path_width, path_of(line).size());
    }
    std::string text = heading(report.device, settings);
    text += fmt::format("{:<{}} {:<13} {:<{}} {:>5} {:>5} {:>7} {:>7} {:>7}  {:<16} {}\n", "OP", width, "PRECISION",
                        "PATH", path_width, "CASES", "RUNS", "NMSE", "WORST", "ALLOWED", "RESULT", "FASTEST");
    for (const Line& line : lines) {
        text += row(line, width, path_width);
    }
    text += allowed(report) + unproven(report) + shortfalls(report) + skipped(report) + failures(report);
    if (!report.failure.empty()) {
        text += fmt::format("\n{}  the rest was not tried\n    {}\n", report.interrupted ? "INTERRUPTED" : "FAILED",
                            report.failure);
    }
    return text + fmt::format("\n{}: {}, {} of {} failed, {:.0f} s{}\n", report.device.id,
                              counted(report.runs(), "run"), report.failures(),
                              counted(report.results.size(), "result"), report.seconds,
                              report.failure.empty() ? "" : ", not to the end");
}

}  // namespace headscope::conformance
