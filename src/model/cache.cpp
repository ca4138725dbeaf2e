#include "model/cache.h"

#include <algorithm>

#include <fmt/format.h>

#include "data/batch.h"
#include "support/check.h"

namespace headscope {

namespace {

Shape with_rows(Shape shape, std::int64_t rows) {
    shape.set(0, rows);
    return shape;
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
      window(plan.window) {
    set_positions(backend);
    if (heads > 0) {
        room = window > 0 ? std::min(room, 2 * window) : room;
        allocate(backend, plan.d_k == plan.d_v ? std::vector{plan.d_k} : std::vector{plan.d_k, plan.d_v},
                 padded_length(std::max<std::int64_t>(room, 1)), dtype);
    }
    for (Layer& layer : layers) {
        for (const CachePlan::State& state : plan.states) {
            layer.states.push_back(backend.empty(with_rows(state.shape, rows), state.full ? backend.real() : dtype));
            backend.run(Fill{.out = layer.states.back(), .value = 0.0F});
        }
    }
}

void Cache::allocate(Backend& backend, const std::vector<std::int64_t>& depths, std::int64_t room, DType dtype) {
    const auto all_heads = static_cast<std::int64_t>(layers.size()) * heads * (depths.size() == 1 ? 2 : 1);
    kept.resize(depths.size());
    for (std::size_t i = 0; i < depths.size(); ++i) {
        Tensor& old = kept[i];
        const Tensor grown = backend.empty({rows, all_heads, room, depths[i]}, dtype);
        if (old.defined()) {
            const std::int64_t first = outdated();
            const std::int64_t count = padded_length(filled()) - first;
            backend.run(Copy{.x = old.narrow(2, first, count), .out = grown.narrow(2, 0, count)});
        }
        old = grown;
    }
    capacity = room;
    set_views();
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
}

void Cache::make_room(Backend& backend, std::int64_t tokens) {
    if (!kept.empty() && filled() + tokens > capacity) {
        std::vector<std::int64_t> depths;
        for (const Tensor& tensor : kept) {
            depths.push_back(tensor.dim(3));
        }
        const std::int64_t first = outdated();
        const std::int64_t most = first > 0 ? padded_length(2 * window) : 2 * capacity;
        allocate(backend, depths, std::max(most, padded_length(filled() - first + tokens)), kept.front().dtype);
        if (first > 0) {
            forgotten += first;
            set_positions(backend);
        }
    }
    // Attention reads up to a multiple. Masked entries have weight 0, but 0 times uninitialised memory could be NaN.
    const std::int64_t clean = padded_length(filled());
    const std::int64_t dirty = padded_length(filled() + tokens) - clean;
    for (const Tensor& tensor : kept) {
        if (dirty > 0) {
            backend.run(Fill{.out = tensor.narrow(2, clean, dirty), .value = 0.0F});
        }
    }
}

void Cache::advance(Backend& backend, std::int64_t tokens) {
    length += tokens;
    set_positions(backend);
}

Cache Cache::reorder(Backend& backend, const Tensor& new_rows, const Tensor& sources) const {
    const bool crosses = source_lengths.defined();
    const std::int64_t row_count = new_rows.dim(0);
    const std::int64_t new_sources = sources.defined() ? sources.dim(0) : crosses ? source_lengths.dim(0) : row_count;
    HEADSCOPE_CHECK(new_sources > 0 && row_count % new_sources == 0,
                    fmt::format("{} rows cannot be divided equally among {} sources", row_count, new_sources));
    const auto gather = [&](const Tensor& x, const Tensor& index) {
        Tensor out = backend.empty(with_rows(x.shape, index.dim(0)), x.dtype);
        backend.run(GatherRows{.x = x, .index = index, .out = out});
        return out;
    };
    // Copies only the tokens that are cached, into room for just one more: a beam reorders at every step, and so it
    // mostly copies contiguous rows.
    const std::int64_t first = outdated();
    const std::int64_t moved = padded_length(filled()) - first;
    Cache next = *this;
    next.rows = row_count;
    next.forgotten += first;
    next.capacity = padded_length(next.filled() + 1);
    for (Tensor& tensor : next.kept) {
        const Tensor old = tensor.narrow(2, first, moved);
        Shape shape = with_rows(tensor.shape, row_count);
        shape.set(2, next.capacity);
        tensor = backend.empty(shape, old.dtype);
        backend.run(GatherRows{.x = old, .index = new_rows, .out = tensor.narrow(2, 0, moved)});
    }
    for (Layer& layer : next.layers) {
        for (Tensor& state : layer.states) {
            state = gather(state, new_rows);
        }
    }
    if (sources.defined() && crosses) {
        next.source_lengths = gather(source_lengths, sources);
        for (Layer& layer : next.layers) {
            layer.cross_keys = gather(layer.cross_keys, sources);
            layer.cross_values = gather(layer.cross_values, sources);
        }
    }
    // The old cache keeps its own position.
    next.position = backend.empty({1}, DType::I32);
    next.slot = window > 0 ? backend.empty({1}, DType::I32) : next.position;
    next.set_positions(backend);
    next.set_views();
    return next;
}

}  // namespace headscope
