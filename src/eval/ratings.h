// What people say of responses to a prompt: the keys with which they rank them, and how far two of them agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope {

inline constexpr std::size_t kMostRanked = 9;  // responses to a prompt: each has a digit

// A ranking that grows by keys: digits from the best on, '=' before one that is as good as the last, 'u' to take the
// last key back, and a line's end for all that are left, equally bad. Of two responses one key says all: the better
// one's, or '='.
class RankingKeys {
public:
    explicit RankingKeys(std::size_t responses) : responses_(responses) {}

    // False for a key that means nothing now.
    bool press(char key);
    bool empty() const { return keys_.empty(); }
    bool done() const;
    // The indexes of the responses in groups of equal ones, best first. Those without a key are the last group.
    std::vector<std::vector<std::size_t>> groups() const;
    const std::string& keys() const { return keys_; }

private:
    bool has(std::size_t response) const;

    std::size_t responses_;
    std::string keys_;
    bool ended_ = false;
};

// A prompt's responses with their ranks, 1 the best.
struct Rating {
    std::string prompt;
    std::vector<std::string> texts;
    std::vector<std::int32_t> ranks;
};

struct RaterAgreement {
    std::size_t prompts = 0;  // that both rated, with the same responses
    std::size_t pairs = 0;    // of responses to one of them
    double equal = 0.0;       // share of pairs of which both said the same: which is better, or that neither is
    // Cohen's kappa (1960): (equal - chance) / (1 - chance), where `chance` is the share expected from how often each
    // rater gives each answer. Empty if both raters always gave the same single answer.
    std::optional<double> kappa;
    std::vector<std::string> alone;      // prompts that one rated
    std::vector<std::string> different;  // prompts with other responses
};
RaterAgreement agreement_of(const std::vector<Rating>& one, const std::vector<Rating>& other);

}  // namespace headscope
