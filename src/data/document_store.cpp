#include "data/document_store.h"

#include <algorithm>
#include <limits>

#include "support/check.h"
#include "support/random.h"

namespace headscope {

void DocumentStore::add(std::span<const std::int32_t> pieces) {
    for (; !pieces.empty(); pieces = pieces.subspan(std::min(pieces.size(), kPart))) {
        if (parts_.size() > std::numeric_limits<std::uint32_t>::max() / 4) {
            throw Error("more than a billion parts of documents are not supported: train on a part of the text");
        }
        if (begin_) {
            firsts_.push_back(static_cast<std::uint32_t>(parts_.size()));
            fingerprint_ = mix_bits(fingerprint_ ^ parts_.size());
        }
        begins_.push_back(begin_);
        begin_ = false;
        const auto part = pieces.first(std::min(pieces.size(), kPart));
        parts_.add({.target = {part.begin(), part.end()}});
    }
}

}  // namespace headscope
