#include "cli/conform/conform_outputs.h"

#include <filesystem>
#include <functional>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "io/atomic_file.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

constexpr const char* kStandardOutput = "-";

bool is_file(const std::string& path) {
    return !path.empty() && path != kStandardOutput;
}

// Compares resolved paths.
bool are_same(const std::string& a, const std::string& b) {
    const auto place = [](const std::string& path) {
        std::error_code ignored;
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored);
    };
    return a == b || (is_file(a) && is_file(b) && place(a) == place(b));
}

void require_file(const std::string& path) {
    if (is_file(path)) {
        const AtomicFile tried(path);  // removed again at once
    }
}

std::string json_text(const conformance::Report& report) {
    return json_document(conformance::report_json(report));
}

void write_to(const std::string& path, const std::string& text) {
    if (path == kStandardOutput) {
        write_output(text);
    } else if (!path.empty()) {
        atomic_write_file(path, text);
    }
}

// Runs `step`; returns its error message, or an empty string.
std::string failure_of(const std::function<void()>& step) {
    try {
        step();
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

void require_writable(const ConformOutputs& outputs) {
    if (!outputs.json.empty() && !outputs.junit.empty() && are_same(outputs.json, outputs.junit)) {
        throw UsageError(
            fmt::format("--json {} and --junit {} are the same file: use different ones", outputs.json, outputs.junit));
    }
    require_file(outputs.json);
    require_file(outputs.junit);
}

void write_report(const conformance::Report& report, const ConformOutputs& outputs) {
    const auto table = [&] {
        for (const conformance::DeviceReport& device : report.devices) {
            write_verdicts(conformance::report_table(device, report.settings));
        }
    };
    const bool shows_table = outputs.json != kStandardOutput && outputs.junit != kStandardOutput;
    std::string failures;
    for (const std::string& failure :
         {shows_table ? failure_of(table) : "", failure_of([&] { write_to(outputs.json, json_text(report)); }),
          failure_of([&] { write_to(outputs.junit, conformance::report_junit(report)); })}) {
        failures += failure.empty() || failures.empty() ? failure : "; " + failure;
    }
    if (!failures.empty()) {
        throw Error(failures);
    }
}

}  // namespace headscope
