// Compact storage of documents as ids: a few bytes per part in memory, the ids possibly on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/pair_store.h"

namespace headscope {

class DocumentStore {
public:
    static constexpr std::size_t kPart = 1024;  // pieces at most, so that a block of a long document is read quickly

    // See PairStore.
    explicit DocumentStore(const std::string& folder) : parts_(folder) {}

    // Begins a document. Documents without pieces do not count.
    void begin() { begin_ = true; }
    // Adds pieces at the end of the last document.
    void add(std::span<const std::int32_t> pieces);

    std::size_t documents() const { return firsts_.size(); }
    std::int64_t pieces() const { return parts_.target_tokens(); }  // of all documents
    // The parts of a document are [first_part(i), first_part(i + 1)).
    std::uint32_t first_part(std::size_t document) const {
        return document < firsts_.size() ? firsts_[document] : static_cast<std::uint32_t>(parts_.size());
    }

    std::vector<std::int32_t> part(std::uint32_t i) const { return parts_.pair(i).target; }  // thread-safe
    std::int64_t length(std::uint32_t part) const { return parts_.target_length(part); }
    bool begins(std::uint32_t part) const { return begins_[part]; }  // a document
    bool ends(std::uint32_t part) const { return part + 1 == begins_.size() || begins_[part + 1]; }
    std::uint64_t fingerprint() const { return fingerprint_ ^ parts_.fingerprint(); }

private:
    PairStore parts_;  // without sources
    std::vector<std::uint32_t> firsts_;
    std::vector<bool> begins_;
    std::uint64_t fingerprint_ = 0;  // of firsts_
    bool begin_ = true;
};

}  // namespace headscope
