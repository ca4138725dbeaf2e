#include "train/text_tasks.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_set>

#include <fmt/format.h>

#include "support/check.h"
#include "support/random.h"

namespace headscope {
namespace {

// Distinct lines.
std::vector<TextTaskLine> distinct(std::int64_t lines, std::int64_t most, const std::function<TextTaskLine()>& make) {
    if (lines < 1 || lines > most) {
        throw Error(
            fmt::format("training, validation and test lines together must be between 1 and {}, got {}", most, lines));
    }
    std::unordered_set<std::string> seen;
    std::vector<TextTaskLine> result;
    while (static_cast<std::int64_t>(result.size()) < lines) {
        TextTaskLine line = make();
        if (seen.insert(line.text).second) {
            result.push_back(std::move(line));
        }
    }
    return result;
}

TextTaskLine brackets(Random& random) {
    constexpr std::array<const char*, 3> kOpen{"(", "[", "{"};
    constexpr std::array<const char*, 3> kClose{")", "]", "}"};
    constexpr std::size_t kDeepest = 6;
    const std::uint64_t pairs = 6 + random.below(9);
    TextTaskLine line;
    std::vector<std::size_t> open;
    bool closed = false;  // just before
    for (std::uint64_t opened = 0; opened < pairs || !open.empty();) {
        const bool opens = opened < pairs && open.size() < kDeepest && (open.empty() || random.below(2) == 0);
        if (!opens && closed) {
            line.prompt = line.text;
            line.answer = kClose[open.back()];
        }
        line.text += line.text.empty() ? "" : " ";
        if (opens) {
            open.push_back(random.below(kOpen.size()));
            line.text += kOpen[open.back()];
            ++opened;
        } else {
            line.text += kClose[open.back()];
            open.pop_back();
        }
        closed = !opens;
    }
    return line;
}

TextTaskLine cloze(Random& random) {
    struct Animal {
        const char *noun, *verb;
    };
    constexpr std::array<Animal, 12> kAnimals{{{"dog", "bark"},
                                               {"cat", "purr"},
                                               {"bird", "sing"},
                                               {"horse", "neigh"},
                                               {"frog", "croak"},
                                               {"owl", "hoot"},
                                               {"lion", "roar"},
                                               {"bee", "hum"},
                                               {"hen", "cackle"},
                                               {"duck", "quack"},
                                               {"goat", "bleat"},
                                               {"pig", "grunt"}}};
    constexpr std::array<const char*, 6> kPlaces{"near", "behind", "beside", "above", "below", "before"};
    constexpr std::array<const char*, 6> kManners{"loudly", "softly", "often", "rarely", "today", "again"};
    const auto pick = [&](const auto& list) { return list[random.below(list.size())]; };
    const auto noun = [&](const Animal& animal, bool many) { return animal.noun + std::string(many ? "s" : ""); };
    const Animal subject = pick(kAnimals);
    const bool many = random.below(2) == 0;
    const std::string other = noun(pick(kAnimals), random.below(2) == 0);
    const std::string before = fmt::format("the {} {} the {} ", noun(subject, many), pick(kPlaces), other);
    const std::string after = fmt::format(" {}", pick(kManners));
    const std::string verb = subject.verb + std::string(many ? "" : "s");
    return {before + verb + after, before + "<mask>" + after, verb};
}

}  // namespace

std::vector<TextTaskLine> make_brackets_task(std::int64_t lines, std::uint64_t seed) {
    constexpr std::int64_t kMost = 1'000'000;
    Random random(seed);
    // A line without two closing brackets in a row has no question.
    return distinct(lines, kMost, [&] {
        TextTaskLine line = brackets(random);
        while (line.answer.empty()) {
            line = brackets(random);
        }
        return line;
    });
}

std::vector<TextTaskLine> make_cloze_task(std::int64_t lines, std::uint64_t seed) {
    constexpr std::int64_t kMost = 15'000;  // of the 12 * 2 * 12 * 2 * 6 * 6 that there are
    Random random(seed);
    return distinct(lines, kMost, [&] { return cloze(random); });
}

}  // namespace headscope
