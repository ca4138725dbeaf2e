#include "data/labelled_source.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "data/batch.h"
#include "support/check.h"
#include "support/random.h"

namespace headscope {

void LabelledStore::add(const Example& example) {
    const auto at = std::ranges::find_if(example.labels, [](std::int32_t label) { return label != kNoTarget; });
    HEADSCOPE_CHECK(at != example.labels.end(), "a text has a label");
    std::vector<std::int32_t> label{static_cast<std::int32_t>(at - example.labels.begin()), *at};
    for (const float number : example.numbers) {
        label.push_back(std::bit_cast<std::int32_t>(number));
    }
    ids_.add({.source = example.source, .target = example.target});
    labels_.add({.source = std::move(label), .target = example.types});
    longest_source_ = std::max(longest_source_, ids_.source_length(size() - 1));
    longest_target_ = std::max(longest_target_, ids_.target_length(size() - 1));
}

Example LabelledStore::example(std::size_t i) const {
    Example example = ids_.pair(i);
    Example label = labels_.pair(i);
    const auto at = static_cast<std::size_t>(label.source[0]);
    example.types = std::move(label.target);
    example.labels.assign(example.target.size(), kNoTarget);
    example.labels[at] = label.source[1];
    example.weights.assign(example.target.size(), 1.0F);
    for (const std::int32_t number : std::span(label.source).subspan(2)) {
        example.numbers.push_back(std::bit_cast<float>(number));
    }
    return example;
}

std::uint64_t LabelledStore::fingerprint() const {
    return mix_bits(ids_.fingerprint() ^ mix_bits(labels_.fingerprint()));
}

LabelledSource::LabelledSource(LabelledStore store, std::vector<WeightedExamples> corpora, std::uint64_t seed,
                               Frame frame)
    : store_(std::move(store)), corpora_(std::move(corpora)), seed_(seed), frame_(std::move(frame)) {
    if (store_.size() == 0) {
        throw Error("there are no texts to train on: check the training files and the maximum length");
    }
}

Epoch LabelledSource::epoch(std::int64_t number) const {
    return epoch_of(corpora_, seed_, number);
}

Example LabelledSource::example(const Epoch& epoch, std::uint32_t number) const {
    return store_.example(epoch.items.at(number));
}

SideCounts LabelledSource::longest() const {
    return {store_.longest_source() > 0 ? frame_.source_positions(store_.longest_source()) : 0,
            store_.longest_target()};
}

SideCounts LabelledSource::tokens(const Epoch& epoch) const {
    const double share = static_cast<double>(epoch.items.size()) / static_cast<double>(store_.size());
    const auto of = [&](std::int64_t tokens) { return static_cast<std::int64_t>(share * static_cast<double>(tokens)); };
    const auto texts = static_cast<std::int64_t>(store_.size());
    const std::int64_t source = store_.source_tokens() == 0 ? 0
                                : frame_.patches            ? frame_.patches->positions() * texts
                                                            : store_.source_tokens() + frame_.around_source() * texts;
    return {of(source), of(store_.target_tokens())};
}

}  // namespace headscope
