// Cache: rows with different numbers of tokens side by side.
#include <algorithm>
#include <limits>
#include <utility>

#include "backend/ops/elementwise.h"
#include "data/batch.h"
#include "model/cache.h"
#include "support/check.h"

namespace headscope {

namespace {

// Copies the first `count` entries of each row of `x` along dimension 2 to rows [row, ...) of `out`, from entry `at`
// on, and makes the others 0.
void place(Backend& backend, const Tensor& x, std::int64_t count, const Tensor& out, std::int64_t row,
           std::int64_t at) {
    const Tensor rows = out.narrow(0, row, x.dim(0));
    const auto clear = [&](std::int64_t begin, std::int64_t end) {
        if (begin < end) {
            backend.run(Fill{.out = rows.narrow(2, begin, end - begin), .value = 0.0F});
        }
    };
    clear(0, at);
    if (count > 0) {
        backend.run(Copy{.x = x.narrow(2, 0, count), .out = rows.narrow(2, at, count)});
    }
    clear(at + count, out.dim(2));
}

// [rows of both, heads, entries, depth]
Tensor joined(Backend& backend, const Tensor& one, std::int64_t of_one, const Tensor& other, std::int64_t of_other,
              std::int64_t entries, bool at_end, std::int64_t end) {
    Shape shape = one.shape;
    shape.set(0, one.dim(0) + other.dim(0));
    shape.set(2, entries);
    const Tensor out = backend.empty(shape, one.dtype);
    place(backend, one, of_one, out, 0, at_end ? end - of_one : 0);
    place(backend, other, of_other, out, one.dim(0), at_end ? end - of_other : 0);
    return out;
}

}  // namespace

std::int64_t Cache::longest() const {
    return begins_.empty() ? length : length - *std::min_element(begins_.begin(), begins_.end());
}

bool Cache::can_join() const {
    return can_go_back() && !kept.empty() && !key_rows.defined() &&
           (!source_lengths.defined() || source_lengths.dim(0) == rows);
}

void Cache::join(Backend& backend, const Cache& other) {
    HEADSCOPE_CHECK(can_join() && other.can_join() && layers.size() == other.layers.size(),
                    "these caches cannot be joined");
    const std::int64_t filled = std::max(length, other.length);
    std::vector<std::int32_t> begins;
    for (const Cache* cache : {static_cast<const Cache*>(this), &other}) {
        for (std::int64_t row = 0; row < cache->rows; ++row) {
            const std::int32_t own = cache->begins_.empty() ? 0 : cache->begins_[static_cast<std::size_t>(row)];
            begins.push_back(own + static_cast<std::int32_t>(filled - cache->length));
        }
    }
    capacity = std::max({capacity, other.capacity, padded_length(filled + 1)});
    for (std::size_t i = 0; i < kept.size(); ++i) {
        kept[i] = joined(backend, kept[i].narrow(0, 0, rows), length, other.kept[i].narrow(0, 0, other.rows),
                         other.length, capacity, true, filled);
    }
    if (source_lengths.defined()) {
        join_sources(backend, other);
    }
    rows += other.rows;
    length = filled;
    begin_at(backend, std::move(begins));
    set_positions(backend);
    set_views();
}

// Sources are padded to the longest.
void Cache::join_sources(Backend& backend, const Cache& other) {
    std::vector<std::int32_t> all = to_host<std::int32_t>(backend, source_lengths);
    const auto more = to_host<std::int32_t>(backend, other.source_lengths);
    all.insert(all.end(), more.begin(), more.end());
    source_lengths = make_from_host<std::int32_t>(backend, {std::ssize(all)}, DType::I32, all);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        for (Tensor Layer::*part : {&Layer::cross_keys, &Layer::cross_values}) {
            const Tensor& own = layers[i].*part;
            const Tensor& added = other.layers[i].*part;
            layers[i].*part =
                joined(backend, own, own.dim(2), added, added.dim(2), std::max(own.dim(2), added.dim(2)), false, 0);
        }
    }
}

// Undefined ranges where all begin at the first slot, so that steps are those of rows that have joined none.
void Cache::begin_at(Backend& backend, std::vector<std::int32_t> begins) {
    begins_ = std::move(begins);
    key_ranges = positions = Tensor();
    if (std::all_of(begins_.begin(), begins_.end(), [](std::int32_t begin) { return begin == 0; })) {
        begins_.clear();
        return;
    }
    std::vector<std::int32_t> ranges;
    for (const std::int32_t begin : begins_) {
        ranges.insert(ranges.end(), {begin, std::numeric_limits<std::int32_t>::max()});
    }
    key_ranges = make_from_host<std::int32_t>(backend, {std::ssize(begins_), 1, 2}, DType::I32, ranges);
    positions = backend.empty({std::ssize(begins_)}, DType::I32);
}

}  // namespace headscope
