#include "data/hold_out.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data/pair_filter.h"
#include "support/check.h"
#include "tests/io/temporary_folder.h"
#include "tests/text/empty_texts.h"
#include "text/normalised.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Every source occurs in two spellings; every fifth pair's target is also that of the next.
Pairs sample() {
    Pairs pairs;
    for (int i = 0; i < 200; ++i) {
        const int said = i % 5 == 1 ? i - 1 : i;
        pairs.emplace_back("Sentence " + std::to_string(i) + ".", "Satz " + std::to_string(said));
        pairs.emplace_back("sentence  " + std::to_string(i) + "!", "Noch ein Satz " + std::to_string(i));
    }
    return pairs;
}

std::vector<Part> parts_of(const Pairs& pairs, const HoldOutSizes& sizes, const Pairs& excluded = {}) {
    HoldOut hold_out;
    for (const auto& [source, target] : excluded) {
        hold_out.exclude(source, target);
    }
    for (const auto& [source, target] : pairs) {
        hold_out.add(source, target);
    }
    hold_out.choose(sizes);
    std::vector<Part> parts;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        parts.push_back(hold_out.part_of(i));
    }
    return parts;
}

std::size_t count(const std::vector<Part>& parts, Part part) {
    return static_cast<std::size_t>(std::count(parts.begin(), parts.end(), part));
}

}  // namespace

TEST_CASE("no training pair shares a side with a held-out one", "[hold_out]") {
    const bool last = GENERATE(false, true);
    const Pairs pairs = sample();
    const std::vector<Part> parts = parts_of(pairs, {.valid = 20, .test = 30, .last = last, .seed = 7});
    CHECK(count(parts, Part::Test) == 30);
    CHECK(count(parts, Part::Valid) <= 20);
    CHECK(count(parts, Part::Valid) > 10);
    CHECK(count(parts, Part::Train) > 200);
    std::set<std::string> sources;
    std::set<std::string> targets;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (parts[i] == Part::Test || parts[i] == Part::Valid) {
            sources.insert(normalised_text(pairs[i].first));
            targets.insert(normalised_text(pairs[i].second));
        }
    }
    std::size_t by_source = 0;
    std::size_t by_target = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const bool source = sources.contains(normalised_text(pairs[i].first));
        const bool target = targets.contains(normalised_text(pairs[i].second));
        CHECK_FALSE((parts[i] == Part::Train && (source || target)));
        by_source += parts[i] == Part::Shared && source ? 1 : 0;
        by_target += parts[i] == Part::Shared && target && !source ? 1 : 0;
    }
    CHECK((last || by_source > 0));
    CHECK((last || by_target > 0));
}

TEST_CASE("the last pairs are held out on request", "[hold_out]") {
    const std::vector<Part> parts = parts_of(sample(), {.valid = 20, .test = 30, .last = true});
    for (std::size_t i = 350; i < 400; ++i) {
        CHECK(parts[i] == (i < 370 ? Part::Valid : Part::Test));
    }
}

TEST_CASE("validation and test share no side either", "[hold_out]") {
    Pairs pairs;
    for (int i = 0; i < 300; ++i) {
        pairs.emplace_back("source " + std::to_string(i), "target " + std::to_string(i / 3));
    }
    const std::vector<Part> parts = parts_of(pairs, {.valid = 50, .test = 50, .seed = 3});
    std::set<std::string> of_test;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (parts[i] == Part::Test) {
            of_test.insert(pairs[i].second);
        }
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        CHECK_FALSE((parts[i] == Part::Valid && of_test.contains(pairs[i].second)));
    }
    CHECK(count(parts, Part::Valid) > 10);
    CHECK(count(parts, Part::Valid) < 50);
}

TEST_CASE("excluded pairs are not trained on", "[hold_out]") {
    const std::vector<Part> parts =
        parts_of(sample(), {}, {{"SENTENCE 3", "anything"}, {"anything else", "noch ein satz 9!"}});
    CHECK(count(parts, Part::Shared) == 3);
    CHECK(parts[6] == Part::Shared);
    CHECK(parts[7] == Part::Shared);
    CHECK(parts[19] == Part::Shared);
    CHECK(count(parts, Part::Train) == 397);
}

TEST_CASE("variants of held-out text are found as shared", "[hold_out]") {
    const char* twin = GENERATE("\u00abDer Wei\u00dfe B\u00e4r f\u00e4hrt\u00bb",
                                "Der\u3001Wei\u00dfe\u3002B\u00e4r\u300cf\u00e4hrt\u300d",
                                "\u00bfDer Wei\u00dfe B\u00e4r f\u00e4hrt?", "Der Wei\u00dfe Ba\u0308r fa\u0308hrt",
                                "DER WEISSE B\u00c4R F\u00c4HRT", "\uff24\uff45\uff52 Wei\u00dfe B\u00e4r f\u00e4hrt",
                                "\ufeffDer Wei\u00ad\u00dfe B\u00e4r\u2028f\u00e4hrt\u200b");
    const std::vector<Part> parts =
        parts_of({{twin, "a"}, {"b", twin}, {"c", "d"}}, {},
                 {{"Der Wei\u00dfe B\u00e4r f\u00e4hrt.", "Der Wei\u00dfe B\u00e4r f\u00e4hrt."}});
    INFO(twin);
    CHECK(parts == std::vector<Part>{Part::Shared, Part::Shared, Part::Train});
}

