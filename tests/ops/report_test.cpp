// Reports of a conformance run, for people and for programs.
#include "conformance/report.h"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "xml_flaw.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

using Catch::Matchers::Contains;

Result result(const std::string& op, const std::string& path, int runs) {
    return {.op = op,
            .family = "family",
            .group = "group",
            .says = "what holds",
            .precision = "f32",
            .path = path,
            .cases = runs / 2,
            .runs = runs,
            .seconds = 0.5,
            .closeness = {.of_bound = 0.25, .worst_relative = 1e-7, .nmse = 1e-14},
            .tolerance = {.element = 1e-6, .tensor = 1e-7, .reason = "12 u"}};
}

Report some_report() {
    Result missing = result("adam", "", 0);
    missing.level = SupportLevel::None;
    missing.shortfalls.insert({.level = SupportLevel::None, .dtype = "F16", .why = "it has none", .what = "adam"});
    Result composed = result("linear", "", 6);
    composed.level = SupportLevel::Composed;
    composed.shortfalls.insert(
        {.level = SupportLevel::Composed, .dtype = "F32", .why = "a product, then bias", .what = "linear"});
    Result fast = result("matmul", "", 4);
    fast.speeds.push_back({.shape = "slow", .seconds = 2.0, .amount = 4e9, .is_arithmetic = true});
    fast.speeds.push_back({.shape = "fast", .seconds = 1.0, .amount = 4e9, .is_arithmetic = true});
    DeviceReport device;
    device.date = "2026-11-22T13:40:06Z";
    device.device.id = "vulkan:0";
    device.device.name = "Card <1>";
    device.device.driver = "driver 2";
    device.device.limits = {{"subgroup size", "32"}};
    device.device.features = {{"16-bit storage", "no"}};
    device.results = {missing, composed, fast, result("matmul", "no-subgroups", 2)};
    Report report;
    report.version = "1.2";
    report.date = "2026-11-22T13:40:05Z";
    report.command = "headscope conform --quick";
    report.settings = {{"HEADSCOPE_VULKAN_VALIDATION", "1"}};
    report.devices.push_back(device);
    return report;
}

Report failing_report() {
    Report report = some_report();
    Result& broken = report.devices[0].results[3];
    broken.complaints = {"matmul: expected 1 < 2 & got \"3\"", "b", "c", "d"};
    broken.failed_runs = 2;  // two of them have several complaints
    broken.failed = {{.title = "matmul 3x3", .repeat = "headscope conform --case '3x3'", .kernels = {"tiles"}},
                     {.title = "matmul 5x5", .repeat = "headscope conform --case '5x5'"}};
    broken.closeness.of_bound = std::numeric_limits<double>::infinity();
    broken.closeness.worst_relative = std::numeric_limits<double>::infinity();
    return report;
}

}  // namespace

TEST_CASE("a report passes if something ran and nothing failed", "[report]") {
    CHECK(some_report().passed());
    CHECK_FALSE(failing_report().passed());
    CHECK(failing_report().devices[0].failures() == 1);
    CHECK_FALSE(Report{}.passed());
    Report idle = some_report();
    idle.devices[0].results.resize(1);  // only what is missing
    CHECK_FALSE(idle.passed());
    CHECK_THAT(report_junit(idle), Contains("failures=\"1\"") && Contains("nothing ran"));
    Report two = some_report();
    two.devices.push_back(failing_report().devices[0]);
    CHECK_FALSE(two.passed());
}

TEST_CASE("an incomplete run does not pass, and says so", "[report]") {
    Report cut = some_report();
    cut.devices[0].failure = "it is <gone>";
    CHECK_FALSE(cut.passed());
    CHECK_THAT(report_table(cut.devices[0]), Contains("FAILED  the rest was not tried\n    it is <gone>\n") &&
                                                 Contains("0 of 4 results failed, 0 s, not to the end"));
    CHECK(nlohmann::json::parse(report_json(cut).dump())["devices"][0]["failure"] == "it is <gone>");
    CHECK_THAT(report_junit(cut), Contains("tests=\"5\" failures=\"0\" errors=\"1\"") &&
                                      Contains("<error message=\"it is &lt;gone&gt;\"/>"));
    CHECK(xml_flaw(report_junit(cut)).empty());
    Report stopped = cut;
    stopped.devices[0].interrupted = true;
    CHECK_THAT(report_table(stopped.devices[0]), Contains("\nINTERRUPTED  the rest was not tried\n"));
    CHECK(nlohmann::json::parse(report_json(stopped).dump())["interrupted"] == true);
    CHECK(nlohmann::json::parse(report_json(cut).dump())["interrupted"] == false);
    cut.devices[0].results.clear();  // one thing is wrong, not two
    CHECK_THAT(report_junit(cut), Contains("tests=\"1\" failures=\"0\" errors=\"1\""));
}

