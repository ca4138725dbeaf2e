// Attention of opset 23 and 24: heads in one tensor of rank 3 or 4, masks, a cache of past keys and values.
#include <cmath>
#include <limits>

#include "conformance/onnx/node_ops.h"

namespace headscope::conformance {

namespace {

// [batch, heads, length, depth], whichever way ONNX has it.
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
        throw NotOurs("a query of another rank than 3 and 4");
    }
    return {device.put({x.dim(0), x.dim(1), x.dim(2)}, x.values).heads(heads)};
}

// What is given now behind what was there before: a cache that CacheAppend fills.
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

// What is added to the scores of [batch, heads, queries, keys]; a key that a mask of truths forbids gets -infinity, and
// so do keys past the end of a mask that is too short.
std::vector<double> added(const OnnxTensor& mask, const std::vector<std::int64_t>& dims) {
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

// Rank 4 as it is, rank 3 with the heads side by side again.
std::vector<double> out_of(const NodeDevice& device, const Tensor& out, bool packed) {
    return device.get(packed ? out.swap(1, 2) : out);
}

enum QkOutput : std::int64_t { kScores = 0, kMasked = 1, kCapped = 2, kWeights = 3 };

struct Scores {
    Tensor out;
    std::vector<double> seen;  // what the node's fourth output shows
};

// The two products around a masked softmax, where something is added to the scores or somebody wants to see them.
Scores composed(const NodeDevice& device, const NodeCall& call, const Attention& op) {
    Backend& backend = device.backend();
    const std::int64_t mode = call.node.integer("qk_matmul_output_mode", kScores);
    const Shape shape{op.q.dim(0), op.q.dim(1), op.q.dim(2), op.k.dim(2)};
    const OnnxTensor* mask = call.maybe(3);
    const auto multiply = [&](const Tensor& to, float beta) {
        backend.run(Matmul{.a = op.q, .b = op.k, .out = to, .transpose_b = true, .alpha = op.scale, .beta = beta});
    };
    Scores scores;
    if (call.wants(3) && mode == kScores) {
        const Tensor plain = device.make(shape);
        multiply(plain, 0.0F);
        scores.seen = device.get(plain);
    }
    const Tensor masked = mask == nullptr ? device.make(shape)
                                          : device.put(shape, added(*mask, {shape[0], shape[1], shape[2], shape[3]}));
    multiply(masked, mask == nullptr ? 0.0F : 1.0F);
    if (call.wants(3) && (mode == kMasked || mode == kCapped)) {  // without a cap they are the same
        if (op.mask.causal || op.mask.key_lengths.defined()) {
            throw NotOurs("scores after a causal mask are never there to be seen: the mask is a rule");
        }
        scores.seen = device.get(masked);
    }
    const Tensor weights = device.make(shape);
    backend.run(MaskedSoftmax{masked, weights, op.mask});
    if (call.wants(3) && mode == kWeights) {
        scores.seen = device.get(weights);
    }
    backend.run(Matmul{.a = weights, .b = op.v, .out = op.out});
    scores.out = op.out;
    return scores;
}

}  // namespace

std::vector<std::vector<double>> run_attention(Backend& backend, const NodeCall& call) {
    if (call.node.real("softcap", 0.0F) != 0.0F) {
        throw NotOurs("our attention has no soft cap of scores");
    }
    const OnnxTensor& x = call.input(0);
    const NodeDevice device(backend, Attention::kName, x);
    const std::int64_t query_heads = call.node.integer("q_num_heads", 0);
    const Heads q = heads_of(device, x, query_heads);
    const Heads k = heads_of(device, call.input(1), call.node.integer("kv_num_heads", query_heads));
    const Heads v = heads_of(device, call.input(2), call.node.integer("kv_num_heads", query_heads));
    if (q.heads() != k.heads()) {
        throw NotOurs("our attention has as many heads of keys as of queries");
    }
    const OnnxTensor* past = call.maybe(4);
    const Heads keys = appended(device, past, k);
    const Heads values = appended(device, call.maybe(5), v);
    const bool packed = x.rank() == 3;
    const Shape out{q.batch(), q.heads(), q.length(), values.depth()};
    Attention op{.q = q.tensor,
                 .k = keys.tensor,
                 .v = values.tensor,
                 .out = device.make(out),
                 .scale = call.node.real("scale", 1.0F / std::sqrt(static_cast<float>(q.depth())))};
    op.mask.causal = call.node.integer("is_causal", 0) != 0;
    if (past != nullptr) {
        op.mask.query_offset = device.put_index({1}, {static_cast<double>(past->dim(2))});
    }
    if (const OnnxTensor* lengths = call.maybe(6)) {
        op.mask.key_lengths = device.put_index({q.batch()}, lengths->values);
    }
    std::vector<std::vector<double>> outputs(4);
    if (call.maybe(3) != nullptr || call.wants(3)) {
        const Scores scores = composed(device, call, op);
        outputs[3] = scores.seen;
    } else {
        backend.run(op);
    }
    outputs[0] = out_of(device, op.out, packed);
    outputs[1] = call.wants(1) ? device.get(keys.tensor) : std::vector<double>{};
    outputs[2] = call.wants(2) ? device.get(values.tensor) : std::vector<double>{};
    return outputs;
}

}  // namespace headscope::conformance
