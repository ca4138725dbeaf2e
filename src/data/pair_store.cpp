#include "data/pair_store.h"

#include <limits>

#include "support/check.h"
#include "support/random.h"

namespace headscope {
namespace {

void pack(std::vector<unsigned char>& bytes, const std::vector<std::int32_t>& ids) {
    for (const std::int32_t id : ids) {
        auto rest = static_cast<std::uint32_t>(id);
        for (; rest >= 0x80U; rest >>= 7U) {
            bytes.push_back(static_cast<unsigned char>(rest | 0x80U));
        }
        bytes.push_back(static_cast<unsigned char>(rest));
    }
}

const unsigned char* unpack(const unsigned char* at, std::vector<std::int32_t>& ids, std::size_t count) {
    ids.reserve(count);
    while (ids.size() < count) {
        std::uint32_t id = 0;
        unsigned shift = 0;
        for (; (*at & 0x80U) != 0; ++at, shift += 7) {
            id |= (*at & 0x7fU) << shift;
        }
        ids.push_back(static_cast<std::int32_t>(id | static_cast<std::uint32_t>(*at++) << shift));
    }
    return at;
}

}  // namespace

PairStore::PairStore(const std::string& folder, std::size_t in_memory) : bytes_(folder, in_memory) {}

void PairStore::add(const Example& pair) {
    constexpr std::size_t kLongest = std::numeric_limits<std::uint32_t>::max();
    HEADSCOPE_CHECK(pair.source.size() <= kLongest && pair.target.size() <= kLongest,
                    "a side has more than 4 billion pieces");
    HEADSCOPE_CHECK(pair.labels.empty() && pair.starts.empty() && pair.types.empty() && pair.weights.empty() &&
                        pair.source_begin.empty() && pair.ranks.empty(),
                    "a pair store keeps the ids of two sides alone: no labels, starts, types, weights, languages or "
                    "ranks");
    std::vector<unsigned char> packed;
    pack(packed, pair.source);
    pack(packed, pair.target);
    starts_.push_back(bytes_.append(packed.data(), packed.size()));
    source_lengths_.push_back(static_cast<std::uint32_t>(pair.source.size()));
    target_lengths_.push_back(static_cast<std::uint32_t>(pair.target.size()));
    source_tokens_ += static_cast<std::int64_t>(pair.source.size());
    target_tokens_ += static_cast<std::int64_t>(pair.target.size());
    for (const std::vector<std::int32_t>* ids : {&pair.source, &pair.target}) {
        fingerprint_ = mix_bits(fingerprint_ ^ ids->size());
        for (const std::int32_t id : *ids) {
            fingerprint_ = mix_bits(fingerprint_ ^ static_cast<std::uint32_t>(id));
        }
    }
}

Example PairStore::pair(std::size_t i) const {
    const std::uint64_t start = starts_.at(i);
    const std::uint64_t end = i + 1 < starts_.size() ? starts_[i + 1] : bytes_.size();
    std::vector<unsigned char> packed(static_cast<std::size_t>(end - start));
    bytes_.read(start, packed.data(), packed.size());
    Example pair;
    const unsigned char* at = unpack(packed.data(), pair.source, source_lengths_[i]);
    unpack(at, pair.target, target_lengths_[i]);
    return pair;
}

}  // namespace headscope
