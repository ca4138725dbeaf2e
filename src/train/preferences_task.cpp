#include "train/preferences_task.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"
#include "support/random.h"

namespace headscope {
namespace {

constexpr std::array<const char*, 4> kQuestions{"where is", "did you see", "can you find", "who has"};
constexpr std::array<const char*, 6> kColours{"red", "blue", "green", "black", "white", "brown"};
constexpr std::array<const char*, 12> kThings{"book", "fork", "key",  "cup", "map", "coat",
                                              "bag",  "ring", "comb", "pen", "hat", "ball"};
constexpr std::array<const char*, 12> kOwners{"anna", "ben",  "carl", "dora", "emil", "fred",
                                              "gina", "hans", "ida",  "jan",  "karl", "lena"};
constexpr std::array<const char*, 8> kWhere{"on", "under", "beside", "behind", "near", "above", "below", "against"};
constexpr std::array<const char*, 16> kPlaces{"table", "shelf", "chair", "bed",    "sofa", "desk",  "door",  "window",
                                              "lamp",  "box",   "wall",  "stairs", "sink", "stove", "clock", "basket"};
constexpr std::array<const char*, 3> kPolite{"thanks", "please", "sir"};
constexpr std::array<const char*, 4> kUnclean{"maybe", "whatever", "dunno", "stuff"};

constexpr std::int64_t kMostQuestions =
    std::int64_t{kQuestions.size()} * kColours.size() * kThings.size() * kOwners.size();
constexpr std::size_t kFewestWords = 4, kMostWords = 8;  // of a brief answer
constexpr int kAnswers = 4;                              // ranked
constexpr double kGoodDemonstrations = 0.52;

using Words = std::vector<std::string>;

template <std::size_t size>
bool one_of(const std::array<const char*, size>& list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
}

class Maker {
public:
    explicit Maker(std::uint64_t seed) : random_(seed) {}

    PreferenceExample example() {
        colour_ = pick(kColours);
        thing_ = pick(kThings);
        PreferenceExample made;
        made.prompt = fmt::format("{} the {} {} of {} ?", pick(kQuestions), colour_, thing_, pick(kOwners));
        made.response = answer(random_.uniform() < kGoodDemonstrations ? 3 : static_cast<int>(random_.below(3)));
        made.ranked = ranked();
        return made;
    }

private:
    template <std::size_t size>
    std::string pick(const std::array<const char*, size>& list) {
        return list[random_.below(size)];
    }

    // Answers that keep 3, 2, 1 and 0 rules; in one of four examples any numbers that are not all the same.
    std::vector<std::vector<std::string>> ranked() {
        std::array<int, kAnswers> kept{3, 2, 1, 0};
        if (random_.below(4) == 0) {
            do {
                std::ranges::generate(kept, [&] { return static_cast<int>(random_.below(4)); });
                std::ranges::sort(kept, std::greater());
            } while (kept.front() == kept.back());
        }
        std::vector<std::vector<std::string>> groups;
        std::unordered_set<std::string> seen;
        for (int i = 0; i < kAnswers; ++i) {
            if (i == 0 || kept[static_cast<std::size_t>(i)] != kept[static_cast<std::size_t>(i) - 1]) {
                groups.emplace_back();
            }
            std::string other = answer(kept[static_cast<std::size_t>(i)]);
            while (!seen.insert(other).second) {
                other = answer(kept[static_cast<std::size_t>(i)]);
            }
            groups.back().push_back(std::move(other));
        }
        return groups;
    }

    // Keeps so many rules, any of them.
    std::string answer(int kept) {
        std::vector<int> rules{0, 1, 2};
        random_.shuffle(rules);
        const auto keeps = [&](int rule) {
            return std::find(rules.begin(), rules.begin() + kept, rule) - rules.begin() < kept;
        };
        const AnswerRules wanted{.polite = keeps(0), .clean = keeps(1), .brief = keeps(2)};
        Words words = wanted.brief ? brief_body(!wanted.clean) : other_body(wanted.polite || !wanted.clean);
        if (!wanted.clean) {
            words.insert(words.begin() + static_cast<std::ptrdiff_t>(random_.below(words.size() + 1)), pick(kUnclean));
        }
        if (wanted.polite) {
            words.push_back(pick(kPolite));
        }
        return fmt::format("{}", fmt::join(words, " "));
    }

    // 4 to 7 words, or 6 if one more is to come.
    Words brief_body(bool grows) {
        switch (random_.below(grows ? 2 : 3)) {
            case 0: return {"look", pick(kWhere), "the", pick(kPlaces)};
            case 1: return {"it", "is", pick(kWhere), "the", pick(kPlaces)};
            default: return {"the", colour_, thing_, "is", pick(kWhere), "the", pick(kPlaces)};
        }
    }

    // 3 words, or at least 9.
    Words other_body(bool grows) {
        if (!grows && random_.below(2) == 0) {
            return {pick(kWhere), "the", pick(kPlaces)};
        }
        Words words{"the", colour_,       thing_,       "is",  pick(kWhere),
                    "the", pick(kPlaces), pick(kWhere), "the", pick(kPlaces)};
        if (random_.below(2) == 0) {
            words.insert(words.begin(), {"i", "think"});
        }
        return words;
    }

    Random random_;
    std::string colour_, thing_;
};

}  // namespace

AnswerRules rules_of(std::string_view answer) {
    AnswerRules rules{.clean = true};
    std::size_t words = 0;
    for (std::size_t begin = answer.find_first_not_of(' '); begin < answer.size();) {
        const std::size_t end = std::min(answer.find(' ', begin), answer.size());
        const std::string_view word = answer.substr(begin, end - begin);
        ++words;
        rules.clean = rules.clean && !one_of(kUnclean, word);
        rules.polite = one_of(kPolite, word);  // of the last one in the end
        begin = answer.find_first_not_of(' ', end);
    }
    rules.brief = words >= kFewestWords && words <= kMostWords;
    return rules;
}

std::vector<PreferenceExample> make_preferences_task(std::int64_t questions, std::uint64_t seed) {
    if (questions < 1 || questions > kMostQuestions) {
        throw Error(fmt::format("training, validation and test questions together must be between 1 and {}, got {}",
                                kMostQuestions, questions));
    }
    Maker maker(seed);
    std::unordered_set<std::string> seen;
    std::vector<PreferenceExample> examples;
    while (std::ssize(examples) < questions) {
        PreferenceExample made = maker.example();
        if (seen.insert(made.prompt).second) {
            examples.push_back(std::move(made));
        }
    }
    return examples;
}

}  // namespace headscope
