// The report as JUnit's XML.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/report.h"
#include "drawing/svg.h"

namespace headscope::conformance {

namespace {

bool is_skipped(const Result& result) {
    return result.missing() && result.passed() && result.runs == 0;
}

std::string test_case(const Result& result) {
    const std::string path = result.path.empty() ? "chosen" : result.path;
    std::string text =
        fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escape_xml(result.family + "." + result.op),
                    escape_xml(fmt::format("{}, {}, {}", result.precision, result.group, path)));
    if (is_skipped(result)) {
        std::string why;
        for (const Shortfall& each : result.shortfalls) {
            why += (why.empty() ? "" : "; ") + each.text();
        }
        for (const auto& [reason, count] : result.skipped) {
            why += fmt::format("{}{} {}", why.empty() ? "" : "; ", count, reason);
        }
        return text + fmt::format("><skipped message=\"{}\"/></testcase>\n", escape_xml(why));
    }
    if (result.passed()) {
        return text + "/>\n";
    }
    return text + fmt::format("><failure message=\"{}\">{}</failure></testcase>\n",
                              escape_xml(result.complaints.front()),
                              escape_xml(fmt::format("{}", fmt::join(result.complaints, "\n"))));
}

std::string property(const std::string& name, const std::string& value) {
    return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escape_xml(name), escape_xml(value));
}

std::string suite(const DeviceReport& report) {
    const std::size_t cut = report.failure.empty() ? 0 : 1;
    const std::size_t nothing = report.runs() == 0 && cut == 0 ? 1 : 0;
    const auto skipped = std::count_if(report.results.begin(), report.results.end(), is_skipped);
    std::string text = fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n"
        "    <properties>\n",
        escape_xml(report.device.id + " " + report.device.name), report.results.size() + nothing + cut,
        report.failures() + nothing, cut, skipped, report.seconds);
    text += property("driver", report.device.driver);
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
        text += suite(device);
    }
    return text + "</testsuites>\n";
}

}  // namespace headscope::conformance
