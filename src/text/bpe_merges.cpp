#include "text/bpe_merges.h"

#include <functional>
#include <optional>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

namespace {

std::uint64_t key(std::int32_t left, std::int32_t right) {
    return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32U) | static_cast<std::uint32_t>(right);
}

}  // namespace

void append_symbol(std::vector<BpeSymbol>& symbols, std::int32_t id, std::size_t begin, std::size_t end) {
    const auto count = static_cast<std::ptrdiff_t>(symbols.size());
    symbols.push_back({id, begin, end, count - 1, count + 1});
}

BpeMerges::BpeMerges(const Vocabulary& vocabulary, const std::vector<std::pair<std::string, std::string>>& merges) {
    const auto id_of = [&](const std::string& piece, std::size_t rank) {
        const std::optional<std::int32_t> id = vocabulary.find(piece);
        if (!id) {
            throw Error(fmt::format("{}: the merge {}, '{} {}', needs the piece '{}', which is not in the vocabulary",
                                    vocabulary.name(), rank + 1, merges[rank].first, merges[rank].second, piece));
        }
        return *id;
    };
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
        const auto& [left, right] = merges[rank];
        const std::uint64_t pair = key(id_of(left, rank), id_of(right, rank));
        merges_.insert_or_assign(pair, Merge{static_cast<std::int32_t>(rank), id_of(left + right, rank)});
    }
}

const BpeMerges::Merge* BpeMerges::merge_of(std::int32_t left, std::int32_t right) const {
    const auto found = merges_.find(key(left, right));
    return found == merges_.end() ? nullptr : &found->second;
}

void BpeMerges::merge(std::vector<BpeSymbol>& symbols) const {
    using Step = std::tuple<std::int32_t, std::ptrdiff_t, std::int32_t>;  // rank, place of the left symbol, new id
    std::priority_queue<Step, std::vector<Step>, std::greater<>> steps;
    const auto count = static_cast<std::ptrdiff_t>(symbols.size());
    const auto at = [&](std::ptrdiff_t place) -> BpeSymbol& { return symbols[static_cast<std::size_t>(place)]; };
    const auto propose = [&](std::ptrdiff_t left) {
        const Merge* merge = left >= 0 && at(left).next < count ? merge_of(at(left).id, at(at(left).next).id) : nullptr;
        if (merge != nullptr) {
            steps.emplace(merge->rank, left, merge->id);
        }
    };
    for (std::ptrdiff_t place = 0; place < count; ++place) {
        propose(place);
    }
    while (!steps.empty()) {
        const auto [rank, place, id] = steps.top();
        steps.pop();
        BpeSymbol& left = at(place);
        const Merge* merge = left.merged || left.next >= count ? nullptr : merge_of(left.id, at(left.next).id);
        if (merge == nullptr || merge->id != id) {
            continue;  // another merge took a part of this pair
        }
        BpeSymbol& right = at(left.next);
        right.merged = true;
        left.id = id;
        left.end = right.end;
        left.next = right.next;
        if (left.next < count) {
            at(left.next).previous = place;
        }
        propose(left.previous);
        propose(place);
    }
}

}  // namespace headscope
