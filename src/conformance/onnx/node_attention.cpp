// Attention of opset 23 to 25: heads in one tensor of rank 3 or 4, masks, a cache of past keys and values.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backend/compositions.h"
#include "backend/ops/attention.h"
#include "backend/ops/matmul.h"
#include "conformance/onnx/node_ops.h"

namespace headscope::conformance {

namespace {

// [batch, heads, length, depth], for both of ONNX's layouts.
struct Heads {
    Tensor tensor;
    std::int64_t batch() const { return tensor.dim(0); }
    std::int64_t heads() const { return tensor.dim(1); }
    std::int64_t length() const { return tensor.dim(2); }
    std::int64_t depth() const { return tensor.dim(3); }
};

// Rank 3 is [batch, length, heads x depth].
Heads heads_of(const NodeDevice& device, const OnnxTensor& x, std::int64_t heads) {
    if (x.rank() == 4) {
        return {device.put({x.dim(0), x.dim(1), x.dim(2), x.dim(3)}, x.values)};
    }
    if (x.rank() != 3 || heads <= 0 || x.dim(2) % heads != 0) {
        throw NotOurs("a query whose rank is not 3 or 4");
    }
    return {device.put({x.dim(0), x.dim(1), x.dim(2)}, x.values).heads(heads)};
}

// Appends the given keys or values to those of the past: a cache filled by CacheAppend.
Heads appended(const NodeDevice& device, const OnnxTensor* past, const Heads& now) {
    if (past == nullptr) {
        return now;
    }
    const std::int64_t before = past->dim(2);
    const Tensor cache = device.make({now.batch(), now.heads(), before + now.length(), now.depth()});
    const Tensor old = device.put({now.batch(), now.heads(), before, now.depth()}, past->values);
    device.backend().run(CacheAppend{old, device.put_index({1}, {0.0}), cache});
    device.backend().run(CacheAppend{now.tensor, device.put_index({1}, {static_cast<double>(before)}), cache});
    return {cache};
}

// The numbers to add to the scores [batch, heads, queries, keys]: -infinity for keys that a boolean mask forbids or
// that are past the end of a short mask.
std::vector<double> scores_added(const OnnxTensor& mask, const std::vector<std::int64_t>& dims) {
    OnnxTensor wide = mask;
    const std::int64_t columns = mask.rank() > 0 ? mask.dim(-1) : 1;
    if (columns > 1 && columns < dims.back()) {
        wide.dims.back() = dims.back();
        wide.values.clear();
        for (std::size_t i = 0; i < mask.values.size(); ++i) {
            wide.values.push_back(mask.values[i]);
            if (static_cast<std::int64_t>(i) % columns == columns - 1) {
                wide.values.insert(wide.values.end(), static_cast<std::size_t>(dims.back() - columns),
                                   mask.type == OnnxType::Bool ? 0.0 : -std::numeric_limits<double>::infinity());
            }
        }
    }
    std::vector<double> all = broadcast(wide, dims);
    if (mask.type == OnnxType::Bool) {
        for (double& value : all) {
            value = value != 0.0 ? 0.0 : -std::numeric_limits<double>::infinity();
        }
    }
    return all;
}

// Rank 4 as is, rank 3 with the heads next to each other again.
std::vector<double> out_of(const NodeDevice& device, const Tensor& out, bool packed) {
    return device.get(packed ? out.swap(1, 2) : out);
}

// The inputs and attributes of NodeCall that determine which keys a query may see.
struct Mask {
    const OnnxTensor* added;    // to the scores, or booleans
    const OnnxTensor* past;     // earlier keys, all before the first query
    const OnnxTensor* lengths;  // [batch], of keys that were appended elsewhere, including the queries' own
    bool causal;
    std::int64_t left, right;  // how far a query sees in each direction, -1 without limit

    explicit Mask(const NodeCall& call)
        : added(call.maybe(3)),
          past(call.maybe(4)),
          lengths(call.maybe(6)),
          causal(call.node.integer("is_causal", 0) != 0),
          left(call.node.integer("left_window_size", -1)),
          right(call.node.integer("right_window_size", -1)) {}

