#include "cli/compare/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "observe/attention_record.h"
#include "support/counted.h"

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity.
Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(std::to_string(value));
}

// "encoder 1"
std::string site_name(const AttentionSite& site) {
    return fmt::format("{} {}", name_of(site.kind), site.layer + 1);
}

std::string weights_table(const ComparisonReport& report, std::size_t width) {
    const auto inspected = std::find_if(report.devices.begin(), report.devices.end(),
                                        [](const ComparedDevice& device) { return device.inner.sentences > 0; });
    if (inspected == report.devices.end()) {
        return "";
    }
    const InnerDifferences& first = inspected->inner;
    std::string text = fmt::format("\nAttention weights, the largest difference from {} in {}:\n{:<{}}",
                                   report.reference, counted(first.sentences, "sentence"), "", width);
    for (const SiteDifference& each : first.weights) {
        text += fmt::format(" {:>9}", site_name(each.site));
    }
    text += "\n";
    for (const ComparedDevice& device : report.devices) {
        if (!device.failure.empty()) {
            continue;
        }
        text += fmt::format("{:<{}}", device.name, width);
        for (const SiteDifference& each : device.inner.weights) {
            text += fmt::format(" {:>9.1e}", each.largest);
        }
        text += "\n";
    }
    return text;
}

Json to_json(const ComparedDevice& device, double tie) {
    if (!device.failure.empty()) {
        return {{"device", device.name}, {"agrees", false}, {"failure", device.failure}};
    }
    const std::size_t ties = device.agreement.ties(tie);
    Json json{{"device", device.name},
              {"target_tokens_per_second", device.tokens_a_second},
              {"agrees", device.agrees(tie)},
              {"sentences", device.agreement.sentences()},
              {"identical", device.agreement.identical},
              {"ties", ties},
              {"different", device.agreement.differences.size() - ties},
              {"largest_difference_of_log_probability", number(device.agreement.score_drift)}};
    if (device.inner.sentences > 0) {
        json["inside"] = {{"sentences", device.inner.sentences},
                          {"largest_difference_of_logits", number(device.inner.logits)},
                          {"largest_logit", number(device.inner.largest_logit)},
                          {"attention", Json::array()}};
        for (const SiteDifference& each : device.inner.weights) {
            json["inside"]["attention"].push_back({{"kind", name_of(each.site.kind)},
                                                   {"layer", each.site.layer + 1},
                                                   {"largest_difference_of_weights", number(each.largest)}});
        }
    }
    return json;
}

}  // namespace

bool ComparisonReport::holds() const {
    return reference_failure.empty() &&
           std::all_of(devices.begin(), devices.end(),
                       [this](const ComparedDevice& device) { return device.agrees(tie); });
}

std::string comparison_table(const ComparisonReport& report) {
    std::size_t width = std::max<std::size_t>(report.reference.size(), 6);
    for (const ComparedDevice& device : report.devices) {
        width = std::max(width, device.name.size());
    }
    std::string text = fmt::format("{:<{}} {:>10} {:>10} {:>6} {:>10} {:>9} {:>9}  {}\n", "DEVICE", width, "TOKENS/S",
                                   "IDENTICAL", "TIES", "DIFFERENT", "LOG P", "LOGITS", "OF AT MOST");
    text +=
        fmt::format("{:<{}} {:>10.1f}  the reference{}\n", report.reference, width, report.reference_tokens_a_second,
                    report.reference_failure.empty() ? "" : ", until it failed: " + report.reference_failure);
    for (const ComparedDevice& device : report.devices) {
        if (!device.failure.empty()) {
            text += fmt::format("{:<{}} {:>10}  {}\n", device.name, width, "FAILED", device.failure);
            continue;
        }
        const std::size_t ties = device.agreement.ties(report.tie);
        text += fmt::format("{:<{}} {:>10.1f} {:>10} {:>6} {:>10} {:>9.1e}", device.name, width, device.tokens_a_second,
                            device.agreement.identical, ties, device.agreement.differences.size() - ties,
                            device.agreement.score_drift);
        text += device.inner.sentences == 0
                    ? "\n"
                    : fmt::format(" {:>9.1e}  {:.1f}\n", device.inner.logits, device.inner.largest_logit);
    }
    return text + weights_table(report, width);
}

std::string comparison_json(const ComparisonReport& report) {
    Json json{{"reference", report.reference},
              {"reference_target_tokens_per_second", report.reference_tokens_a_second},
              {"tie", report.tie},
              {"agrees", report.holds()},
              {"devices", Json::array()}};
    if (!report.reference_failure.empty()) {
        json["reference_failure"] = report.reference_failure;
    }
    for (const ComparedDevice& device : report.devices) {
        json["devices"].push_back(to_json(device, report.tie));
    }
    return json_document(json);
}

}  // namespace headscope
