// The cost of a training as the paper estimates it.
#include "eval/training_cost.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <string>

using namespace headscope;

TEST_CASE("the paper's estimate of its trainings is the cost in its Table 2", "[cost]") {
    // 12 hours, and 3.5 days, on 8 P100 of 9.5 TFLOPS.
    CHECK(kPaperBase.flops() == Approx(12.0 * 3600.0 * 8.0 * 9.5e12));
    for (const PaperTraining& training : {kPaperBase, kPaperBig}) {
        const auto row = std::find_if(kPaperTable2.begin(), kPaperTable2.end(),
                                      [&](const PaperResult& one) { return one.model == std::string(training.model); });
        REQUIRE(row != kPaperTable2.end());
        CHECK(flops_text(training.flops()) == flops_text(*row->flops_en_de));
        CHECK(row->flops_en_fr == row->flops_en_de);
        // 5.2: steps of 0.4 or 1.0 seconds.
        CHECK(training.steps * training.seconds_per_step == Approx(training.hours * 3600.0).epsilon(0.08));
    }
    CHECK(estimated_flops(10.0, 2.0, kPaperDevices[0].flops_per_second) == 5.6e13);  // K80
}

TEST_CASE("the paper's models are the best single ones of Table 2 in German", "[cost]") {
    for (const PaperResult& row : kPaperTable2) {
        INFO(row.model);
        CHECK((row.bleu_en_de || row.bleu_en_fr));
        CHECK((!row.bleu_en_de || row.bleu_en_de <= 28.4));
        CHECK((!row.bleu_en_fr || row.bleu_en_fr <= 41.8));
    }
}

TEST_CASE("large numbers are written as in the paper", "[cost]") {
    CHECK(flops_text(3.28e18) == "3.3e18");
    CHECK(flops_text(9.96e9) == "1.0e10");
    CHECK(flops_text(0.0) == "0.0e0");
    CHECK(flops_text(std::numeric_limits<double>::infinity()) == "inf");
}
