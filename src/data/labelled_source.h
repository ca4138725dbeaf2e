// Examples that are texts with a class, a number or any number of classes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/example_source.h"
#include "data/frame.h"
#include "data/pair_store.h"

namespace headscope {

// Encoded texts with their labels. An example has one label: of a class, or 0 with numbers.
class LabelledStore {
public:
    // See PairStore.
    explicit LabelledStore(const std::string& folder) : ids_(folder), labels_(folder) {}

    void add(const Example& example);

    std::size_t size() const { return ids_.size(); }
    std::int64_t source_tokens() const { return ids_.source_tokens(); }
    std::int64_t target_tokens() const { return ids_.target_tokens(); }
    std::int64_t longest_source() const { return longest_source_; }
    std::int64_t longest_target() const { return longest_target_; }
    Example example(std::size_t i) const;  // thread-safe
    std::uint64_t fingerprint() const;

private:
    PairStore ids_;
    PairStore labels_;  // of each the place, the class and the numbers, and the types of its tokens
    std::int64_t longest_source_ = 0, longest_target_ = 0;
};

class LabelledSource final : public ExampleSource {
public:
    // `frame`: what stands around a source, if the texts have one. Error if there are no texts.
    LabelledSource(LabelledStore store, std::vector<WeightedExamples> corpora, std::uint64_t seed, Frame frame);

    Epoch epoch(std::int64_t number) const override;
    Example example(const Epoch& epoch, std::uint32_t number) const override;
    SideCounts tokens(const Epoch& epoch) const override;
    SideCounts longest() const override;
    std::int64_t predicted_tokens() const override { return static_cast<std::int64_t>(store_.size()); }
    std::uint64_t fingerprint() const override { return store_.fingerprint(); }

private:
    LabelledStore store_;
    std::vector<WeightedExamples> corpora_;
    std::uint64_t seed_;
    Frame frame_;
};

}  // namespace headscope
