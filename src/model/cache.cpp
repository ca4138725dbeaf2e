#include "model/cache.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "backend/ops/elementwise.h"
#include "backend/ops/search.h"
#include "data/batch.h"
#include "support/check.h"

namespace headscope {

namespace {

Shape with_rows(Shape shape, std::int64_t rows) {
    shape.set(0, rows);
    return shape;
}

Tensor gathered(Backend& backend, const Tensor& x, const Tensor& index) {
    Tensor out = backend.empty(with_rows(x.shape, index.dim(0)), x.dtype);
    backend.run(GatherRows{.x = x, .index = index, .out = out});
    return out;
}

std::vector<std::int64_t> depths_of(const std::vector<Tensor>& kept) {
    std::vector<std::int64_t> depths;
    std::transform(kept.begin(), kept.end(), std::back_inserter(depths),
                   [](const Tensor& tensor) { return tensor.dim(3); });
    return depths;
}

// Slots [begin, end) of all rows.
void clear_slots(Backend& backend, const Tensor& kept, std::int64_t begin, std::int64_t end) {
    if (begin < end) {
        backend.run(Fill{.out = kept.narrow(2, begin, end - begin), .value = 0.0F});
    }
}

void set_position(Backend& backend, const Tensor& position, std::int64_t length) {
    backend.run(Fill{.out = position, .value = static_cast<float>(length)});
}

}  // namespace

Cache::Cache(Backend& backend, const CachePlan& plan, std::size_t layer_count, std::int64_t row_count,
             std::int64_t room, DType dtype)
    : layers(layer_count),
      position(backend.empty({1}, DType::I32)),
      slot(plan.window > 0 ? backend.empty({1}, DType::I32) : position),
      heads(plan.heads),
      rows(row_count),
      window(plan.window),
      by_rows(plan.by_rows) {
    set_positions(backend);
    if (heads > 0) {
        room = window > 0 ? std::min(room, 2 * window) : room;
        allocate(backend, plan.d_k == plan.d_v ? std::vector{plan.d_k} : std::vector{plan.d_k, plan.d_v}, rows,
                 padded_length(std::max<std::int64_t>(room, 1)), dtype);
    }
    for (Layer& layer : layers) {
        for (const CachePlan::State& state : plan.states) {
            layer.states.push_back(
                backend.empty(with_rows(state.shape, rows), state.full ? backend.full_dtype() : dtype));
            backend.run(Fill{.out = layer.states.back(), .value = 0.0F});
        }
    }
}

void Cache::allocate(Backend& backend, const std::vector<std::int64_t>& depths, std::int64_t row_count,
                     std::int64_t room, DType dtype) {
    const auto all_heads = static_cast<std::int64_t>(layers.size()) * heads * (depths.size() == 1 ? 2 : 1);
    const std::int64_t first = outdated();
    kept.resize(depths.size());
    for (std::size_t i = 0; i < depths.size(); ++i) {
        Tensor& old = kept[i];
        const Tensor grown = backend.empty({row_count, all_heads, room, depths[i]}, dtype);
        if (old.defined()) {
            const std::int64_t count = padded_length(filled()) - first;
            backend.run(
                Copy{.x = old.narrow(2, first, count), .out = grown.narrow(0, 0, old.dim(0)).narrow(2, 0, count)});
        }
        old = grown;
    }
    capacity = room;
    set_views();
    if (first > 0) {
        forgotten += first;
        set_positions(backend);
        named_.erase(named_.begin(), named_.begin() + std::min<std::ptrdiff_t>(first * rows, std::ssize(named_)));
    }
}

void Cache::set_views() {
    for (std::size_t i = 0; i < layers.size() && !kept.empty(); ++i) {
        const auto first = static_cast<std::int64_t>(i) * heads;
        Layer& layer = layers[i];
        if (kept.size() == 1) {
            layer.self_both = kept[0].narrow(1, 2 * first, 2 * heads);
            layer.self_keys = layer.self_both.narrow(1, 0, heads);
            layer.self_values = layer.self_both.narrow(1, heads, heads);
        } else {
            layer.self_keys = kept[0].narrow(1, first, heads);
            layer.self_values = kept[1].narrow(1, first, heads);
        }
    }
}

std::int64_t Cache::outdated() const {
    return window > 0 ? std::max<std::int64_t>(filled() - (window - 1), 0) / kLengthMultiple * kLengthMultiple : 0;
}

void Cache::set_positions(Backend& backend) {
    set_position(backend, position, length);
    if (window > 0) {
        set_position(backend, slot, filled());
    }
    if (!begins_.empty()) {
        std::vector<std::int32_t> counts;
        std::transform(begins_.begin(), begins_.end(), std::back_inserter(counts),
                       [&](std::int32_t begin) { return static_cast<std::int32_t>(length) - begin; });
        backend.upload(positions, counts.data(), counts.size() * sizeof(std::int32_t));
    }
}

void Cache::make_room(Backend& backend, std::int64_t tokens) {
    HEADSCOPE_CHECK(begins_.empty() || tokens == 1, "rows that begin at different slots read one token at a time");
    const std::int64_t before = forgotten;
    if (!kept.empty() && filled() + tokens > capacity) {
        const std::int64_t first = outdated();
        const std::int64_t most = first > 0 ? padded_length(2 * window) : 2 * capacity;
        allocate(backend, depths_of(kept), kept.front().dim(0),
                 std::max(most, padded_length(filled() - first + tokens)), kept.front().dtype);
    }
    if (!named_.empty()) {
        name_rows(backend, padded_length(filled() + tokens), forgotten > before);
    }
    // Attention reads up to a multiple. Masked entries have weight 0, but 0 times uninitialised memory could be NaN.
    const std::int64_t clean = padded_length(filled());
    for (const Tensor& tensor : kept) {
        clear_slots(backend, tensor, clean, padded_length(filled() + tokens));
    }
}

// Makes key_rows what `named_` says, for so many keys: those to come are each row's own.
void Cache::name_rows(Backend& backend, std::int64_t keys, bool changed) {
    for (auto at = std::ssize(named_); at < keys * rows; ++at) {
        named_.push_back(static_cast<std::int32_t>(at % rows));
    }
    const Shape shape{keys, rows};
    if (!key_rows.defined() || key_rows.shape != shape) {
        key_rows = backend.empty(shape, DType::I32);
        changed = true;
    }
    if (changed) {
        backend.upload(key_rows, named_.data(), named_.size() * sizeof(std::int32_t));
    }
}

void Cache::advance(Backend& backend, std::int64_t tokens) {
    length += tokens;
    set_positions(backend);
}

bool Cache::can_go_back() const {
    return window == 0 &&
           std::all_of(layers.begin(), layers.end(), [](const Layer& layer) { return layer.states.empty(); });
}

void Cache::go_back(Backend& backend, std::int64_t tokens) {
    HEADSCOPE_CHECK(can_go_back() && tokens <= length, "tokens that a cache needs cannot be taken back");
    if (tokens > 0) {
        length -= tokens;
        set_positions(backend);
        if (!named_.empty()) {
            named_.resize(static_cast<std::size_t>(filled() * rows));
            name_rows(backend, padded_length(filled() + 1), true);
        }
    }
}

Cache Cache::reorder(Backend& backend, const Tensor& new_rows, const Tensor& sources) const {
    HEADSCOPE_CHECK(begins_.empty(), "the host must know which rows remain of some that begin at different slots");
    return reorder(backend, new_rows, sources, outdated());
}

Cache Cache::reorder(Backend& backend, const std::vector<std::int32_t>& new_rows, const Tensor& sources) const {
    const Tensor index = make_from_host<std::int32_t>(backend, {std::ssize(new_rows)}, DType::I32, new_rows);
    if (begins_.empty()) {
        return reorder(backend, index, sources, outdated());
    }
    std::vector<std::int32_t> begins;
    for (const std::int32_t row : new_rows) {
        begins.push_back(begins_.at(static_cast<std::size_t>(row)));
    }
    const std::int32_t first = *std::min_element(begins.begin(), begins.end());
    Cache next = reorder(backend, index, sources, first);
    next.length -= first;
    next.forgotten -= first;
    std::transform(begins.begin(), begins.end(), begins.begin(), [&](std::int32_t begin) { return begin - first; });
    next.begin_at(backend, std::move(begins));
    next.set_positions(backend);
    return next;
}

// Gives up the slots before `first`.
Cache Cache::reorder(Backend& backend, const Tensor& new_rows, const Tensor& sources, std::int64_t first) const {
    HEADSCOPE_CHECK(!key_rows.defined(), "a cache that follows is not reordered");
    const std::int64_t row_count = new_rows.dim(0);
    // Copies only the tokens that are cached, into room for just one more: a beam reorders at every step, and so it
    // mostly copies contiguous rows.
    Cache next = *this;
    next.begins_.clear();
    next.rows = row_count;
    next.forgotten += first;
    next.capacity = padded_length(next.filled() + 1);
    // Up to the next multiple, as `kept` says.
    const std::int64_t moved = std::min(padded_length(filled()) - first, padded_length(next.filled()));
    for (Tensor& tensor : next.kept) {
        const Tensor old = tensor.narrow(2, first, moved);
        Shape shape = with_rows(tensor.shape, row_count);
        shape.set(2, next.capacity);
        tensor = backend.empty(shape, old.dtype);
        backend.run(GatherRows{.x = old, .index = new_rows, .out = tensor.narrow(2, 0, moved)});
        clear_slots(backend, tensor, moved, padded_length(next.filled()));
    }
    for (Layer& layer : next.layers) {
        for (Tensor& state : layer.states) {
            state = gathered(backend, state, new_rows);
        }
    }
    next.keep_sources(backend, sources, row_count);
    // The old cache keeps its own position.
    next.position = backend.empty({1}, DType::I32);
    next.slot = window > 0 ? backend.empty({1}, DType::I32) : next.position;
    next.set_positions(backend);
    next.set_views();
    return next;
}

void Cache::follow(Backend& backend, const std::vector<std::int32_t>& parents, const Tensor& sources) {
    HEADSCOPE_CHECK(by_rows, "this cache can only be reordered");
    const auto row_count = static_cast<std::int64_t>(parents.size());
    if (row_count > kept.front().dim(0)) {
        allocate(backend, depths_of(kept), row_count, capacity, kept.front().dtype);
    }
    std::vector<std::int32_t> named;
    for (std::int64_t token = 0; token < filled(); ++token) {
        for (const std::int32_t parent : parents) {
            named.push_back(named_.empty() ? parent : named_[static_cast<std::size_t>(token * rows + parent)]);
        }
    }
    named_ = std::move(named);
    keep_sources(backend, sources, row_count);
    rows = row_count;
    if (!begins_.empty()) {
        std::vector<std::int32_t> begins;
        for (const std::int32_t parent : parents) {
            begins.push_back(begins_.at(static_cast<std::size_t>(parent)));
        }
        begin_at(backend, std::move(begins));
        set_positions(backend);
    }
    name_rows(backend, padded_length(filled() + 1), true);
}

// Those of the rows to come, of which each source has the same number.
void Cache::keep_sources(Backend& backend, const Tensor& sources, std::int64_t row_count) {
    const bool crosses = source_lengths.defined();
    const std::int64_t count = sources.defined() ? sources.dim(0) : crosses ? source_lengths.dim(0) : row_count;
    HEADSCOPE_CHECK(count > 0 && row_count % count == 0,
                    fmt::format("{} rows cannot be divided equally among {} sources", row_count, count));
    if (sources.defined() && crosses) {
        source_lengths = gathered(backend, source_lengths, sources);
        for (Layer& layer : layers) {
            layer.cross_keys = gathered(backend, layer.cross_keys, sources);
            layer.cross_values = gathered(backend, layer.cross_values, sources);
        }
    }
}

void Cache::add_to(Dependencies& dependencies) const {
    for (const Layer& layer : layers) {
        dependencies.add(layer.cross_keys);
        dependencies.add(layer.cross_values);
        for (const Tensor& state : layer.states) {
            dependencies.add(state);
        }
    }
    for (const Tensor& tensor : kept) {  // self_keys and the like are views of it
        dependencies.add(tensor);
    }
    for (const Tensor& tensor : {key_rows, source_lengths, position, slot, key_ranges, positions}) {
        dependencies.add(tensor);
    }
    dependencies.add(rows);
    dependencies.add(padded_length(filled() + 1));  // the keys that are read
}

}  // namespace headscope