    std::int64_t length(std::int64_t sentence) const {
        return static_cast<std::int64_t>(lengths->values.at(static_cast<std::size_t>(sentence)));
    }
    // The first query's position among the keys; negative if there are fewer keys than queries.
    std::int64_t offset(std::int64_t sentence, std::int64_t queries) const {
        return past != nullptr ? past->dim(2) : lengths != nullptr ? length(sentence) - queries : 0;
    }
    bool is_rule() const { return added == nullptr && left < 0 && right < 0; }
    bool differs_by_sentence() const { return causal && past == nullptr && lengths != nullptr; }

    // The whole mask as numbers to add to the scores, -infinity for a forbidden key.
    std::vector<double> bias(const Shape& scores) const {
        const std::int64_t queries = scores[2];
        const std::int64_t keys = scores[3];
        std::vector<double> all(static_cast<std::size_t>(scores.elements()));
        if (added != nullptr) {
            all = scores_added(*added, {scores[0], scores[1], queries, keys});
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto row = static_cast<std::int64_t>(i) / keys;
            const std::int64_t key = static_cast<std::int64_t>(i) % keys;
            const std::int64_t sentence = row / (scores[1] * queries);
            const std::int64_t place = offset(sentence, queries) + row % queries;
            if ((causal && key > place) || (left >= 0 && key < place - left) || (right >= 0 && key > place + right) ||
                (lengths != nullptr && key >= length(sentence))) {
                all[i] = -std::numeric_limits<double>::infinity();
            }
        }
        return all;
    }
};

// Masks that AttentionMask can express: one op, or one for each sentence if their offsets differ.
void attend_by_rule(const NodeDevice& device, const Mask& mask, Attention op) {
    op.mask.causal = mask.causal;
    if (mask.lengths != nullptr) {
        op.mask.key_lengths = device.put_index({op.q.dim(0)}, mask.lengths->values);
    }
    const std::int64_t parts = mask.differs_by_sentence() ? op.q.dim(0) : 1;
    for (std::int64_t index = 0; index < parts; ++index) {
        Attention part = op;
        if (parts > 1) {
            for (Tensor* tensor : {&part.q, &part.k, &part.v, &part.out, &part.mask.key_lengths}) {
                *tensor = tensor->narrow(0, index, 1);
            }
        }
        part.mask.query_offset = device.put_index({1}, {static_cast<double>(mask.offset(index, op.q.dim(2)))});
        device.backend().run(part);
    }
}

// Appends rows of `depth` values in this order of their numbers.
void append_rows(std::vector<double>& to, const std::vector<double>& from, std::int64_t first,
                 const std::vector<std::int64_t>& order, std::int64_t depth) {
    for (const std::int64_t row : order) {
        const auto begin = from.begin() + (first + row) * depth;
        to.insert(to.end(), begin, begin + depth);
    }
}

// Any mask: each query becomes a sentence of its own with its keys reordered, the allowed ones first, so that its
// length expresses the mask. Returns the weights.
std::vector<double> attend_by_bias(const NodeDevice& device, const std::vector<double>& bias, const Attention& op) {
    Backend& backend = device.backend();
    const std::int64_t queries = op.q.dim(2);
    const std::int64_t keys = op.k.dim(2);
    const std::int64_t sentences = op.q.dim(0) * op.q.dim(1) * queries;
    const std::vector<double> k = device.get(op.k);
    const std::vector<double> v = device.get(op.v);
    const std::int64_t rows_of_group = queries * heads_of_group(op);
    std::vector<double> own_k;
    std::vector<double> own_v;
    std::vector<double> own_bias;
    std::vector<double> lengths;
    std::vector<std::int64_t> orders;
    for (std::int64_t row = 0; row < sentences; ++row) {
        std::vector<std::int64_t> order(static_cast<std::size_t>(keys));
        std::iota(order.begin(), order.end(), 0);
        const auto allowed_end = std::stable_partition(order.begin(), order.end(), [&](std::int64_t key) {
            return bias[static_cast<std::size_t>(row * keys + key)] != -std::numeric_limits<double>::infinity();
        });
        lengths.push_back(static_cast<double>(allowed_end - order.begin()));
        append_rows(own_k, k, row / rows_of_group * keys, order, op.k.dim(3));
        append_rows(own_v, v, row / rows_of_group * keys, order, op.v.dim(3));
        append_rows(own_bias, bias, row * keys, order, 1);
        orders.insert(orders.end(), order.begin(), order.end());
    }
    const AttentionMask mask{.key_lengths = device.put_index({sentences}, lengths)};
    const Tensor scores = device.put({sentences, 1, 1, keys}, own_bias);
    backend.run(Matmul{.a = device.put({sentences, 1, 1, op.q.dim(3)}, device.get(op.q)),
                       .b = device.put({sentences, 1, keys, op.k.dim(3)}, own_k),
                       .out = scores,
                       .transpose_b = true,
                       .alpha = op.scale,
                       .beta = 1.0F});
    backend.run(MaskedSoftmax{scores, scores, mask});
    const Tensor values = device.put({sentences, 1, keys, op.v.dim(3)}, own_v);
    backend.run(Matmul{
        .a = scores, .b = seen_keys(backend, values, mask, 1), .out = op.out.reshape({sentences, 1, 1, op.v.dim(3)})});
    const std::vector<double> ordered = device.get(scores);
    std::vector<double> weights(ordered.size());
    for (std::size_t i = 0; i < ordered.size(); ++i) {
        const std::size_t first = i - i % static_cast<std::size_t>(keys);
        weights[first + static_cast<std::size_t>(orders[i])] = ordered[i];
    }
    return weights;
}

enum QkOutput : std::int64_t { kScores = 0, kCapped = 1, kMasked = 2, kWeights = 3 };

// The node's fourth output. Without a soft cap, capped scores are the scores.
std::vector<double> seen_scores(const NodeDevice& device, std::int64_t mode, const std::vector<double>& bias,
                                const std::vector<double>& weights, const Attention& op) {
    if (mode == kWeights) {
        return weights;
    }
    const Shape shape{op.q.dim(0), op.q.dim(1), op.q.dim(2), op.k.dim(2)};
    const Tensor scores = mode == kMasked ? device.put(shape, bias) : device.make(shape);
    multiply_by_groups(device.backend(), Matmul{.a = op.q,
                                                .b = op.k,
                                                .out = scores,
                                                .transpose_b = true,
                                                .alpha = op.scale,
                                                .beta = mode == kMasked ? 1.0F : 0.0F});
    return device.get(scores);
}

}  // namespace

std::vector<std::vector<double>> run_attention(Backend& backend, const NodeCall& call) {
    if (call.node.real("softcap", 0.0F) != 0.0F) {
        throw NotOurs("our attention has no soft cap of scores");
    }
    const OnnxTensor& x = call.input(0);
    const NodeDevice device(backend, OpId::Attention, x);
    const std::int64_t query_heads = call.node.integer("q_num_heads", 0);
    const Heads q = heads_of(device, x, query_heads);
    const Heads k = heads_of(device, call.input(1), call.node.integer("kv_num_heads", query_heads));
    const Heads v = heads_of(device, call.input(2), call.node.integer("kv_num_heads", query_heads));
    const Mask mask(call);
    const Heads keys = appended(device, mask.past, k);
    const Heads values = appended(device, call.maybe(5), v);
    const bool packed = x.rank() == 3;
    const Shape out{q.batch(), q.heads(), q.length(), values.depth()};
    const Attention op{.q = q.tensor,
                       .k = keys.tensor,
                       .v = values.tensor,
                       .out = device.make(out),
                       .scale = call.node.real("scale", 1.0F / std::sqrt(static_cast<float>(q.depth())))};
    std::vector<std::vector<double>> outputs(4);
    if (mask.is_rule() && !call.wants(3)) {
        attend_by_rule(device, mask, op);
    } else {
        const std::vector<double> bias = mask.bias({q.batch(), q.heads(), q.length(), keys.length()});
        const std::vector<double> weights = attend_by_bias(device, bias, op);
        if (call.wants(3)) {
            outputs[3] = seen_scores(device, call.node.integer("qk_matmul_output_mode", kScores), bias, weights, op);
        }
    }
    outputs[0] = out_of(device, op.out, packed);
    outputs[1] = call.wants(1) ? device.get(keys.tensor) : std::vector<double>{};
    outputs[2] = call.wants(2) ? device.get(values.tensor) : std::vector<double>{};
    return outputs;
}

}  // namespace headscope::conformance
