#include "backend/validate.h"

#include "backend/ops.h"
#include "support/check.h"

namespace headscope {

namespace {

// Rules beside the declared operands, which hold. Builds the message only on failure.
template <class Op, class Message>
void expect(const Op& /*op*/, bool condition, const Message& message) {
    if (!condition) {
        throw CheckFailure(std::string(Op::kName) + ": " + message());
    }
}

template <class Op>
void not_negative(const Op& op, const char* name, float value) {
    expect(op, value >= 0.0F,
           [&] { return std::string(name) + " must not be negative, found " + std::to_string(value); });
}

// For x [batch, length, columns] or [batch, heads, queries, keys].
template <class Op>
void check_dropout(const Op& op, const DropoutRule& rule, const Tensor& x) {
    constexpr std::uint32_t kAll = 65536;  // the 16 bits of a draw, of a position and of a head
    expect(op, rule.rate >= 0.0F && rule.rate < 1.0F,
           [&] { return "the dropout rate must be in [0, 1), found " + std::to_string(rule.rate); });
    expect(op, dropout_threshold(rule.rate) < kAll,
           [&] { return "the dropout rate " + std::to_string(rule.rate) + " would drop everything"; });
    expect(op, rule.rate == 0.0F || (x.dim(-2) <= kAll && (x.rank() == 3 || x.dim(1) <= kAll)),
           [&] { return "dropout counts at most 65536 heads and positions, found " + x.to_string(); });
}

template <class Op>
void check_window(const Op& op) {
    const std::int64_t window = op.mask.window;
    expect(op, window >= 0 && window <= AttentionMask::kWidest, [&] {
        return "mask.window must be between 0 and " + std::to_string(AttentionMask::kWidest) + ", found " +
               std::to_string(window);
    });
}

template <class Op>
void check_rules(const Op& op) {
    if constexpr (requires { op.mask; }) {
        check_window(op);
    }
}

void check_rules(const Fill& op) {
    expect(op, op.out.dtype != DType::I8, [&] { return "out must be real or I32, found " + op.out.to_string(); });
}

void check_rules(const Matmul& op) {
    const bool plain = op.a.rank() == 2 && !op.transpose_a && op.transpose_b && op.compute == Compute::F32;
    expect(op, op.b.dtype == op.a.dtype || plain, [&] {
        return "b is narrower than a, which is only supported for a single F32 product a . b^T, found a " +
               op.a.to_string() + " and b " + op.b.to_string();
    });
}

void check_rules(const Linear& op) {
    expect(op, op.weight.dtype == op.x.dtype || op.compute == Compute::F32, [&] {
        return "weight is narrower than x, which is only supported for F32 products, found " + op.weight.to_string();
    });
    expect(op, op.bias.defined() || !op.rounded_bias.defined(),
           [] { return std::string("rounded_bias is given without the bias that it rounds"); });
}

void check_rules(const AddLayerNorm& op) {
    not_negative(op, "epsilon", op.epsilon);
}

void check_rules(const BatchNorm& op) {
    not_negative(op, "epsilon", op.epsilon);
    expect(op, op.momentum > 0.0F && op.momentum <= 1.0F,
           [&] { return "momentum must be in (0, 1], found " + std::to_string(op.momentum); });
}

// Documents are read at the position.
template <class Op>
void check_position(const Op& op) {
    const RecurrentPosition& at = op.at;
    expect(op, at.position >= 0 && (!at.documents.defined() || at.position < at.documents.dim(1)),
           [&] { return "at.position must be one of the row's, found " + std::to_string(at.position); });
}

void check_rules(const RecurrentStep& op) {
    check_position(op);
}

void check_rules(const RecurrentStepBackward& op) {
    check_position(op);
}

void check_rules(const AddLayerNormBackward& op) {
    expect(op, op.grad_y.defined() || op.grad_sum_out.defined(),
           [] { return std::string("grad_y and grad_sum_out are both missing"); });
    expect(op, op.grad_x.defined() || !op.grad_x_sums.defined(),
           [] { return std::string("grad_x_sums are sums of grad_x, which is missing"); });
}

template <class Op>
void check_groups(const Op& op) {
    const std::int64_t heads = op.q.dim(1);
    const std::int64_t groups = op.k.dim(1);
    expect(op, groups == 0 ? heads == 0 : heads % groups == 0, [&] {
        return "the heads of q must be a multiple of those of k and v, found " + op.q.to_string() + " and " +
               op.k.to_string();
    });
}

void check_rules(const Attention& op) {
    check_window(op);
    check_groups(op);
}

void check_rules(const AttentionBackward& op) {
    check_window(op);
    check_groups(op);
}

void check_rules(const MaskedSoftmax& op) {
    check_window(op);
    expect(op, !op.by_distance.defined() || op.by_distance.dim(0) % 2 == 1,
           [&] { return "by_distance must have 2 D + 1 rows, found " + op.by_distance.to_string(); });
}

void check_rules(const MaskKeys& op) {
    check_window(op);
    expect(op, op.queries >= 1, [&] { return "queries must be at least 1, found " + std::to_string(op.queries); });
}

void check_rules(const Rotate& op) {
    expect(op, 2 * op.turns.dim(2) <= op.x.dim(3), [&] {
        return "turns must have at most half as many pairs as x has columns, found " + op.turns.to_string() + " and " +
               op.x.to_string();
    });
}

template <class Op>
void check_blocks(const Op& op, std::int64_t columns) {
    const std::int64_t blocks = blocks_of(columns);
    expect(op,
           (op.scales.dim(1) == blocks || op.scales.dim(1) == scale_words(columns, true)) &&
               (op.codes.dim(1) == code_words(columns, 8) || op.codes.dim(1) == code_words(columns, 4)),
           [&] {
               return "rows of " + std::to_string(columns) + " columns have " + std::to_string(blocks) +
                      " blocks, each with a word or two of scales and eight or four of codes, found scales " +
                      op.scales.to_string() + " and codes " + op.codes.to_string();
           });
}

void check_rules(const BlockLinear& op) {
    check_blocks(op, op.x.dim(1));
}

void check_rules(const BlockEmbed& op) {
    check_blocks(op, op.out.dim(2));
    expect(op, op.ids.defined() || op.out.dim(0) * op.out.dim(1) == op.codes.dim(0), [&] {
        return "without ids out has the rows of the table, found " + op.out.to_string() + " for codes " +
               op.codes.to_string();
    });
}

void check_rules(const SmoothedCrossEntropy& op) {
    expect(op, op.epsilon >= 0.0F && op.epsilon < 1.0F,
           [&] { return "epsilon must be in [0, 1), found " + std::to_string(op.epsilon); });
    expect(op, op.epsilon == 0.0F || op.smoothing == Smoothing::AllClasses || op.logits.dim(1) > 1,
           [&] { return "smoothing over the other classes needs at least two, found " + op.logits.to_string(); });
    expect(op, !op.prior.defined() || op.smoothing == Smoothing::AllClasses,
           [] { return "a prior says how all classes share the smoothing, not only the others"; });
}

void check_rules(const StepControl& op) {
    const LossScaling& scaling = op.scaling;
    not_negative(op, "max_norm", op.max_norm);
    for (const float beta : {op.beta1, op.beta2}) {
        expect(op, beta >= 0.0F && beta < 1.0F,
               [&] { return "beta1 and beta2 must be in [0, 1), found " + std::to_string(beta); });
    }
    expect(op, scaling.growth_interval >= 0,
           [&] { return "growth_interval must not be negative, found " + std::to_string(scaling.growth_interval); });
    expect(op, scaling.growth >= 1.0F && scaling.backoff > 0.0F && scaling.backoff < 1.0F, [&] {
        return "the loss scale must grow by 1 or more and fall by a factor in (0, 1), found " +
               std::to_string(scaling.growth) + " and " + std::to_string(scaling.backoff);
    });
    expect(op, scaling.least > 0.0F && scaling.least <= scaling.most, [&] {
        return "the loss scale must stay between a least > 0 and a most that is no less, found " +
               std::to_string(scaling.least) + " and " + std::to_string(scaling.most);
    });
}

void check_rules(const LogSoftmaxTopK& op) {
    const std::int64_t k = op.values.dim(1);
    expect(op, k >= 1 && k <= LogSoftmaxTopK::kMaxK && k <= op.logits.dim(1), [&] {
        return "k must be between 1 and the smaller of " + std::to_string(LogSoftmaxTopK::kMaxK) +
               " and the classes, found " + std::to_string(k) + " of " + op.logits.to_string();
    });
}

void check_rules(const RouteTokens& op) {
    const std::int64_t choices = op.chosen.dim(2);
    expect(op, choices >= 1 && choices <= op.logits.dim(2), [&] {
        return "a token chooses between 1 and all of the experts, found " + std::to_string(choices) + " of " +
               op.logits.to_string();
    });
    expect(op, op.ordinals.defined() == op.keys.defined(),
           [] { return std::string("keys are made of ordinals: both are given or neither"); });
}

void check_rules(const TakeTokens& op) {
    expect(op, op.others.defined() == op.dots.defined(),
           [] { return std::string("dots need others: give both or neither"); });
}

void check_rules(const GatherRows& op) {
    Shape expected = op.x.shape;
    expected.set(0, op.index.dim(0));
    expect(op, op.out.dtype == op.x.dtype && op.out.shape == expected, [&] {
        return "out must be " + std::string(name_of(op.x.dtype)) + " " + expected.to_string() + ", found " +
               op.out.to_string();
    });
}

template <class Op>
void check(const Op& op) {
    const Declarations operands = operands_of(op);
    operands.check();
    if (const Declarations::Dropped& dropped = operands.dropped(); dropped.rule != nullptr) {
        check_dropout(op, *dropped.rule, *dropped.x);
    }
    check_rules(op);
}

}  // namespace

#define HEADSCOPE_DEFINE(Op)      \
    void validate(const Op& op) { \
        check(op);                \
    }
HEADSCOPE_ALL_OPS(HEADSCOPE_DEFINE)
#undef HEADSCOPE_DEFINE

}  // namespace headscope
