// The report for programs.
#include <cmath>
#include <nlohmann/json.hpp>

#include "conformance/report.h"

namespace headscope::conformance {

namespace {

using Json = nlohmann::ordered_json;

const char* name_of(SupportLevel level) {
    switch (level) {
        case SupportLevel::Native: return "native";
        case SupportLevel::Composed: return "composed";
        case SupportLevel::None: return "none";
    }
    return "?";
}

// JSON has no infinity: null.
Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json object(const std::vector<std::pair<std::string, std::string>>& entries) {
    Json json = Json::object();
    for (const auto& [name, value] : entries) {
        json[name] = value;
    }
    return json;
}

Json to_json(const Speed& speed) {
    return {{"shape", speed.shape},
            {"seconds", number(speed.seconds)},
            {"rate", number(speed.giga_a_second())},
            {"unit", speed.unit()}};
}

Json to_json(const Result& result) {
    Json json{{"op", result.op},
              {"direction", result.backward() ? "backward" : "forward"},
              {"precision", result.precision},
              {"family", result.family},
              {"group", result.group},
              {"says", result.says},
              {"path", result.path.empty() ? "chosen" : result.path},
              {"kernels", result.kernels},
              {"level", name_of(result.level)},
              {"not_native", Json::array()},
              {"passed", result.passed()},
              {"cases", result.cases},
              {"runs", result.runs},
              {"failed_runs", result.failed_runs},
              {"seconds", result.seconds}};
    for (const Shortfall& each : result.shortfalls) {
        json["not_native"].push_back(each.text());
    }
    if (!result.skipped.empty()) {
        json["skipped"] = result.skipped;
    }
    if (result.runs > 0) {
        json["nmse"] = number(result.closeness.nmse);
        json["worst_relative_error"] = number(result.closeness.worst_relative);
        json["share_of_tolerance"] = number(result.closeness.of_bound);
        json["beyond_any_tolerance"] = !std::isfinite(result.closeness.of_bound);
        json["tolerance"] = {{"element", result.tolerance.element},
                             {"tensor", result.tolerance.tensor},
                             {"reason", result.tolerance.reason}};
    }
    for (const Speed& speed : result.speeds) {
        json["speed"].push_back(to_json(speed));
    }
    json["complaints"] = result.complaints;
    for (const FailedCase& each : result.failed) {
        json["failed_cases"].push_back({{"case", each.title}, {"repeat", each.repeat}, {"kernels", each.kernels}});
    }
    return json;
}

Json to_json(const DeviceReport& report) {
    Json json{{"id", report.device.id},
              {"backend", report.device.backend},
              {"name", report.device.name},
              {"driver", report.device.driver},
              {"software", report.device.software},
              {"gpu", report.device.gpu},
              {"limits", object(report.device.limits)},
              {"features", object(report.device.features)},
              {"paths", report.device.paths},
              {"passed", report.passed()},
              {"runs", report.runs()},
              {"failed", report.failures()},
              {"unproven_kernels", report.unproven()},
              {"date", report.date},
              {"seconds", report.seconds},
              {"interrupted", report.interrupted},
              {"failure", report.failure},
              {"results", Json::array()}};
    for (const Result& result : report.results) {
        json["results"].push_back(to_json(result));
    }
    return json;
}

}  // namespace

nlohmann::ordered_json report_json(const Report& report) {
    Json json{{"format", "headscope conformance report 1"},
              {"headscope", report.version},
              {"date", report.date},
              {"command", report.command},
              {"settings", object(report.settings)},
              {"scope", report.scope},
              {"interrupted", report.interrupted()},
              {"passed", report.passed()},
              {"devices", Json::array()}};
    for (const DeviceReport& device : report.devices) {
        json["devices"].push_back(to_json(device));
    }
    return json;
}

}  // namespace headscope::conformance
