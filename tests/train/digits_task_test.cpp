#include "train/digits_task.h"

#include <catch2/catch.hpp>
#include <set>

#include "support/check.h"

using namespace headscope;

TEST_CASE("numbers in German", "[digits]") {
    CHECK(german_number(0) == "null");
    CHECK(german_number(1) == "eins");
    CHECK(german_number(12) == "zwölf");
    CHECK(german_number(16) == "sechzehn");
    CHECK(german_number(17) == "siebzehn");
    CHECK(german_number(20) == "zwanzig");
    CHECK(german_number(21) == "einundzwanzig");
    CHECK(german_number(30) == "dreißig");
    CHECK(german_number(77) == "siebenundsiebzig");
    CHECK(german_number(100) == "einhundert");
    CHECK(german_number(101) == "einhunderteins");
    CHECK(german_number(111) == "einhundertelf");
    CHECK(german_number(1000) == "eintausend");
    CHECK(german_number(1742) == "eintausendsiebenhundertzweiundvierzig");
    CHECK(german_number(21001) == "einundzwanzigtausendeins");
    CHECK(german_number(101000) == "einhunderteintausend");
    CHECK(german_number(999999) == "neunhundertneunundneunzigtausendneunhundertneunundneunzig");
    CHECK(digits_pair(1742).digits == "1 7 4 2");
}

TEST_CASE("all numbers have different names", "[digits]") {
    std::set<std::string> names;
    for (std::int64_t number = 0; number < kDigitsLimit; number += 7) {
        names.insert(german_number(number));
    }
    CHECK(static_cast<std::int64_t>(names.size()) == (kDigitsLimit + 6) / 7);
}

TEST_CASE("the task is seeded, has no repetitions and all lengths", "[digits]") {
    const auto first = make_digits_task(3000, 5);
    const auto again = make_digits_task(3000, 5);
    const auto other = make_digits_task(3000, 6);
    std::set<std::string> digits;
    std::set<std::size_t> lengths;
    bool same = true;
    bool differs = false;
    for (std::size_t i = 0; i < first.size(); ++i) {
        digits.insert(first[i].digits);
        lengths.insert(first[i].digits.size());
        same = same && first[i].digits == again[i].digits && first[i].words == again[i].words;
        differs = differs || first[i].digits != other[i].digits;
    }
    CHECK(digits.size() == 3000);
    CHECK(lengths.size() == 6);
    CHECK(same);
    CHECK(differs);
    CHECK_THROWS_AS(make_digits_task(kDigitsLimit + 1, 1), Error);
}
