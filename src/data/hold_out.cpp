#include "data/hold_out.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "support/check.h"
#include "support/random.h"
#include "text/normalised.h"

namespace headscope {
namespace {

// A 64-bit hash per sentence: among five million sentences the probability of any collision is one in a million.
std::uint64_t key_of(std::string_view text) {
    std::uint64_t key = 0;
    for (const char c : normalised_text(text)) {
        key = mix_bits(key ^ static_cast<unsigned char>(c)) + 0x9e3779b97f4a7c15U;
    }
    return key;
}

}  // namespace

void HoldOut::exclude(std::string_view source, std::string_view target) {
    if (!is_empty_text(source)) {
        sources_.insert(key_of(source));
    }
    if (!is_empty_text(target)) {
        targets_.insert(key_of(target));
    }
}

void HoldOut::add(std::string_view source, std::string_view target) {
    const Keys keys{key_of(source), key_of(target)};
    if (seen_.try_emplace(keys.source, firsts_.size()).second) {
        firsts_.push_back(pairs_.size());
    }
    pairs_.push_back(keys);
}

// Whether there are few different targets, but not one alone.
bool HoldOut::names_classes() const {
    constexpr std::size_t kSources = 10;  // of each there are more
    std::vector<std::uint64_t> targets(pairs_.size());
    std::ranges::transform(pairs_, targets.begin(), &Keys::target);
    std::ranges::sort(targets);
    const auto different = std::unique(targets.begin(), targets.end()) - targets.begin();
    return different > 1 && kSources * static_cast<std::size_t>(different) < firsts_.size();
}

void HoldOut::hold(std::size_t pair, Part part) {
    held_.emplace(pair, part);
    sources_.insert(pairs_[pair].source);
    if (!classes_) {
        targets_.insert(pairs_[pair].target);
    }
}

void HoldOut::choose(const HoldOutSizes& sizes) {
    classes_ = names_classes();
    if (classes_) {
        targets_.clear();  // of excluded pairs
    }
    const auto wanted = static_cast<std::size_t>(sizes.valid + sizes.test);
    const std::size_t there = sizes.last ? pairs_.size() : firsts_.size();
    if (wanted > 0 && there <= wanted) {
        throw Error(fmt::format("cannot hold out {} + {} pairs: the text has {}{}", sizes.valid, sizes.test, there,
                                sizes.last ? "" : " different source sentences, ignoring case and punctuation"));
    }
    if (!sizes.last) {
        choose_randomly(sizes);
        return;
    }
    for (std::size_t i = 0; i < wanted; ++i) {
        hold(pairs_.size() - 1 - i, i < static_cast<std::size_t>(sizes.test) ? Part::Test : Part::Valid);
    }
}

void HoldOut::choose_randomly(const HoldOutSizes& sizes) {
    std::vector<std::size_t> order(firsts_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random(sizes.seed).shuffle(order);
    for (std::size_t i = 0; i < static_cast<std::size_t>(sizes.test); ++i) {
        hold(firsts_[order[i]], Part::Test);
    }
    const std::unordered_set<std::uint64_t> of_test = targets_;
    for (std::size_t i = 0; i < static_cast<std::size_t>(sizes.valid); ++i) {
        const std::size_t pair = firsts_[order[static_cast<std::size_t>(sizes.test) + i]];
        if (of_test.contains(pairs_[pair].target)) {
            sources_.insert(pairs_[pair].source);
        } else {
            hold(pair, Part::Valid);
        }
    }
}

Part HoldOut::part_of(std::size_t i) const {
    if (const auto held = held_.find(i); held != held_.end()) {
        return held->second;
    }
    const Keys& keys = pairs_.at(i);
    return sources_.contains(keys.source) || targets_.contains(keys.target) ? Part::Shared : Part::Train;
}

}  // namespace headscope
