#include "data/response_source.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "data/batch.h"
#include "support/check.h"

namespace headscope {
namespace {

// The number of ranked texts; of each its begin and its rank; then the lengths of runs of labels: without, with,
// without ..
std::vector<std::int32_t> packed_form(const Example& example) {
    const std::size_t texts = example.ranks.size();
    std::vector<std::int32_t> form{static_cast<std::int32_t>(texts)};
    for (std::size_t i = 0; i < texts; ++i) {
        form.push_back(example.starts[i]);
        form.push_back(example.ranks[i]);
    }
    bool labelled = false;
    std::int32_t run = 0;
    for (const std::int32_t label : example.labels) {
        if ((label != kNoTarget) != labelled) {
            form.push_back(std::exchange(run, 0));
            labelled = !labelled;
        }
        ++run;
    }
    form.push_back(run);
    return form;
}

void unpack_form(const std::vector<std::int32_t>& form, Example& example) {
    const auto texts = static_cast<std::size_t>(form.front());
    std::size_t at = 1;
    for (std::size_t i = 0; i < texts; ++i) {
        example.starts.push_back(form[at++]);
        example.ranks.push_back(form[at++]);
    }
    bool labelled = false;
    for (; at < form.size(); ++at, labelled = !labelled) {
        for (std::int32_t i = 0; i < form[at]; ++i) {
            example.labels.push_back(labelled ? example.target[example.labels.size() + 1] : kNoTarget);
        }
    }
}

}  // namespace

bool ResponseStore::can_hold(const Example& example) {
    constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
    return example.target.size() <= kMost && packed_form(example).size() <= kMost;
}

void ResponseStore::add(const Example& example) {
    examples_.add({.source = packed_form(example), .target = example.target});
    first_texts_.push_back(texts_);
    texts_ += std::max<std::size_t>(example.ranks.size(), 1);
    labelled_ += std::ssize(example.labels) - std::count(example.labels.begin(), example.labels.end(), kNoTarget);
    longest_ = std::max(longest_, longest_text(example));
}

Example ResponseStore::example(std::size_t i) const {
    Example example = examples_.pair(i);
    unpack_form(std::exchange(example.source, {}), example);
    return example;
}

ResponseSource::ResponseSource(ResponseStore store, std::vector<WeightedExamples> corpora, std::uint64_t seed)
    : store_(std::move(store)), corpora_(std::move(corpora)), seed_(seed) {
    if (store_.size() == 0) {
        throw Error("there are no responses to train on: check the training files and the maximum length");
    }
}

Epoch ResponseSource::epoch(std::int64_t number) const {
    return epoch_of(corpora_, seed_, number);
}

Example ResponseSource::example(const Epoch& epoch, std::uint32_t number) const {
    const std::size_t item = epoch.items.at(number);
    Example example = store_.example(item);
    if (!references_.empty()) {
        const auto first = references_.begin() + static_cast<std::ptrdiff_t>(store_.first_text(item));
        example.references.assign(first, first + std::ssize(example.ranks));
    }
    return example;
}

SideCounts ResponseSource::tokens(const Epoch& epoch) const {
    const double share = static_cast<double>(epoch.items.size()) / static_cast<double>(store_.size());
    return {0, static_cast<std::int64_t>(share * static_cast<double>(store_.tokens()))};
}

void ResponseSource::set_references(std::vector<float> references) {
    HEADSCOPE_CHECK(references.size() == store_.texts(), "each text has one reference");
    references_ = std::move(references);
}

}  // namespace headscope
