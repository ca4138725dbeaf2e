// Rule: outputs are overwritten; grad_scores is added to with Write::Accumulate. Softmax and edits work in place; a
// cache keeps what lies beside the appended rows. A masked entry is exactly 0, and a row's sums have one fixed order.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backend/long_attention.h"
#include "backend/ops/attention.h"
#include "backends/cpu/allowed_keys.h"
#include "backends/cpu/block_attention.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/head_attention.h"
#include "backends/cpu/query.h"
#include "backends/cpu/row_math.h"
#include "backends/cpu/softmax_rows.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kWorthAThread = 8192;  // elements

// to = scores + what MaskedSoftmax adds to those of the keys: the query of this row is at `position`.
void add_by_distance(const float* scores, float* to, const Keys& keys, const Tensor& by_distance, std::int64_t head,
                     std::int64_t position) {
    const std::int64_t most = by_distance.dim(0) / 2;
    const float* table = data_of<const float>(by_distance) + most * by_distance.dim(1) + head;
    for (std::int64_t key = keys.begin; key < keys.end; ++key) {
        to[key] = scores[key] + table[std::clamp(key - position, -most, most) * by_distance.dim(1)];
    }
}

// sums[d] += row[d]: the diagonals of a head, where those of each query begin one before those of the query before.
HEADSCOPE_CLONES void add_row(const float* row, std::int64_t keys, float* sums) {
    for (std::int64_t key = 0; key < keys; ++key) {
        sums[key] += row[key];
    }
}

void edit_row(const float* weights, float* out, std::int32_t rule, const Keys& allowed, std::int64_t keys) {
    if (rule == EditAttention::kOff) {
        std::fill_n(out, keys, 0.0F);
    } else if (rule == EditAttention::kUniform) {
        std::fill_n(out, keys, 0.0F);
        std::fill_n(out + allowed.begin, allowed.count(), 1.0F / static_cast<float>(allowed.count()));
    } else if (rule >= 0) {
        std::fill_n(out, keys, 0.0F);
        if (allowed.has(rule)) {
            out[rule] = 1.0F;
        }
    } else if (out != weights) {
        std::copy_n(weights, keys, out);
    }
}

template <class Op>
bool goes_by_blocks(const Op& op) {
    return op.mask.is_narrow(op.k.dim(2)) || is_long_attention(op.q.dim(2), op.k.dim(2));
}

}  // namespace

void CpuBackend::run(const MaskedSoftmax& op) {
    const std::int64_t heads = op.scores.dim(1);
    const std::int64_t queries = op.scores.dim(2);
    const std::int64_t keys = op.scores.dim(3);
    const AllowedKeys allowed(op.mask, queries, keys);
    const float* scores = data_of<const float>(op.scores);
    float* weights = data_of<float>(op.weights);
    const std::int64_t offset = scalar_of(op.mask.query_offset, 0);
    pool_.for_ranges(op.scores.dim(0) * heads * queries, kWorthAThread / std::max<std::int64_t>(keys, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                             const Keys own = allowed(row / (heads * queries), row % queries);
                             const float* from = scores + row * keys;
                             float* to = weights + row * keys;
                             if (op.by_distance.defined()) {
                                 add_by_distance(from, to, own, op.by_distance, row / queries % heads,
                                                 offset + row % queries);
                                 from = to;
                             }
                             softmax_row(from + own.begin, to + own.begin, own.count());
                             std::fill(to, to + own.begin, 0.0F);
                             std::fill(to + own.end, to + keys, 0.0F);
                         }
                     });
}

void CpuBackend::run(const MaskedSoftmaxBackward& op) {
    const std::int64_t keys = op.weights.dim(3);
    const float* weights = data_of<const float>(op.weights);
    const float* grad_weights = data_of<const float>(op.grad_weights);
    float* grad_scores = data_of<float>(op.grad_scores);
    pool_.for_ranges(op.weights.dim(0) * op.weights.dim(1) * op.weights.dim(2),
                     2 * kWorthAThread / std::max<std::int64_t>(keys, 1), [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                             softmax_back_row(weights + row * keys, grad_weights + row * keys, grad_scores + row * keys,
                                              keys, op.write == Write::Accumulate);
                         }
                     });
}