TEST_CASE("the table has a line for each op, precision and path, the fastest speed, and what is not native",
          "[report]") {
    const std::string text = report_table(some_report().devices[0]);
    CHECK_THAT(text, Contains("vulkan:0  Card <1>") && Contains("driver 2") && Contains("subgroup size 32") &&
                         Contains("16-bit storage no"));
    CHECK_THAT(text, Contains("as it chooses") && Contains("no-subgroups") && Contains("passed, composed") &&
                         Contains("4 GFLOP/s"));
    CHECK_THAT(text, Contains("composed in F32  linear: a product, then bias") &&
                         Contains("missing  in F16  adam: it has none"));
    CHECK_THAT(text, !Contains("FAILED") && !Contains("timed"));
    CHECK_THAT(text, Contains("vulkan:0: 12 runs, 0 of 4 results failed"));
    DeviceReport timed = some_report().devices[0];
    timed.results[2].runs = 0;
    CHECK_THAT(report_table(timed), Contains("timed            4 GFLOP/s\n"));
}

TEST_CASE("a kernel that was timed but never compared with the oracle is reported", "[report]") {
    Report report = some_report();
    std::vector<Result>& results = report.devices[0].results;
    results[1].kernels = {"tiles of 8"};
    results[2].runs = 0;
    results[2].kernels = {"tiles of 8", "tiles of 64"};
    CHECK(report.devices[0].unproven() == std::set<std::string>{"tiles of 64"});
    CHECK_THAT(report_table(report.devices[0]), Contains("Timed, but in no case of this run: 1 kernel (the JSON"));
    CHECK(report_json(report)["devices"][0]["unproven_kernels"] == nlohmann::json::array({"tiles of 64"}));
    results[3].kernels = {"tiles of 64"};
    CHECK(report.devices[0].unproven().empty());
    CHECK_THAT(report_table(report.devices[0]), !Contains("no case of this run"));
}

TEST_CASE("the table shows the first complaints of a failure, and their number", "[report]") {
    const std::string text = report_table(failing_report().devices[0]);
    CHECK_THAT(text, Contains("1.0e-14   wrong   wrong  FAILED 2\n") &&
                         Contains("FAILED  matmul in f32, what holds (group, no-subgroups)") &&
                         Contains("    matmul: expected 1 < 2 & got \"3\"\n    b\n    c\n    and 1 more\n    again: "
                                  "headscope conform --case '3x3'\n"));
    CHECK_THAT(text, Contains("1 of 4 results failed"));
    Report other = some_report();
    other.devices[0].results[2].complaints = {"it overheats while it is timed"};
    CHECK_THAT(report_table(other.devices[0]), Contains("FAILED           4 GFLOP/s"));
    other.devices[0].results = {other.devices[0].results[2]};
    CHECK_THAT(report_table(other.devices[0]), Contains("1 of 1 result failed"));
}

TEST_CASE("the JSON has everything, and is valid JSON with infinite numbers", "[report]") {
    const nlohmann::json json = nlohmann::json::parse(report_json(failing_report()).dump());
    CHECK(json["headscope"] == "1.2");
    CHECK(json["scope"] == "full");
    CHECK(json["passed"] == false);
    const nlohmann::json& device = json["devices"][0];
    CHECK(device["limits"]["subgroup size"] == "32");
    CHECK(device["failed"] == 1);
    const nlohmann::json& missing = device["results"][0];
    CHECK(missing["level"] == "none");
    CHECK(missing["not_native"][0] == "adam in F16 is missing: it has none");
    CHECK_FALSE(missing.contains("nmse"));
    const nlohmann::json& fast = device["results"][2];
    CHECK(fast["path"] == "chosen");
    CHECK(fast["nmse"] == 1e-14);
    CHECK(fast["worst_relative_error"] == 1e-7);
    CHECK(fast["tolerance"]["reason"] == "12 u");
    CHECK(fast["speed"][1]["rate"] == 4.0);
    CHECK(device["results"][3]["complaints"].size() == 4);
    CHECK(fast["beyond_any_tolerance"] == false);
    CHECK(fast["seconds"] == 0.5);
    const nlohmann::json& broken = device["results"][3];
    CHECK(broken["share_of_tolerance"].is_null());
    CHECK(broken["worst_relative_error"].is_null());
    CHECK(broken["beyond_any_tolerance"] == true);
    CHECK(broken["passed"] == false);
    CHECK(broken["failed_runs"] == 2);
    CHECK(broken["failed_cases"].size() == 2);
    CHECK(broken["failed_cases"][0]["case"] == "matmul 3x3");
    CHECK(broken["failed_cases"][0]["repeat"] == "headscope conform --case '3x3'");
    CHECK(broken["failed_cases"][0]["kernels"] == std::vector<std::string>{"tiles"});
}

