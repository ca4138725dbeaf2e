// Gradients of stacks with and without residual connections.
#include <memory>

#include <catch2/catch.hpp>

#include "experiment/chosen_by_name.h"
#include "experiment/stack_gradient.h"
#include "registry/registry.h"

using namespace headscope;

// Norms keep the gradient's size, but positions become alike (Dong et al., 2021).
TEST_CASE("without residual connections positions become alike in a deep stack", "[residuals]") {
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const StackSizes sizes{.length = 8, .width = 32, .seeds = 2};
    const auto measured = [&](const char* kind, int layers) {
        return measure_stack(*backend, *chosen_by_name(stack_kinds(), {kind}, "stack").front(), layers, sizes);
    };
    for (const char* placement : {"post-norm", "pre-norm"}) {
        CAPTURE(placement);
        const StackGradient with = measured(placement, 12);
        const StackGradient without = measured((std::string(placement) + "-off").c_str(), 12);
        CHECK(without.difference < 0.01 * with.difference);
        CHECK(without.gradient_difference < 0.5 * with.gradient_difference);
        CHECK(without.gradient > 0.1);
        CHECK(with.gradient > 0.1);
    }
}

TEST_CASE("the report has a row of each stack and a column of each depth", "[residuals]") {
    const StackKind& first = stack_kinds().front();
    const StudyReport report = report_of({{&first, 2, 0.5, 1.0, 0.5}, {&first, 4, 2e-7, 0.25, 0.125}}, "cpu (test)");
    CHECK(report.tables.at(0).head == std::vector<std::string>{"gradient at the input", "N = 2", "N = 4"});
    CHECK(report.tables.at(0).rows.at(0) == std::vector<std::string>{"Post-norm", "0.50", "2e-07"});
    CHECK(report.tables.at(1).rows.at(0) == std::vector<std::string>{"Post-norm", "1.00", "0.25"});
    CHECK(report.tables.at(2).rows.at(0).back() == "0.12");
    CHECK(report.json.at("results")[1].at("layers") == 4);
    CHECK(report.pictures.size() == 1);
}
