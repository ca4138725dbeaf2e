// Examples that are responses to prompts, each alone or with others that are compared with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/example_source.h"
#include "data/pair_store.h"

namespace headscope {

// Encoded examples of responses, a few bytes each in memory.
class ResponseStore {
public:
    // See PairStore.
    explicit ResponseStore(const std::string& folder) : examples_(folder) {}

    // Whether the ids of all texts of an example fit.
    static bool can_hold(const Example& example);
    void add(const Example& example);

    std::size_t size() const { return examples_.size(); }
    std::int64_t tokens() const { return examples_.target_tokens(); }
    std::int64_t labelled() const { return labelled_; }  // tokens with a loss
    std::int64_t longest() const { return longest_; }    // tokens of a text
    // The number of an example's first text among all texts.
    std::size_t first_text(std::size_t example) const { return first_texts_[example]; }
    std::size_t texts() const { return texts_; }
    Example example(std::size_t i) const;  // thread-safe
    std::uint64_t fingerprint() const { return examples_.fingerprint(); }

private:
    PairStore examples_;  // of each the ids, and as "source" the lengths and ranks of its texts and runs of labels
    std::vector<std::size_t> first_texts_;
    std::size_t texts_ = 0;
    std::int64_t labelled_ = 0;
    std::int64_t longest_ = 0;
};

class ResponseSource final : public ExampleSource {
public:
    // Error if there are no examples.
    ResponseSource(ResponseStore store, std::vector<WeightedExamples> corpora, std::uint64_t seed);

    Epoch epoch(std::int64_t number) const override;
    Example example(const Epoch& epoch, std::uint32_t number) const override;
    SideCounts tokens(const Epoch& epoch) const override;
    SideCounts longest() const override { return {0, store_.longest()}; }
    std::int64_t predicted_tokens() const override { return store_.labelled(); }
    std::uint64_t fingerprint() const override { return store_.fingerprint(); }

    const ResponseStore& store() const { return store_; }
    // Example::references of all texts, in the store's order.
    void set_references(std::vector<float> references);

private:
    ResponseStore store_;
    std::vector<WeightedExamples> corpora_;
    std::uint64_t seed_;
    std::vector<float> references_;
};

}  // namespace headscope
