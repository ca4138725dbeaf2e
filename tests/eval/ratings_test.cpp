// Rankings by keys, and the agreement of raters.
#include "eval/ratings.h"

#include <catch2/catch.hpp>

using namespace headscope;

namespace {

using Groups = std::vector<std::vector<std::size_t>>;

RankingKeys pressed(std::size_t responses, const std::string& keys) {
    RankingKeys ranking(responses);
    for (const char key : keys) {
        CHECK(ranking.press(key));
    }
    return ranking;
}

}  // namespace

TEST_CASE("keys rank responses from the best on", "[ratings]") {
    CHECK_FALSE(pressed(3, "31").done());
    CHECK(pressed(3, "312").done());
    CHECK(pressed(3, "312").groups() == Groups{{2}, {0}, {1}});
    CHECK(pressed(3, "3=1\n").groups() == Groups{{2, 0}, {1}});
    CHECK(pressed(3, "31=2").groups() == Groups{{2}, {0, 1}});
    CHECK(pressed(4, "3\n").done());
    CHECK(pressed(4, "3\n").groups() == Groups{{2}, {0, 1, 3}});
    CHECK(pressed(3, "31u21").groups() == Groups{{2}, {1}, {0}});
    CHECK_FALSE(pressed(3, "3\nu").done());
    CHECK(pressed(2, "1u").empty());
    CHECK(pressed(2, "2").done());
    CHECK(pressed(2, "2").groups() == Groups{{1}, {0}});
    CHECK(pressed(2, "=").done());
    CHECK(pressed(2, "=").groups() == Groups{{0, 1}});
}

TEST_CASE("keys without a meaning are refused", "[ratings]") {
    RankingKeys ranking(3);
    for (const char key : {'=', 'u', '0', '4', 'x', '\n'}) {
        CHECK_FALSE(ranking.press(key));
    }
    CHECK(ranking.press('2'));
    CHECK_FALSE(ranking.press('2'));
    CHECK(ranking.press('='));
    CHECK_FALSE(ranking.press('='));
    CHECK_FALSE(ranking.press('\n'));
    CHECK(ranking.press('1'));
    CHECK(ranking.press('3'));
    CHECK_FALSE(ranking.press('\n'));  // it is done
}

TEST_CASE("agreement of raters is measured beyond chance", "[ratings]") {
    // Cohen's example of two categories: 20 and 15 pairs of which both say the same, 5 and 10 of which they do not.
    std::vector<Rating> one, other;
    const auto add = [&](int count, std::int32_t first, std::int32_t second) {
        for (int i = 0; i < count; ++i) {
            const std::string prompt = "p" + std::to_string(one.size());
            one.push_back({prompt, {"a", "b"}, {1, first}});
            other.push_back({prompt, {"b", "a"}, {second, 1}});
        }
    };
    add(20, 2, 2);
    add(5, 2, 1);
    add(10, 1, 2);
    add(15, 1, 1);
    const RaterAgreement found = agreement_of(one, other);
    CHECK(found.prompts == 50);
    CHECK(found.pairs == 50);
    CHECK(found.equal == Approx(0.7));
    REQUIRE(found.kappa.has_value());
    CHECK(*found.kappa == Approx(0.4));

    one.push_back({"alone", {"a", "b"}, {1, 2}});
    other.push_back({"p0", {"a", "b"}, {1, 2}});
    other.push_back({"also alone", {"a", "b"}, {1, 2}});
    other[1].texts[0] = "c";
    const RaterAgreement partly = agreement_of(one, other);
    CHECK(partly.alone == std::vector<std::string>{"alone", "also alone"});
    CHECK(partly.different == std::vector<std::string>{"p1"});
    const std::vector<Rating> same{{"p", {"a", "b"}, {1, 2}}};
    CHECK(agreement_of(same, same).equal == 1.0);
    CHECK_FALSE(agreement_of(same, same).kappa.has_value());
    CHECK(agreement_of(same, {}).pairs == 0);
}
