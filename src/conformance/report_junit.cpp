// The report as JUnit's XML.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/report.h"
#include "support/xml.h"

namespace headscope::conformance {

namespace {

bool is_skipped(const Result& result) {
    return result.missing() && result.passed() && result.runs == 0;
}

std::string skip_of(const Result& result) {
    std::string why;
    for (const Shortfall& each : result.shortfalls) {
        why += (why.empty() ? "" : "; ") + each.text();
    }
    for (const auto& [reason, count] : result.skipped) {
        why += fmt::format("{}{} {}", why.empty() ? "" : "; ", count, reason);
    }
    return fmt::format("<skipped message=\"{}\"/>", escape_xml(why));
}

std::string failure_of(const Result& result) {
    std::vector<std::string> lines = result.complaints;
    for (const FailedCase& each : result.failed) {
        lines.push_back("again: " + each.repeat);
    }
    return fmt::format("<failure message=\"{}\">{}</failure>", escape_xml(result.complaints.front()),
                       escape_xml(fmt::format("{}", fmt::join(lines, "\n"))));
}

// The numbers. Jenkins and GitLab both show a test's output; not every reader shows its properties.
std::string numbers_of(const Result& result) {
    std::string text;
    if (result.runs > 0) {
        text += fmt::format(
            "cases {}, runs {}, failed runs {}\nnmse {:.3g}\nworst relative error {:.3g}\nshare of tolerance {:.3g}\n"
            "tolerance {:.3g} of an element, {:.3g} of all: {}\n",
            result.cases, result.runs, result.failed_runs, result.closeness.nmse, result.closeness.worst_relative,
            result.closeness.of_bound, result.tolerance.element, result.tolerance.tensor, result.tolerance.reason);
    }
    for (const Speed& speed : result.speeds) {
        text += fmt::format("speed {:.4g} {} of {}\n", speed.giga_a_second(), speed.unit(), speed.shape);
    }
    return text.empty() ? "" : "<system-out>" + escape_xml(text) + "</system-out>";
}

std::string test_case(const Result& result) {
    const std::string path = result.path.empty() ? "chosen" : result.path;
    const std::string begin = fmt::format(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", escape_xml(result.family + "." + result.op),
        escape_xml(fmt::format("{}, {}, {}", result.precision, result.group, path)), result.seconds);
    const std::string inner = (is_skipped(result) ? skip_of(result)
                               : !result.passed() ? failure_of(result)
                                                  : "") +
                              numbers_of(result);
    return begin + (inner.empty() ? "/>\n" : ">" + inner + "</testcase>\n");
}

std::string property(const std::string& name, const std::string& value) {
    return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escape_xml(name), escape_xml(value));
}

// JUnit's schema wants xs:dateTime in UTC without a zone.
std::string timestamp_of(const std::string& date) {
    return date.ends_with('Z') ? date.substr(0, date.size() - 1) : date;
}

std::string suite(const DeviceReport& report, const RunSettings& settings) {
    const std::size_t cut = report.failure.empty() ? 0 : 1;
    const std::size_t nothing = report.runs() == 0 && cut == 0 ? 1 : 0;
    const auto skipped = std::count_if(report.results.begin(), report.results.end(), is_skipped);
    std::string text = fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\" "
        "timestamp=\"{}\">\n"
        "    <properties>\n",
        escape_xml(report.device.id + " " + report.device.name), report.results.size() + nothing + cut,
        report.failures() + nothing, cut, skipped, report.seconds, timestamp_of(report.date));
    text += property("driver", report.device.driver);
    for (const auto& [name, value] : settings) {
        text += property("setting: " + name, value);
    }
    for (const auto& [name, value] : report.device.limits) {
        text += property("limit: " + name, value);
    }
    for (const auto& [name, value] : report.device.features) {
        text += property("feature: " + name, value);
    }
    text += "    </properties>\n";
    for (const Result& result : report.results) {
        text += test_case(result);
    }
    if (cut != 0) {
        text += fmt::format("    <testcase classname=\"device\" name=\"the rest\"><error message=\"{}\"/></testcase>\n",
                            escape_xml(report.failure));
    }
    if (nothing != 0) {
        text +=
            "    <testcase classname=\"device\" name=\"something ran\"><failure message=\"nothing ran, which is no "
            "pass\"/></testcase>\n";
    }
    return text + "  </testsuite>\n";
}

}  // namespace

std::string report_junit(const Report& report) {
    std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    text += fmt::format("<testsuites name=\"headscope conform {}\">\n", escape_xml(report.version));
    for (const DeviceReport& device : report.devices) {
        text += suite(device, report.settings);
    }
    return text + "</testsuites>\n";
}

}  // namespace headscope::conformance
