// The merges of byte pair encoding, by ids of pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/vocabulary.h"

namespace headscope {

// A piece of a word, in a linked list.
struct BpeSymbol {
    std::int32_t id;         // -1: unknown, never merged
    std::size_t begin, end;  // bytes of the word
    std::ptrdiff_t previous, next;
    bool merged = false;  // into its predecessor
};

void append_symbol(std::vector<BpeSymbol>& symbols, std::int32_t id, std::size_t begin, std::size_t end);

class BpeMerges {
public:
    // In the order in which they were learned. Error if a piece of a merge is not in the vocabulary.
    BpeMerges(const Vocabulary& vocabulary, const std::vector<std::pair<std::string, std::string>>& merges);

    // In each step merges the pair that was learned first, the leftmost of equals.
    void merge(std::vector<BpeSymbol>& symbols) const;

private:
    struct Merge {
        std::int32_t rank, id;
    };
    const Merge* merge_of(std::int32_t left, std::int32_t right) const;

    std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace headscope