TEST_CASE("a report has its time, command and settings", "[report]") {
    const nlohmann::json json = nlohmann::json::parse(report_json(some_report()).dump());
    CHECK(json["date"] == "2026-11-22T13:40:05Z");
    CHECK(json["command"] == "headscope conform --quick");
    CHECK(json["settings"]["HEADSCOPE_VULKAN_VALIDATION"] == "1");
    CHECK_THAT(report_table(some_report().devices[0], some_report().settings),
               Contains("    settings  HEADSCOPE_VULKAN_VALIDATION=1\n"));
    CHECK_THAT(report_table(some_report().devices[0]), !Contains("settings"));
    CHECK_THAT(report_junit(some_report()),
               Contains("<property name=\"setting: HEADSCOPE_VULKAN_VALIDATION\" value=\"1\"/>") &&
                   Contains(" timestamp=\"2026-11-22T13:40:06\""));
}

TEST_CASE("a report has the settings that change what runs", "[report]") {
    const headscope::Settings settings(
        {{"HOME", "/root"}, {"VK_DRIVER_FILES", "a.json"}, {"LP_NATIVE_VECTOR_WIDTH", "128"}, {"HEADSCOPE_X", "a=b"}});
    CHECK(settings_of(settings) ==
          RunSettings{{"HEADSCOPE_X", "a=b"}, {"LP_NATIVE_VECTOR_WIDTH", "128"}, {"VK_DRIVER_FILES", "a.json"}});
    CHECK(settings_of({}).empty());
}

TEST_CASE("the table has the allowed errors, with the reason", "[report]") {
    Report report = some_report();
    report.devices[0].results[3].tolerance = {.element = 2e-6, .tensor = 1e-7, .reason = "of longer sums"};
    const std::string text = report_table(report.devices[0]);
    CHECK_THAT(
        text,
        Contains("\nAllowed at most, of what WORST is measured against:\n    f32           2.0e-06  of longer sums\n"));
    CHECK_THAT(text, !Contains("12 u"));
}

TEST_CASE("JUnit's XML has a suite for each device and a test for each result", "[report]") {
    const std::string xml = report_junit(failing_report());
    CHECK_THAT(xml, Contains("<testsuite name=\"vulkan:0 Card &lt;1&gt;\" tests=\"4\" failures=\"1\" errors=\"0\" "
                             "skipped=\"1\""));
    CHECK_THAT(xml, Contains("<testcase classname=\"family.adam\" name=\"f32, group, chosen\" time=\"0.500\"><skipped "
                             "message=\"adam in F16 is missing: it has none\"/></testcase>"));
    CHECK_THAT(
        xml, Contains("<testcase classname=\"family.matmul\" name=\"f32, group, no-subgroups\" time=\"0.500\"><failure "
                      "message=\"matmul: expected 1 &lt; 2 &amp; got &quot;3&quot;\">"));
    CHECK_THAT(xml, Contains("<property name=\"limit: subgroup size\" value=\"32\"/>"));
    CHECK_THAT(xml, Contains("\nd\nagain: headscope conform --case &#39;3x3&#39;\nagain: "));
    CHECK_THAT(xml, Contains("<system-out>cases 2, runs 4, failed runs 0\nnmse 1e-14\nworst relative error 1e-07\n"
                             "share of tolerance 0.25\ntolerance 1e-06 of an element, 1e-07 of all: 12 u\n"
                             "speed 2 GFLOP/s of slow\nspeed 4 GFLOP/s of fast\n</system-out></testcase>"));
    CHECK_THAT(xml, Contains("share of tolerance inf"));
}

TEST_CASE("JUnit's XML is valid with any name or complaint", "[report]") {
    Report nasty = failing_report();
    nasty.devices[0].device.driver = "<driver> & \"co\"";
    nasty.devices[0].results[3].complaints = {"]]> </failure> \x01 \xff & <a b='c'>"};
    CHECK(xml_flaw(report_junit(nasty)).empty());
    CHECK(xml_flaw(report_junit(some_report())).empty());
    CHECK(xml_flaw("<a b=\"c\"><d/>text &amp; text</a>\n").empty());
    for (const char* broken : {"<a><b></a></b>", "<a>", "</a>", "<a b=c/>", "<a b=\"<\"/>", "<a>&</a>", "<a/><b/>",
                               "text", "<a b=\"1\" b=\"2\"/>", ""}) {
        INFO(broken);
        CHECK_FALSE(xml_flaw(broken).empty());
    }
}
