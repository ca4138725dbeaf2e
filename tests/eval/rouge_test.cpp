// ROUGE against the package rouge-score (tests/golden/make_rouge_vectors.py).
#include "eval/rouge.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "eval/porter_stemmer.h"
#include "io/whole_file.h"
#include "support/check.h"
#include "tests/house/files.h"

using namespace headscope;
using Lines = std::vector<std::string>;

namespace {

const nlohmann::json& rouge_vectors() {
    static const nlohmann::json vectors = [] {
        const std::string file = checkout_file("tests/golden/rouge.json");
        return nlohmann::json::parse(read_whole_file(file, file));
    }();
    return vectors;
}

void check_mean(const RougeMean& found, const nlohmann::json& expected) {
    CHECK(found.precision == Approx(100.0 * expected[0].get<double>()).epsilon(1e-12));
    CHECK(found.recall == Approx(100.0 * expected[1].get<double>()).epsilon(1e-12));
    CHECK(found.f1 == Approx(100.0 * expected[2].get<double>()).epsilon(1e-12));
}

void check_scores(const RougeScore& found, const nlohmann::json& expected) {
    check_mean(found.one, expected[0]);
    check_mean(found.two, expected[1]);
    check_mean(found.longest, expected[2]);
}

}  // namespace

TEST_CASE("ROUGE of single lines equals rouge-score's, with and without stems", "[rouge]") {
    const nlohmann::json& pairs = rouge_vectors()["pairs"];
    REQUIRE(pairs.size() >= 50);
    for (const bool stemmed : {false, true}) {
        const nlohmann::json& scores = rouge_vectors()[stemmed ? "stemmed" : "plain"];
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            INFO(pairs[i] << (stemmed ? " stemmed" : ""));
            const auto reference = [&](std::size_t of) { return Lines{pairs[of][1].get<std::string>()}; };
            check_scores(corpus_rouge({pairs[i][0]}, {reference(i)}, stemmed), scores["scores"][i]);
            if (i + 1 < pairs.size()) {
                check_scores(corpus_rouge({pairs[i][0]}, {reference(i), reference(i + 1)}, stemmed),
                             scores["best_of_two"][i]);
            }
        }
    }
}

TEST_CASE("ROUGE of a corpus is the mean over its lines", "[rouge]") {
    const RougeScore both = corpus_rouge({"a b", ""}, {Lines{"a c", "d"}});
    CHECK(both.one.f1 == Approx(25.0));
    CHECK(both.two.f1 == 0.0);
    CHECK(both.longest.recall == Approx(25.0));
    CHECK(corpus_rouge({}, {Lines{}}).one.f1 == 0.0);
    CHECK(both.signature() == "nrefs:1|stem:no");
    CHECK(corpus_rouge({"a"}, {Lines{"a"}, Lines{"b"}}, true).signature() == "nrefs:2|stem:porter");
    CHECK(both.to_string() == "ROUGE-1 = 25.00 ROUGE-2 = 0.00 ROUGE-L = 25.00 (F1)");
    CHECK_THROWS_AS(corpus_rouge({"a"}, {Lines{"a", "b"}}), Error);
}

TEST_CASE("stems equal NLTK's", "[rouge]") {
    for (const auto& [word, stem] : rouge_vectors()["stems"].items()) {
        INFO(word);
        CHECK(porter_stem(word) == stem.get<std::string>());
    }
}
