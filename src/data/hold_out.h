// Which pairs are kept from training, so that what is measured on them was never seen.
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
    Shared  // a side is one of the held-out pairs': in no part
};

struct HoldOutSizes {
    std::int64_t valid = 0, test = 0;
    // The last pairs, as of documents in order, whose neighbours would otherwise be trained on; else any, by the seed.
    bool last = false;
    std::uint64_t seed = 1;
};

// Sides are the same when their normalised_text is. Memory: some 60 bytes a pair whose source is new.
class HoldOut {
public:
    // Pairs that must not be trained on, such as another corpus's test part. An empty side (is_empty_text) excludes
    // nothing.
    void exclude(std::string_view source, std::string_view target);
    // All pairs, in order.
    void add(std::string_view source, std::string_view target);

    // By chance: of `test` sources, then of `valid` ones, the first pair each, without those validation pairs that
    // share a target with a test pair. The same for the same pairs and seed. Error when there are too few pairs.
    void choose(const HoldOutSizes& sizes);
    // Of the pair that was added as the i-th.
    Part part_of(std::size_t i) const;

private:
    struct Keys {
        std::uint64_t source = 0, target = 0;
    };
    void hold(std::size_t pair, Part part);
    void choose_by_chance(const HoldOutSizes& sizes);

    std::vector<Keys> pairs_;
    std::vector<std::size_t> firsts_;                      // of each different source, the first pair that has it
    std::unordered_map<std::uint64_t, std::size_t> seen_;  // source: its place in firsts_
    std::unordered_map<std::size_t, Part> held_;           // pair: its part
    std::unordered_set<std::uint64_t> sources_, targets_;  // held out or excluded
};

}  // namespace headscope