void CpuBackend::run(const SumDiagonals& op) {
    const std::int64_t heads = op.x.dim(1);
    const std::int64_t queries = op.x.dim(2);
    const std::int64_t keys = op.x.dim(3);
    const std::int64_t diagonals = op.sums.dim(1);
    const float* x = data_of<const float>(op.x);
    float* sums = data_of<float>(op.sums);
    pool_.for_ranges(op.x.dim(0) * heads, kWorthAThread / std::max<std::int64_t>(queries * keys, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t item = begin; item < end; ++item) {
                             std::vector<float> own(static_cast<std::size_t>(diagonals));
                             for (std::int64_t i = 0; i < queries; ++i) {
                                 add_row(x + (item * queries + i) * keys, keys, own.data() + queries - 1 - i);
                             }
                             float* to = sums + item / heads * diagonals * heads + item % heads;
                             for (std::int64_t d = 0; d < diagonals; ++d) {
                                 to[d * heads] = own[static_cast<std::size_t>(d)];
                             }
                         }
                     });
}

void CpuBackend::run(const EditAttention& op) {
    const std::int64_t heads = op.weights.dim(1);
    const std::int64_t queries = op.weights.dim(2);
    const std::int64_t keys = op.weights.dim(3);
    const AllowedKeys allowed(op.mask, queries, keys);
    const auto* rules = data_of<const std::int32_t>(op.rules);
    const float* weights = data_of<const float>(op.weights);
    float* out = data_of<float>(op.out);
    pool_.for_ranges(op.weights.dim(0) * heads * queries, kWorthAThread / std::max<std::int64_t>(keys, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                             edit_row(weights + row * keys, out + row * keys, rules[row % (heads * queries)],
                                      allowed(row / (heads * queries), row % queries), keys);
                         }
                     });
}

void CpuBackend::run(const CacheAppend& op) {
    const View4<const float> x(op.x);
    const View4<float> cache(op.cache);
    const std::int64_t position = scalar_of(op.position, 0);
    for (std::int64_t b = 0; b < x.size[0]; ++b) {
        for (std::int64_t h = 0; h < x.size[1]; ++h) {
            for (std::int64_t i = 0; i < x.size[2]; ++i) {
                const std::int64_t row = position + i;
                if (row >= 0 && row < cache.size[2]) {
                    std::copy_n(x.row(b, h, i), x.size[3], cache.row(b, h, row));
                }
            }
        }
    }
}

void CpuBackend::run(const MaskKeys& op) {
    const View4<const float> x(op.x);
    const std::int64_t keys = x.size[2];
    const std::int64_t depth = x.size[3];
    const AllowedKeys allowed(op.mask, op.queries, keys);
    float* out = data_of<float>(op.out);
    pool_.for_ranges(x.size[0] * x.size[1], kWorthAThread / std::max<std::int64_t>(keys * depth, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t item = begin; item < end; ++item) {
                             const std::int64_t b = item / x.size[1];
                             float* to = out + item * keys * depth;
                             for (std::int64_t key = 0; key < keys; ++key) {
                                 if (allowed.are_seen(b, key)) {
                                     std::copy_n(x.row(b, item % x.size[1], key), depth, to + key * depth);
                                 } else {
                                     std::fill_n(to + key * depth, depth, 0.0F);
                                 }
                             }
                         }
                     });
}

namespace {

// The operands, and how the heads are shared by threads.
struct SharedHeads {
    explicit SharedHeads(const Attention& op)
        : q(op.q),
          k(op.k),
          v(op.v),
          out(op.out),
          allowed(op.mask, q.size[2], k.size[2]),
          of_group(heads_of_group(op)),
          count(q.size[0] * q.size[1]),
          grain(4 * kWorthAThread / std::max<std::int64_t>(1, q.size[2] * k.size[2] * (q.size[3] + v.size[3]))) {}

