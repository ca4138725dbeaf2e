// Blocks of neighbouring queries, each multiplied by the keys from the first to the last that one of them may see. The
// blocks of a head have a fixed order, so that sums over them do.
#include "backends/cpu/block_attention.h"

#include <algorithm>
#include <vector>

#include "backend/ops/attention.h"
#include "backends/cpu/allowed_keys.h"
#include "backends/cpu/dropout_bits.h"
#include "backends/cpu/products.h"
#include "backends/cpu/softmax_rows.h"

namespace headscope::cpu {

namespace {

// Queries. Half of a product is wasted on a causal window of as many; of long sentences more were no faster.
constexpr std::int64_t kBlock = 64;

MatrixBatch matrix_of(const float* data, std::int64_t step) {
    return {.data = data, .row_step = step, .outer_step = 0, .inner_step = 0};
}

// What both directions know of a block.
template <class Op>
class QueryBlock {
public:
    explicit QueryBlock(const Op& op)
        : q(op.q),
          k(op.k),
          v(op.v),
          op_(op),
          heads_of_group_(heads_of_group(op)),
          is_narrow_(op.mask.is_narrow(op.k.dim(2))),
          allowed_(op.mask, op.q.dim(2), op.k.dim(2)),
          has_gaps_(op.mask.key_ranges.defined()) {}

    static std::int64_t blocks(const Op& op) { return (op.q.dim(2) + kBlock - 1) / kBlock; }

    // Computes the weights, and what dropout leaves of them.
    void weigh(std::int64_t item, std::int64_t index) {
        batch = item / q.size[1];
        head = item % q.size[1];
        group = head / heads_of_group_;
        first = index * kBlock;
        rows = std::min(kBlock, q.size[2] - first);
        see_keys();
        const auto size = static_cast<std::size_t>(rows * span.count());
        weights.resize(size);
        dropped_.resize(op_.dropout.rate > 0.0F ? size : 0);
        product({.a = query_rows(q),
                 .b = keys(),
                 .out = weights.data(),
                 .out_row_step = span.count(),
                 .m = rows,
                 .n = span.count(),
                 .k = q.size[3],
                 .transpose_b = true,
                 .alpha = op_.scale});
        for_rows([&](std::int64_t i, const Keys& own, const RowDropout& dropout) {
            float* row = weights.data() + i * span.count();
            softmax_row(row + own.begin, row + own.begin, own.count());
            std::fill(row, row + own.begin, 0.0F);
            std::fill(row + own.end, row + span.count(), 0.0F);
            if (dropout.bits != nullptr) {
                apply_dropout(dropout, row, dropped_.data() + i * span.count(), span.count(), Write::Overwrite);
            }
        });
    }

    // Calls body(row of the block, its keys counted from the span's first, dropout of the span).
    template <class Body>
    void for_rows(const Body& body) const {
        const std::int64_t from = span.begin / DropoutBits::kPerBlock * DropoutBits::kPerBlock;
        const DropoutBits bits(op_.dropout, q.size[1], q.size[2], span.end - from, from);
        const std::int64_t row = (batch * q.size[1] + head) * q.size[2] + first;
        bits.for_rows(row, row + rows, [&](std::int64_t at, RowDropout dropout) {
            dropout.bits = dropout.bits == nullptr ? nullptr : dropout.bits + (span.begin - from);
            const Keys own = allowed_(batch, first + at - row);
            body(at - row, own.count() > 0 ? Keys{own.begin - span.begin, own.end - span.begin} : Keys{}, dropout);
        });
    }

    // A product of the block, on this thread. Of long sentences it is worth a library call.
    void product(const Product& product) { is_narrow_ ? multiply_alone(product) : multiply(alone_, product); }

    MatrixBatch keys() const { return span_of(k, seen_keys_); }
    MatrixBatch values() const { return span_of(v, seen_values_); }
    template <class View>
    MatrixBatch query_rows(const View& x) const {
        return matrix_of(x.row(batch, head, first), x.step[2]);
    }
    MatrixBatch of_weights(const std::vector<float>& x) const { return matrix_of(x.data(), span.count()); }

    const std::vector<float>& dropped() const { return dropped_.empty() ? weights : dropped_; }

    View4<const float> q, k, v;
    std::int64_t batch = 0, head = 0, group = 0;
    std::int64_t first = 0, rows = 0;  // queries
    Keys span;
    std::vector<float> weights;  // [rows, span]

private:
    void see_keys() {
        span = allowed_.between(batch, first, first + rows - 1);
        if (has_gaps_) {
            copy_seen(k, seen_keys_);
            copy_seen(v, seen_values_);
        }
    }

    // Between ranges may lie keys that no query sees: they may be NaN, which a weight of 0 does not cancel.
    void copy_seen(const View4<const float>& x, std::vector<float>& to) const {
        to.assign(static_cast<std::size_t>(span.count() * x.size[3]), 0.0F);
        std::vector<bool> done(static_cast<std::size_t>(span.count()));
        for (std::int64_t i = 0; i < rows; ++i) {
            const Keys own = allowed_(batch, first + i);
            for (std::int64_t key = own.begin; key < own.end; ++key) {
                const std::int64_t at = key - span.begin;
                if (!done[static_cast<std::size_t>(at)]) {
                    std::copy_n(x.row(batch, group, key), x.size[3], to.data() + at * x.size[3]);
                    done[static_cast<std::size_t>(at)] = true;
                }
            }
        }
    }

    MatrixBatch span_of(const View4<const float>& x, const std::vector<float>& seen) const {
        return has_gaps_ ? matrix_of(seen.data(), x.size[3]) : matrix_of(x.row(batch, group, span.begin), x.step[2]);
    }

