// Holds out pairs for validation and test, so that measurements use sentences that were never trained on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace headscope {

enum class Part : std::uint8_t {
    Train,
    Valid,
    Test,
    Shared  // a side also occurs in a held-out pair: in no part
};

struct HoldOutSizes {
    std::int64_t valid = 0, test = 0;
    // Hold out the last pairs, so that neighbours in ordered documents are not trained on; else random pairs.
    bool last = false;
    std::uint64_t seed = 1;
};

// Sides are equal if their normalised_text is. Where there are several targets, but less than a tenth as many as
// sources, they are names of classes, which pairs may share with held-out and excluded ones. Memory: about 60 bytes per
// pair with a new source.
class HoldOut {
public:
    // Excludes sentences from training, such as another corpus's test part. An empty side (is_empty_text) excludes
    // nothing.
    void exclude(std::string_view source, std::string_view target);
    // Adds a pair. Add all pairs in order.
    void add(std::string_view source, std::string_view target);

    // Randomly: `test` sources, then `valid` ones, the first pair of each, without validation pairs that share a target
    // with a test pair. The result depends only on the pairs and the seed. Error if there are too few pairs.
    void choose(const HoldOutSizes& sizes);
    // The part of the i-th added pair.
    Part part_of(std::size_t i) const;

private:
    struct Keys {
        std::uint64_t source = 0, target = 0;
    };
    bool names_classes() const;
    void hold(std::size_t pair, Part part);
    void choose_randomly(const HoldOutSizes& sizes);

    std::vector<Keys> pairs_;
    std::vector<std::size_t> firsts_;                      // the first pair of each different source
    std::unordered_map<std::uint64_t, std::size_t> seen_;  // source -> its index in firsts_
    std::unordered_map<std::size_t, Part> held_;           // pair -> its part
    std::unordered_set<std::uint64_t> sources_, targets_;  // held out or excluded
    bool classes_ = false;                                 // targets are names of classes
};

}  // namespace headscope
