#include "train/report_table.h"

#include <catch2/catch.hpp>

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

Report report_of(std::int64_t step, double minutes_left) {
    Report report{.step = step, .epoch = 1.5, .learning_rate = 3e-4, .minutes_left = minutes_left, .totals = {}};
    report.totals.loss = 20.0;
    report.totals.nll = 10.0;
    report.totals.target_tokens = 5;
    report.totals.divisor = 5.0;
    report.totals.all_tokens = 90;
    report.totals.seconds = 3.0;
    return report;
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        ++found;
    }
    return found;
}

}  // namespace

TEST_CASE("a report replaces the previous one unless another line was printed between them", "[table]") {
    std::string shown;
    ReportTable table([&](std::string_view text) { shown += text; });
    table.say("hello");
    CHECK(shown == "hello\n");
    table.report(report_of(10, 12.0));
    table.report(report_of(20, -1.0));
    table.say("a checkpoint");
    table.report(report_of(30, 1.0));
    table.finish();
    table.finish();
    CHECK(count(shown, "tokens/s") == 1);
    CHECK(count(shown, "\r\x1b[K") == 1);
    CHECK_THAT(shown, Contains("       10     1.50   4.0000   2.0000       7.39        30  3.00e-04"));
    CHECK_THAT(shown, Contains("   12 min\r\x1b[K       20 ") && Contains("        ?\na checkpoint\n       30 ") &&
                          Catch::Matchers::EndsWith("     60 s\n"));
}

TEST_CASE("the table's head is repeated when it has scrolled away", "[table]") {
    std::string shown;
    ReportTable table([&](std::string_view text) { shown += text; });
    for (int i = 0; i < 30; ++i) {
        table.report(report_of(i, 1.0));
        table.say("said");
    }
    CHECK(count(shown, "tokens/s") == 3);
}

TEST_CASE("the first measure of the table stands in the place of the perplexity", "[table]") {
    const auto shown_with = [](const Measures& measures) {
        std::string shown;
        ReportTable table([&](std::string_view text) { shown += text; });
        Report report = report_of(10, 1.0);
        report.totals.measures = measures;
        table.report(report);
        return shown;
    };
    CHECK_THAT(shown_with({{"accuracy", 3.0}, {"margin", 5.0}, {"better_reward", 1.0}}),
               Contains("  accuracy") && Contains("0.60") && !Contains("perplexity"));
    CHECK_THAT(shown_with({{"clipped", 5.0}, {"kl", 5.0}, {"reward", 10.0}}),
               Contains("    reward") && Contains("      2.00        30"));
    CHECK_THAT(shown_with({{"mood", 5.0}}), Contains("      mood"));
}
