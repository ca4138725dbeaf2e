// The made task of alignment: its answers and their rules.
#include "train/preferences_task.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

TEST_CASE("answers keep the rules or not", "[preferences]") {
    CHECK(rules_of("it is on the table thanks") == AnswerRules{true, true, true});
    CHECK(rules_of("it is on the table") == AnswerRules{false, true, true});
    CHECK(rules_of("maybe it is on the table sir") == AnswerRules{true, false, true});
    CHECK(rules_of("on the table") == AnswerRules{false, true, false});
    CHECK(rules_of("look on table please") == AnswerRules{true, true, true});
    CHECK(rules_of("thanks it is there now") == AnswerRules{false, true, true});
    CHECK(rules_of("a b c d e f g thanks").brief);
    CHECK_FALSE(rules_of("a b c d e f g h thanks").brief);
    CHECK(rules_of("  look  on   table please ").kept() == 3);
    CHECK(rules_of("").kept() == 1);
}

TEST_CASE("preferences are ranked by the rules that answers keep", "[preferences]") {
    const std::vector<PreferenceExample> examples = make_preferences_task(1500, 1);
    std::set<std::string> prompts;
    int good = 0, tied = 0;
    for (const PreferenceExample& example : examples) {
        prompts.insert(example.prompt);
        good += rules_of(example.response).kept() == 3 ? 1 : 0;
        REQUIRE(example.ranked.size() >= 2);
        int before = 4;
        std::set<std::string> different;
        std::size_t answers = 0;
        for (const std::vector<std::string>& group : example.ranked) {
            const int kept = rules_of(group.front()).kept();
            CHECK(kept < before);
            before = kept;
            answers += group.size();
            for (const std::string& answer : group) {
                CHECK(rules_of(answer).kept() == kept);
                CHECK(different.insert(answer).second);
            }
        }
        CHECK(answers == 4);
        tied += example.ranked.size() < 4 ? 1 : 0;
    }
    CHECK(prompts.size() == examples.size());
    CHECK(good > 700);
    CHECK(good < 860);
    CHECK(tied > 250);
    CHECK(tied < 500);
    CHECK(make_preferences_task(20, 1)[7].response == make_preferences_task(20, 1)[7].response);
    CHECK(make_preferences_task(20, 1)[7].prompt != make_preferences_task(20, 2)[7].prompt);
    CHECK_THAT(error_of([] { make_preferences_task(4000, 1); }), Contains("between 1 and 3456, got 4000"));
}