TEST_CASE("variants of held-out text are found as shared in scripts without spaces", "[hold_out]") {
    Pairs plain;
    Pairs marked;
    for (int i = 0; i < 200; ++i) {
        const std::string number = std::to_string(i);
        plain.emplace_back("\u7b2c" + number + "\u53e5\u4f60\u597d\u4e16\u754c", "Hallo Welt " + number);
        marked.emplace_back("\u7b2c" + number + "\u53e5\uff1a\u4f60\u597d\uff0c\u4e16\u754c\u3002", "Anders " + number);
    }
    Pairs both = plain;
    both.insert(both.end(), marked.begin(), marked.end());
    const std::vector<Part> parts = parts_of(both, {.valid = 20, .test = 20});
    CHECK(count(parts, Part::Valid) + count(parts, Part::Test) == 40);
    CHECK(count(parts, Part::Shared) == 40);
    CHECK(count(parts_of(marked, {}, plain), Part::Shared) == 200);
}

TEST_CASE("text without words is only shared with equal text", "[hold_out]") {
    const Pairs pairs{{"?!", "a"}, {"\u2026", "b"}, {"-", "..."}, {"-", "\u20ac"}};
    CHECK(parts_of(pairs, {}, {{"...", "! !"}}) ==
          std::vector<Part>{Part::Train, Part::Shared, Part::Train, Part::Train});
    CHECK(parts_of(pairs, {}, {{"", "..."}}) == std::vector<Part>{Part::Train, Part::Train, Part::Shared, Part::Train});
}

TEST_CASE("an empty side excludes nothing", "[hold_out]") {
    CHECK(parts_of({{"\u00a0", "a"}, {"b", "\u200b"}, {"c", "d"}}, {}, {{"", "x"}, {"x", " \u3000"}}) ==
          std::vector<Part>{Part::Train, Part::Train, Part::Train});
}

TEST_CASE("names of classes as targets do not exclude the pairs of their classes", "[hold_out]") {
    for (const bool last : {false, true}) {
        Pairs pairs;
        for (int i = 0; i < 100; ++i) {
            pairs.emplace_back("text " + std::to_string(i), i % 2 == 0 ? "good" : "bad");
        }
        const auto parts = parts_of(pairs, {.valid = 5, .test = 5, .last = last});
        CHECK(count(parts, Part::Train) == 90);
        CHECK(count(parts, Part::Valid) == 5);
        CHECK(count(parts_of(pairs, {.last = last}, {{"text 3", "bad"}, {"other", "good"}}), Part::Shared) == 1);
        pairs.emplace_back(pairs.back());  // the same text
        CHECK(count(parts_of(pairs, {.valid = 1, .last = true}), Part::Shared) == 1);
    }
    Pairs one;  // which says nothing
    for (int i = 0; i < 100; ++i) {
        one.emplace_back("text " + std::to_string(i), "good");
    }
    CHECK(count(parts_of(one, {.valid = 1, .last = true}), Part::Shared) == 99);
    Pairs few;  // ten sources for each target: these may be translations
    for (int i = 0; i < 20; ++i) {
        few.emplace_back("text " + std::to_string(i), i % 2 == 0 ? "good" : "bad");
    }
    CHECK(count(parts_of(few, {.valid = 1, .last = true}), Part::Shared) == 9);
}

TEST_CASE("the same seed holds out the same pairs", "[hold_out]") {
    const Pairs pairs = sample();
    const auto parts = parts_of(pairs, {.valid = 20, .test = 30, .seed = 7});
    CHECK(parts_of(pairs, {.valid = 20, .test = 30, .seed = 7}) == parts);
    CHECK(parts_of(pairs, {.valid = 20, .test = 30, .seed = 8}) != parts);
    CHECK_THAT(error_of([&] { parts_of(pairs, {.valid = 100, .test = 100}); }),
               Contains("100 + 100") && Contains("200 different"));
    CHECK_THAT(error_of([&] { parts_of(pairs, {.valid = 200, .test = 200, .last = true}); }), Contains("has 400"));
    CHECK(count(parts_of({}, {}), Part::Train) == 0);
}

TEST_CASE("pairs are filtered by their properties", "[pair_filter]") {
    CHECK(PairFilter::look("a", "b") == Finding::Good);
    CHECK(PairFilter::look("a", " \t") == Finding::Tab);
    CHECK(PairFilter::look("a", " \r") == Finding::Empty);
    CHECK(PairFilter::look("...", "\u2026") == Finding::Good);
    for (const std::string& empty : empty_texts()) {
        INFO(empty);
        CHECK(PairFilter::look(empty, "b") == Finding::Empty);
        CHECK(PairFilter::look("a", empty) == Finding::Empty);
    }
    CHECK(PairFilter::look("a\xff", "b") == Finding::NotUtf8);

    PairFilter filter({.most_words = 3, .most_ratio = 2.0});
    CHECK(filter.judge("one two three", "eins  zwei drei ") == Finding::Good);
    CHECK(filter.judge("one two three four", "eins zwei drei vier") == Finding::Long);
    CHECK(filter.judge("one", "eins zwei drei vier") == Finding::Long);
    CHECK(filter.judge("a", "1234567") == Finding::Good);  // 12 characters to 6
    CHECK(filter.judge("a", "12345678") == Finding::Ratio);
    CHECK(filter.judge("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", "a") == Finding::Good);  // characters, not bytes
    CHECK(filter.judge("same", "same") == Finding::Identical);
    CHECK(filter.judge("one two three", "eins  zwei drei ") == Finding::Duplicate);
    CHECK(filter.judge("eins  zwei drei ", "one two three") == Finding::Good);  // swapped sides are not a duplicate

    PairFilter open({.most_words = 0, .most_ratio = 0.0, .drop_identical = false, .drop_duplicates = false});
    for (int i = 0; i < 2; ++i) {
        CHECK(open.judge("same", "same") == Finding::Good);
        CHECK(open.judge("a", std::string(1000, 'b') + " c d e f") == Finding::Good);
    }
}
