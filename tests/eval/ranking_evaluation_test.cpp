#include "eval/ranking_evaluation.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace headscope;

TEST_CASE("scores are right where they order a pair as people did, by the distance of the ranks", "[ranking]") {
    RankingEvaluation evaluation;
    evaluation.add({3.0, 1.0, 2.0}, {1, 2, 3});  // right, right, and wrong for ranks 2 and 3
    evaluation.add({0.5, 0.5, 0.0}, {1, 2, 2});  // half of a tie is right; equal ranks give no pair
    CHECK(evaluation.prompts == 2);
    CHECK(evaluation.choices.tokens() == 5);
    CHECK(evaluation.by_distance.at(1).pairs == 4);
    CHECK(evaluation.by_distance.at(1).right == 2.5);
    CHECK(evaluation.by_distance.at(2).accuracy() == 1.0);
    CHECK(evaluation.choices.accuracy() == Approx(3.0 / 5.0));
    CHECK(evaluation.accuracy() == Approx(3.5 / 5.0));
    const auto loss = [](double margin) { return std::log1p(std::exp(-margin)); };
    CHECK(evaluation.choices.nll() == Approx((loss(2.0) + loss(1.0) + loss(-1.0) + loss(0.0) + loss(0.5)) / 5.0));
}

TEST_CASE("scores that are far apart give a finite loss", "[ranking]") {
    RankingEvaluation evaluation;
    evaluation.add({-2000.0, 2000.0}, {1, 2});
    CHECK(evaluation.choices.nll() == Approx(4000.0));
}