    View4<const float> q, k, v;
    View4<float> out;
    AllowedKeys allowed;
    std::int64_t of_group, count, grain;
};

// Whole heads, for some queries and keys, such as a sentence's.
void attend_by_heads(ThreadPool& pool, const Attention& op) {
    const SharedHeads heads(op);
    const auto rows_of = [](const View4<const float>& x, std::int64_t b, std::int64_t h) {
        return HeadRows{x.row(b, h, 0), x.step[2], x.size[2], x.size[3]};
    };
    pool.for_ranges(heads.count, heads.grain, [&](std::int64_t begin, std::int64_t end) {
        HeadAttention head;
        for (std::int64_t item = begin; item < end; ++item) {
            const std::int64_t b = item / heads.q.size[1];
            const std::int64_t h = item % heads.q.size[1];
            const std::int64_t group = h / heads.of_group;
            head.run(rows_of(heads.q, b, h), rows_of(heads.k, b, group), rows_of(heads.v, b, group), heads.allowed, b,
                     op.scale, heads.out.row(b, h, 0), heads.out.step[2]);
        }
    });
}

// A few queries, key by key over the cache in place, only over allowed keys. The heads of a group follow each other, so
// that all but the first find its keys in the processor's cache.
void attend_by_queries(ThreadPool& pool, const Attention& op) {
    const SharedHeads heads(op);
    // Calls visit(keys, values) of one query.
    const auto with_rows = [&](std::int64_t b, std::int64_t h, const Keys& own, const auto& visit) {
        const auto rows_of = [&](const View4<const float>& x, std::int64_t row) {
            return HeadRows{x.row(row, h / heads.of_group, own.begin), x.step[2], own.count(), x.size[3]};
        };
        const auto named_rows = [&](const View4<const float>& x) {
            const std::int64_t batch = op.key_rows.dim(1);
            return NamedRows{rows_of(x, 0), x.step[0], data_of<const std::int32_t>(op.key_rows) + own.begin * batch + b,
                             batch};
        };
        if (op.key_rows.defined()) {
            visit(named_rows(heads.k), named_rows(heads.v));
        } else {
            visit(rows_of(heads.k, b), rows_of(heads.v, b));
        }
    };
    pool.for_ranges(heads.count, heads.grain, [&](std::int64_t begin, std::int64_t end) {
        std::vector<float> scratch(static_cast<std::size_t>(scratch_of(heads.k.size[2])));
        for (std::int64_t item = begin; item < end; ++item) {
            const std::int64_t b = item / heads.q.size[1];
            const std::int64_t h = item % heads.q.size[1];
            for (std::int64_t i = 0; i < heads.q.size[2]; ++i) {
                const Keys own = heads.allowed(b, i);
                with_rows(b, h, own, [&](const auto& keys, const auto& values) {
                    attend(heads.q.row(b, h, i), keys, values, op.scale, scratch.data(), heads.out.row(b, h, i));
                });
            }
        }
    });
}

}  // namespace

// A few queries, as in decoding, go one by one, and a sentence's by heads; for very many, products are faster.
void CpuBackend::run(const Attention& op) {
    constexpr std::int64_t kFewQueries = 4;
    constexpr std::int64_t kSomeKeys = 64;
    const View4<const float> q(op.q);
    const bool named = op.key_rows.defined();
    if (q.size[2] > kFewQueries && !named && goes_by_blocks(op)) {
        attend_in_blocks(pool_, op);
        return;
    }
    if (q.size[2] > kFewQueries && !named && op.k.dim(2) <= kSomeKeys && op.dropout.rate == 0.0F &&
        op.compute == Compute::F32) {
        attend_by_heads(pool_, op);
        return;
    }
    if (q.size[2] > kFewQueries || op.dropout.rate > 0.0F) {
        Backend::run(op);
        return;
    }
    attend_by_queries(pool_, op);
}

void CpuBackend::run(const AttentionBackward& op) {
    if (goes_by_blocks(op)) {
        attend_in_blocks_backward(pool_, op);
    } else {
        Backend::run(op);
    }
}

}  // namespace headscope::cpu