    const Op& op_;
    ThreadPool alone_{1};
    std::int64_t heads_of_group_;
    bool is_narrow_;
    AllowedKeys allowed_;
    bool has_gaps_;
    std::vector<float> dropped_;                  // [rows, span] with dropout
    std::vector<float> seen_keys_, seen_values_;  // [span, d_k | d_v] if there may be gaps
};

float beta_of(Write write) {
    return write == Write::Overwrite ? 0.0F : 1.0F;
}

// Zeros, unless sums are to be added to what is there.
void start_sums(const View4<float>& to, std::int64_t batch, std::int64_t group, Write write) {
    for (std::int64_t i = 0; write == Write::Overwrite && i < to.size[2]; ++i) {
        std::fill_n(to.row(batch, group, i), to.size[3], 0.0F);
    }
}

// The gradients that are wanted of a group of heads, from all of their blocks.
class BlockBackward {
public:
    explicit BlockBackward(const AttentionBackward& op) : op_(op), block_(op), grad_out_(op.grad_out) {
        for (const auto& [grad, to] : {std::pair{&op.grad_q, &q_}, {&op.grad_k, &k_}, {&op.grad_v, &v_}}) {
            *to = grad->defined() ? View4<float>(*grad) : View4<float>();
        }
    }

    // Computes the gradients of one group's heads, which are added in the order of the heads.
    void run(std::int64_t item) {
        const std::int64_t groups = op_.k.dim(1);
        if (op_.grad_k.defined()) {
            start_sums(k_, item / groups, item % groups, op_.write_k);
        }
        if (op_.grad_v.defined()) {
            start_sums(v_, item / groups, item % groups, op_.write_v);
        }
        const std::int64_t heads = heads_of_group(op_);
        for (std::int64_t head = item * heads; head < (item + 1) * heads; ++head) {
            for (std::int64_t index = 0; index < block_.blocks(op_); ++index) {
                block_.weigh(head, index);
                add_gradients();
            }
        }
    }

private:
    void add_gradients() {
        if (op_.grad_v.defined()) {
            add_to_keys(v_, block_.dropped(), block_.query_rows(grad_out_), 1.0F);
        }
        if (op_.grad_q.defined() || op_.grad_k.defined()) {
            grad_scores();
        }
        if (op_.grad_k.defined()) {
            add_to_keys(k_, scores_, block_.query_rows(block_.q), op_.scale);
        }
        if (op_.grad_q.defined()) {
            to_queries();
        }
    }

    void grad_scores() {
        const std::int64_t width = block_.span.count();
        grads_.resize(block_.weights.size());
        scores_.resize(block_.weights.size());
        block_.product({.a = block_.query_rows(grad_out_),
                        .b = block_.values(),
                        .out = grads_.data(),
                        .out_row_step = width,
                        .m = block_.rows,
                        .n = width,
                        .k = block_.v.size[3],
                        .transpose_b = true});
        block_.for_rows([&](std::int64_t i, const Keys& own, const RowDropout& dropout) {
            float* grads = grads_.data() + i * width;
            if (dropout.bits != nullptr) {
                apply_dropout(dropout, grads, grads, width, Write::Overwrite);
            }
            float* scores = scores_.data() + i * width;
            softmax_back_row(block_.weights.data() + i * width + own.begin, grads + own.begin, scores + own.begin,
                             own.count(), false);
            std::fill(scores, scores + own.begin, 0.0F);
            std::fill(scores + own.end, scores + width, 0.0F);
        });
    }

    // to[keys of the block] += alpha * weights^T . rows
    void add_to_keys(const View4<float>& to, const std::vector<float>& weights, const MatrixBatch& rows, float alpha) {
        block_.product({.a = block_.of_weights(weights),
                        .b = rows,
                        .out = to.row(block_.batch, block_.group, block_.span.begin),
                        .out_row_step = to.step[2],
                        .m = block_.span.count(),
                        .n = to.size[3],
                        .k = block_.rows,
                        .transpose_a = true,
                        .alpha = alpha,
                        .beta = 1.0F});
    }

    void to_queries() {
        block_.product({.a = block_.of_weights(scores_),
                        .b = block_.keys(),
                        .out = q_.row(block_.batch, block_.head, block_.first),
                        .out_row_step = q_.step[2],
                        .m = block_.rows,
                        .n = q_.size[3],
                        .k = block_.span.count(),
                        .alpha = op_.scale,
                        .beta = beta_of(op_.write_q)});
    }

    const AttentionBackward& op_;
    QueryBlock<AttentionBackward> block_;
    View4<const float> grad_out_;
    View4<float> q_, k_, v_;             // gradients
    std::vector<float> grads_, scores_;  // [rows, span]: of the weights, of the scores before they are scaled
};

}  // namespace

void attend_in_blocks(ThreadPool& pool, const Attention& op) {
    const View4<float> out(op.out);
    const std::int64_t blocks = QueryBlock<Attention>::blocks(op);
    pool.for_ranges(op.q.dim(0) * op.q.dim(1) * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        QueryBlock<Attention> block(op);
        for (std::int64_t item = begin; item < end; ++item) {
            block.weigh(item / blocks, item % blocks);
            block.product({.a = block.of_weights(block.dropped()),
                           .b = block.values(),
                           .out = out.row(block.batch, block.head, block.first),
                           .out_row_step = out.step[2],
                           .m = block.rows,
                           .n = out.size[3],
                           .k = block.span.count()});
        }
    });
}

void attend_in_blocks_backward(ThreadPool& pool, const AttentionBackward& op) {
    pool.for_ranges(op.k.dim(0) * op.k.dim(1), 1, [&](std::int64_t begin, std::int64_t end) {
        BlockBackward backward(op);
        for (std::int64_t item = begin; item < end; ++item) {
            backward.run(item);
        }
    });
}

}  // namespace headscope::cpu
