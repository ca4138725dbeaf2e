// Scores of classes and numbers against scikit-learn and SciPy (tests/golden/make_classification_scores.py).
#include "eval/class_evaluation.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/strict_json.h"
#include "support/check.h"
#include "tests/house/files.h"

using namespace headscope;
using nlohmann::json;

namespace {

json vectors() {
    return read_json_file(checkout_file("tests/golden/classification_scores.json"));
}

}  // namespace

TEST_CASE("classes have the scores of scikit-learn", "[classes]") {
    const json all = vectors();
    for (const json& of : all.at("classes")) {
        const auto rows = of.at("probabilities").get<std::vector<std::vector<double>>>();
        const auto labels = of.at("labels").get<std::vector<std::size_t>>();
        ClassEvaluation found(rows.front().size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            found.add(rows[i], labels[i]);
        }
        CHECK(found.texts() == std::ssize(rows));
        CHECK(found.accuracy() == Approx(of.at("accuracy").get<double>()));
        CHECK(found.macro_f1() == Approx(of.at("macro_f1").get<double>()));
        CHECK(found.choices().nll() == Approx(of.at("nll").get<double>()));
        CHECK(found.choices().expected_calibration_error() == Approx(of.at("calibration_error").get<double>()));
        CHECK(json(found.confusion()) == of.at("confusion"));
        for (std::size_t label = 0; label < rows.front().size(); ++label) {
            const ClassEvaluation::OfClass one = found.of_class(label);
            CHECK(one.texts == of.at("texts")[label].get<std::int64_t>());
            CHECK(one.precision == Approx(of.at("precision")[label].get<double>()));
            CHECK(one.recall == Approx(of.at("recall")[label].get<double>()));
            CHECK(one.f1 == Approx(of.at("f1")[label].get<double>()));
        }
    }
}

TEST_CASE("lists of classes have the scores of scikit-learn", "[classes]") {
    const json all = vectors();
    for (const json& of : all.at("lists")) {
        const auto scores = of.at("scores").get<std::vector<std::vector<double>>>();
        const auto wanted = of.at("wanted").get<std::vector<std::vector<float>>>();
        LabelsEvaluation found(scores.front().size());
        for (std::size_t i = 0; i < scores.size(); ++i) {
            found.add(scores[i], wanted[i]);
        }
        CHECK(found.texts() == std::ssize(scores));
        CHECK(found.exact_match() == Approx(of.at("exact_match").get<double>()));
        CHECK(found.micro_f1() == Approx(of.at("micro_f1").get<double>()));
        CHECK(found.macro_f1() == Approx(of.at("macro_f1").get<double>()));
        CHECK(found.nll() == Approx(of.at("nll").get<double>()));
        for (std::size_t label = 0; label < scores.front().size(); ++label) {
            const ClassEvaluation::OfClass one = found.of_class(label);
            CHECK(one.texts == of.at("texts")[label].get<std::int64_t>());
            CHECK(one.precision == Approx(of.at("precision")[label].get<double>()));
            CHECK(one.recall == Approx(of.at("recall")[label].get<double>()));
            CHECK(one.f1 == Approx(of.at("f1")[label].get<double>()));
        }
    }
    LabelsEvaluation damaged(1);
    CHECK_THROWS_AS(damaged.add({std::nan("")}, {1.0F}), Error);
}

TEST_CASE("numbers have the scores of scikit-learn and SciPy", "[classes]") {
    const json all = vectors();
    for (const json& of : all.at("numbers")) {
        NumberEvaluation found;
        for (std::size_t i = 0; i < of.at("found").size(); ++i) {
            found.add(of["found"][i].get<double>(), of["wanted"][i].get<double>());
        }
        CHECK(found.mean_squared_error() == Approx(of.at("mse").get<double>()));
        CHECK(found.pearson().value() == Approx(of.at("pearson").get<double>()));
        CHECK(found.spearman().value() == Approx(of.at("spearman").get<double>()));
    }
}

TEST_CASE("equal numbers have no correlation, and NaN is an error", "[classes]") {
    NumberEvaluation equal;
    equal.add(1.0, 2.0);
    equal.add(1.0, 3.0);
    CHECK(equal.mean_squared_error() == Approx(2.5));
    CHECK_FALSE(equal.pearson().has_value());
    CHECK_FALSE(equal.spearman().has_value());
    ClassEvaluation broken(2);
    CHECK_THROWS_AS(broken.add({std::nan(""), 1.0}, 0), Error);
}
