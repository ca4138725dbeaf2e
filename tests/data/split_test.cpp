#include "data/split.h"

#include <catch2/catch.hpp>
#include <set>

#include "support/check.h"

using namespace headscope;

namespace {

std::vector<SentencePair> sample() {
    std::vector<SentencePair> pairs;
    for (int i = 0; i < 200; ++i) {
        pairs.push_back({"Sentence " + std::to_string(i) + ".", "Satz " + std::to_string(i)});
        pairs.push_back({"sentence  " + std::to_string(i) + "!", "Noch ein Satz " + std::to_string(i)});
    }
    return pairs;
}

}  // namespace

TEST_CASE("normalised sources differ in words alone", "[split]") {
    CHECK(normalised_source("Don't  go!") == "don t go");
    CHECK(normalised_source("  \u201cDon\u2019t go\u2026\u201d ") == "don t go");
    CHECK(normalised_source("Z\u00fcrich\u00a01") == "z\u00fcrich 1");
    CHECK(normalised_source("5\u20ac") == "5\u20ac");  // U+20AC is no punctuation
    CHECK(normalised_source("...").empty());
    CHECK(normalised_source("\u00c4pfel sind rot.") == normalised_source("\u00e4pfel sind rot"));
}

TEST_CASE("what is held out shares no normalised source with the training part", "[split]") {
    const auto pairs = sample();
    const Split split = split_pairs(pairs, 20, 30, 7);
    CHECK(split.valid.size() == 20);
    CHECK(split.test.size() == 30);
    CHECK(split.train.size() == 2 * (200 - 50));
    std::set<std::string> trained, held_out;
    for (const SentencePair& pair : split.train) {
        trained.insert(normalised_source(pair.source));
    }
    for (const auto* part : {&split.valid, &split.test}) {
        for (const SentencePair& pair : *part) {
            CHECK_FALSE(trained.contains(normalised_source(pair.source)));
            CHECK(held_out.insert(normalised_source(pair.source)).second);
        }
    }
}

TEST_CASE("a split is the same for the same seed", "[split]") {
    const auto pairs = sample();
    const Split split = split_pairs(pairs, 20, 30, 7);
    CHECK(split_pairs(pairs, 20, 30, 7).test == split.test);
    CHECK(split_pairs(pairs, 20, 30, 8).test != split.test);
    CHECK_THROWS_AS(split_pairs(pairs, 100, 100, 7), Error);
}

TEST_CASE("lines of source TAB target", "[split]") {
    const auto pairs = parse_tsv({"Hi.\tHallo!\r", "", "Go.\tGeh.\tCC-BY 2.0", "\tleer"}, "deu.txt");
    REQUIRE(pairs.size() == 2);
    CHECK(pairs[0] == SentencePair{"Hi.", "Hallo!"});
    CHECK(pairs[1] == SentencePair{"Go.", "Geh."});
    CHECK_THROWS_WITH(parse_tsv({"Hi.\tHallo!", "no tab"}, "deu.txt"), Catch::Matchers::Contains("deu.txt:2"));
}
