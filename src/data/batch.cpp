#include "data/batch.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "support/check.h"

namespace headscope {

namespace {

// Ids [sentences, length] and the number of real ones in each row.
struct Padded {
    std::int64_t length = 0;
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> lengths;
};

// Each row consists of `before`, the pieces, `after` and `pad` up to the padded length of the longest row.
template <class PiecesOf>
Padded pad_rows(std::size_t rows, PiecesOf pieces_of, std::span<const std::int32_t> before,
                std::span<const std::int32_t> after, std::int32_t pad, const Padding& padding) {
    const std::size_t special = before.size() + after.size();
    std::size_t longest = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        longest = std::max(longest, pieces_of(row).size() + special);
    }
    Padded padded;
    padded.length = padding.of(static_cast<std::int64_t>(longest));
    const std::size_t length = static_cast<std::size_t>(padded.length);
    // Indices are 32-bit on the device.
    HEADSCOPE_CHECK(length == 0 || rows <= std::numeric_limits<std::int32_t>::max() / length, "a batch is too large");
    padded.ids.assign(rows * length, pad);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::vector<std::int32_t>& pieces = pieces_of(row);
        auto to = padded.ids.begin() + static_cast<std::ptrdiff_t>(row * length);
        to = std::copy(before.begin(), before.end(), to);
        to = std::copy(pieces.begin(), pieces.end(), to);
        std::copy(after.begin(), after.end(), to);
        padded.lengths.push_back(static_cast<std::int32_t>(pieces.size() + special));
    }
    return padded;
}

// Real positions sorted by id, equal ids in the batch's order; padding last as kNoPosition.
std::vector<std::int32_t> order_by_id(const Padded& padded) {
    std::vector<std::int32_t> order;
    order.reserve(padded.ids.size());
    for (std::size_t row = 0; row < padded.lengths.size(); ++row) {
        for (std::int32_t column = 0; column < padded.lengths[row]; ++column) {
            order.push_back(static_cast<std::int32_t>(row) * static_cast<std::int32_t>(padded.length) + column);
        }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return padded.ids[static_cast<std::size_t>(a)] < padded.ids[static_cast<std::size_t>(b)];
    });
    order.resize(padded.ids.size(), kNoPosition);
    return order;
}

template <class PairOf>
Batch build(std::size_t sentences, PairOf pair_of, const SpecialIds& ids, std::int32_t first_ordinal,
            const Padding& padding) {
    HEADSCOPE_CHECK(sentences > 0, "a batch has at least one sentence");
    const auto source_of = [&](std::size_t row) -> const std::vector<std::int32_t>& { return pair_of(row).source; };
    const auto target_of = [&](std::size_t row) -> const std::vector<std::int32_t>& { return pair_of(row).target; };
    Padded source = pad_rows(sentences, source_of, {}, {&ids.eos, 1}, ids.pad, padding);
    Padded target_in = pad_rows(sentences, target_of, {&ids.bos, 1}, {}, ids.pad, padding);
    Padded target_out = pad_rows(sentences, target_of, {}, {&ids.eos, 1}, kNoTarget, padding);
    Batch batch;
    batch.sentences = static_cast<std::int64_t>(sentences);
    batch.source_length = source.length;
    batch.target_length = target_in.length;
    batch.source_order = order_by_id(source);
    batch.target_order = order_by_id(target_in);
    batch.source_tokens = std::accumulate(source.lengths.begin(), source.lengths.end(), std::int64_t{0});
    batch.target_tokens = std::accumulate(target_out.lengths.begin(), target_out.lengths.end(), std::int64_t{0});
    batch.source = std::move(source.ids);
    batch.source_lengths = std::move(source.lengths);
    batch.target_in = std::move(target_in.ids);
    batch.target_out = std::move(target_out.ids);
    batch.target_lengths = std::move(target_in.lengths);
    batch.ordinals.resize(sentences);
    std::iota(batch.ordinals.begin(), batch.ordinals.end(), first_ordinal);
    return batch;
}

}  // namespace

Batch make_batch(std::span<const Pair> pairs, const SpecialIds& ids, std::int32_t first_ordinal,
                 const Padding& padding) {
    return build(
        pairs.size(), [&](std::size_t row) -> const Pair& { return pairs[row]; }, ids, first_ordinal, padding);
}

Batch make_batch(std::span<const Pair* const> pairs, const SpecialIds& ids, std::int32_t first_ordinal,
                 const Padding& padding) {
    return build(
        pairs.size(), [&](std::size_t row) -> const Pair& { return *pairs[row]; }, ids, first_ordinal, padding);
}

Batch make_source_batch(std::span<const std::vector<std::int32_t>> sentences, const SpecialIds& ids,
                        const Padding& padding) {
    HEADSCOPE_CHECK(!sentences.empty(), "a batch has at least one sentence");
    const auto source_of = [&](std::size_t row) -> const std::vector<std::int32_t>& { return sentences[row]; };
    Padded source = pad_rows(sentences.size(), source_of, {}, {&ids.eos, 1}, ids.pad, padding);
    Batch batch;
    batch.sentences = static_cast<std::int64_t>(sentences.size());
    batch.source_length = source.length;
    batch.source_order = order_by_id(source);
    batch.source_tokens = std::accumulate(source.lengths.begin(), source.lengths.end(), std::int64_t{0});
    batch.source = std::move(source.ids);
    batch.source_lengths = std::move(source.lengths);
    batch.ordinals.resize(sentences.size());
    std::iota(batch.ordinals.begin(), batch.ordinals.end(), 0);
    return batch;
}

}  // namespace headscope
