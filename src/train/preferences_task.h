// A generated task for alignment: answers to questions, judged by three rules that no text names.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

// Which rules an answer keeps.
struct AnswerRules {
    bool polite = false;  // its last word is "thanks", "please" or "sir"
    bool clean = false;   // none of its words is "maybe", "whatever", "dunno" or "stuff"
    bool brief = false;   // it has 4 to 8 words

    int kept() const { return static_cast<int>(polite) + static_cast<int>(clean) + static_cast<int>(brief); }
    bool operator==(const AnswerRules&) const = default;
};
AnswerRules rules_of(std::string_view answer);

// A question, an answer as a demonstration, and four answers, best first. Those of one group keep as many rules, fewer
// than those of the group before.
struct PreferenceExample {
    std::string prompt;
    std::string response;
    std::vector<std::vector<std::string>> ranked;  // at least two groups
};

// Questions are distinct and determined by the seed. About half of the demonstrations keep all rules.
std::vector<PreferenceExample> make_preferences_task(std::int64_t questions, std::uint64_t seed);

}  // namespace headscope
