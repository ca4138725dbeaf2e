#include "support/diagnostics.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace headscope;

TEST_CASE("a text is reported once, from any thread", "[diagnostics]") {
    std::vector<std::string> seen;
    const Diagnostics diagnostics([&](Severity severity, const std::string& text) {
        seen.push_back((severity == Severity::Warning ? "warning: " : "note: ") + text);
    });
    const auto report = [copy = diagnostics] {
        for (int i = 0; i < 100; ++i) {
            copy.warn("slow");
        }
    };
    std::thread other(report);
    report();
    other.join();
    diagnostics.report(Severity::Note, "fast");
    CHECK(seen == std::vector<std::string>{"warning: slow", "note: fast"});
}

TEST_CASE("without a sink reports are discarded", "[diagnostics]") {
    CHECK_NOTHROW(Diagnostics().warn("slow"));
}
