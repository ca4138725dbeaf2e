// Compact storage of sentence pairs as ids: a few bytes per pair in memory, the ids possibly on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "io/scratch.h"

namespace headscope {

class PairStore {
public:
    // `folder`: for ids that do not fit in memory, see Scratch.
    explicit PairStore(const std::string& folder, std::size_t in_memory = Scratch::kInMemory);

    void add(const Example& pair);  // of a source and a target alone

    std::size_t size() const { return starts_.size(); }
    // Pieces, without bos and eos.
    std::int64_t source_length(std::size_t i) const { return source_lengths_[i]; }
    std::int64_t target_length(std::size_t i) const { return target_lengths_[i]; }
    std::int64_t source_tokens() const { return source_tokens_; }  // of all pairs
    std::int64_t target_tokens() const { return target_tokens_; }
    Example pair(std::size_t i) const;  // thread-safe
    // Hash of all ids in order.
    std::uint64_t fingerprint() const { return fingerprint_; }

private:
    Scratch bytes_;  // source ids and target ids of each pair as varints
    std::vector<std::uint64_t> starts_;
    std::vector<std::uint32_t> source_lengths_, target_lengths_;
    std::int64_t source_tokens_ = 0, target_tokens_ = 0;
    std::uint64_t fingerprint_ = 0;
};

}  // namespace headscope
