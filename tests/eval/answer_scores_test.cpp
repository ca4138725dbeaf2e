// Answers against torchmetrics, whose rules are those of SQuAD's script (tests/golden/make_answer_scores.py).
#include "eval/answer_scores.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "io/strict_json.h"
#include "tests/house/files.h"

using namespace headscope;

TEST_CASE("answers have the scores of SQuAD's script", "[answer_scores]") {
    AnswerScores all;
    double exact = 0.0, f1 = 0.0;
    const nlohmann::json vectors = read_json_file(checkout_file("tests/golden/answer_scores.json"));
    for (const nlohmann::json& of : vectors) {
        const auto found = of.at("found").get<std::string>();
        CAPTURE(found);
        CHECK(normalised_answer(found) == of.at("normalised").get<std::string>());
        AnswerScores one;
        const auto wanted = of.at("wanted").get<std::vector<std::string>>();
        one.add(found, wanted);
        CHECK(one.exact_match() == Approx(of.at("exact_match").get<double>()));
        CHECK(one.f1() == Approx(of.at("f1").get<double>()));
        all.add(found, wanted);
        exact += of["exact_match"].get<double>();
        f1 += of["f1"].get<double>();
    }
    CHECK(all.exact_match() == Approx(exact / static_cast<double>(all.answers)));
    CHECK(all.f1() == Approx(f1 / static_cast<double>(all.answers)));
}
