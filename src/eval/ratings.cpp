#include "eval/ratings.h"

#include <algorithm>
#include <array>
#include <map>

namespace headscope {
namespace {

constexpr char kEqual = '=';

using Ranks = std::map<std::string, std::int32_t>;  // of each response

std::map<std::string, Ranks> by_prompt(const std::vector<Rating>& ratings) {
    std::map<std::string, Ranks> found;
    for (const Rating& rating : ratings) {
        Ranks& ranks = found[rating.prompt];
        for (std::size_t i = 0; i < rating.texts.size(); ++i) {
            ranks[rating.texts[i]] = rating.ranks[i];
        }
    }
    return found;
}

bool same_responses(const Ranks& one, const Ranks& other) {
    return std::ranges::equal(one, other, {}, &Ranks::value_type::first, &Ranks::value_type::first);
}

// 0: the first is better, 1: neither, 2: the second.
std::size_t verdict(std::int32_t first, std::int32_t second) {
    return first < second ? 0 : first == second ? 1 : 2;
}

class Counts {
public:
    void add(const Ranks& one, const Ranks& other) {
        for (auto first = one.begin(); first != one.end(); ++first) {
            for (auto second = std::next(first); second != one.end(); ++second) {
                const std::size_t said = verdict(first->second, second->second);
                const std::size_t also = verdict(other.at(first->first), other.at(second->first));
                ++one_[said];
                ++other_[also];
                equal_ += said == also ? 1 : 0;
                ++pairs_;
            }
        }
    }
    void write(RaterAgreement& agreement) const {
        agreement.pairs = pairs_;
        if (pairs_ == 0) {
            return;
        }
        const auto all = static_cast<double>(pairs_);
        agreement.equal = static_cast<double>(equal_) / all;
        double chance = 0.0;
        for (std::size_t i = 0; i < one_.size(); ++i) {
            chance += static_cast<double>(one_[i]) / all * static_cast<double>(other_[i]) / all;
        }
        if (chance < 1.0) {
            agreement.kappa = (agreement.equal - chance) / (1.0 - chance);
        }
    }

private:
    std::array<std::size_t, 3> one_{}, other_{};
    std::size_t equal_ = 0, pairs_ = 0;
};

}  // namespace

bool RankingKeys::has(std::size_t response) const {
    return keys_.find(static_cast<char>('1' + response)) != std::string::npos;
}

bool RankingKeys::press(char key) {
    const bool after_equal = !keys_.empty() && keys_.back() == kEqual;
    if (key == 'u' && !keys_.empty()) {
        keys_.pop_back();
        ended_ = false;
        return true;
    }
    if (done()) {
        return false;
    }
    if (key == '\n' && !keys_.empty() && !after_equal) {
        ended_ = true;
        return true;
    }
    if (key == kEqual && keys_.empty() && responses_ == 2) {
        keys_ = "1=2";
        return true;
    }
    const auto response = static_cast<std::size_t>(key - '1');
    const bool means_something =
        key == kEqual ? !keys_.empty() && !after_equal : key >= '1' && response < responses_ && !has(response);
    if (means_something) {
        keys_ += key;
    }
    return means_something;
}

bool RankingKeys::done() const {
    const auto ranked = static_cast<std::size_t>(std::ranges::count_if(keys_, [](char key) { return key != kEqual; }));
    const bool decided = responses_ == 2 && ranked == 1 && keys_.back() != kEqual;
    return ended_ || decided || ranked == responses_;
}

std::vector<std::vector<std::size_t>> RankingKeys::groups() const {
    std::vector<std::vector<std::size_t>> found;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        if (keys_[i] == kEqual) {
            continue;
        }
        if (i == 0 || keys_[i - 1] != kEqual) {
            found.emplace_back();
        }
        found.back().push_back(static_cast<std::size_t>(keys_[i] - '1'));
    }
    std::vector<std::size_t> left;
    for (std::size_t response = 0; response < responses_; ++response) {
        if (!has(response)) {
            left.push_back(response);
        }
    }
    if (!left.empty()) {
        found.push_back(std::move(left));
    }
    return found;
}

RaterAgreement agreement_of(const std::vector<Rating>& one, const std::vector<Rating>& other) {
    const std::map<std::string, Ranks> first = by_prompt(one);
    const std::map<std::string, Ranks> second = by_prompt(other);
    RaterAgreement agreement;
    Counts counts;
    for (const auto& [prompt, ranks] : first) {
        const auto found = second.find(prompt);
        if (found == second.end()) {
            agreement.alone.push_back(prompt);
        } else if (!same_responses(ranks, found->second)) {
            agreement.different.push_back(prompt);
        } else {
            ++agreement.prompts;
            counts.add(ranks, found->second);
        }
    }
    for (const auto& [prompt, ranks] : second) {
        if (!first.contains(prompt)) {
            agreement.alone.push_back(prompt);
        }
    }
    counts.write(agreement);
    return agreement;
}

}  // namespace headscope
