// attention, embedding, loss, optimizer, search
#include "backend/operand_checks.h"
#include "backend/validate.h"

namespace headscope {

namespace {

void check_mask(const OperandChecks& check, const AttentionMask& mask, std::int64_t batch) {
    if (mask.key_lengths.defined()) {
        check.indices("mask.key_lengths", mask.key_lengths, Shape{batch});
    }
    if (mask.query_offset.defined()) {
        check.indices("mask.query_offset", mask.query_offset, Shape{1});
    }
}

// Common to Attention and its backward.
template <class Op>
void check_attention(OperandChecks& check, const Op& op) {
    check.real("q", op.q);
    check.rank("q", op.q, 4, 4);
    check.real("k", op.k);
    check.rank("k", op.k, 4, 4);
    check.real("v", op.v);
    check.rank("v", op.v, 4, 4);
    check.real("out", op.out);
    const std::int64_t batch = op.q.dim(0);
    const std::int64_t heads = op.q.dim(1);
    const std::int64_t queries = op.q.dim(2);
    const std::int64_t keys = op.k.dim(2);
    check.shape("k", op.k, Shape{batch, heads, keys, op.q.dim(3)});
    check.shape("v", op.v, Shape{batch, heads, keys, op.v.dim(3)});
    check.shape("out", op.out, Shape{batch, heads, queries, op.v.dim(3)});
    check_mask(check, op.mask, batch);
    check.dropout(op.dropout, op.q);  // the counter's heads and positions are q's
}

}  // namespace

void validate(const MaskedSoftmax& op) {
    OperandChecks check(MaskedSoftmax::kName);
    check.real("scores", op.scores);
    check.rank("scores", op.scores, 4, 4);
    check.contiguous("scores", op.scores);
    check.plain("weights", op.weights, op.scores.shape);
    check.same_or_apart("weights", op.weights, op.scores);
    check_mask(check, op.mask, op.scores.dim(0));
}

void validate(const MaskedSoftmaxBackward& op) {
    OperandChecks check(MaskedSoftmaxBackward::kName);
    check.real("weights", op.weights);
    check.rank("weights", op.weights, 4, 4);
    check.contiguous("weights", op.weights);
    check.plain("grad_weights", op.grad_weights, op.weights.shape);
    check.plain("grad_scores", op.grad_scores, op.weights.shape);
    check.apart("grad_scores", op.grad_scores, {&op.weights});
    check.accumulates_apart("grad_scores", op.grad_scores, op.grad_weights, op.write);
}

void validate(const EditAttention& op) {
    OperandChecks check(EditAttention::kName);
    check.real("weights", op.weights);
    check.rank("weights", op.weights, 4, 4);
    check.contiguous("weights", op.weights);
    check.indices("rules", op.rules, Shape{op.weights.dim(1), op.weights.dim(2)});
    check.plain("out", op.out, op.weights.shape);
    check.same_or_apart("out", op.out, op.weights);
    check.apart("out", op.out, {&op.rules, &op.mask.key_lengths, &op.mask.query_offset});
    check_mask(check, op.mask, op.weights.dim(0));
}

void validate(const CacheAppend& op) {
    OperandChecks check(CacheAppend::kName);
    check.real("x", op.x);
    check.rank("x", op.x, 4, 4);
    check.indices("position", op.position, Shape{1});
    check.real("cache", op.cache);
    check.rank("cache", op.cache, 4, 4);
    check.shape("cache", op.cache, Shape{op.x.dim(0), op.x.dim(1), op.cache.dim(2), op.x.dim(3)});
    check.apart("cache", op.cache, {&op.x, &op.position});
}

void validate(const MaskKeys& op) {
    OperandChecks check(MaskKeys::kName);
    check.real("x", op.x);
    check.rank("x", op.x, 4, 4);
    check.plain("out", op.out, op.x.shape);
    check.apart("out", op.out, {&op.x, &op.mask.key_lengths, &op.mask.query_offset});
    check_mask(check, op.mask, op.x.dim(0));
    check.expect(op.queries >= 1, [&] { return "queries must be at least 1, found " + std::to_string(op.queries); });
}

void validate(const Attention& op) {
    OperandChecks check(Attention::kName);
    check_attention(check, op);
    check.apart("out", op.out, {&op.q, &op.k, &op.v, &op.log_sums});
    if (op.log_sums.defined()) {
        check.full("log_sums", op.log_sums, Shape{op.q.dim(0), op.q.dim(1), op.q.dim(2)});
        check.apart("log_sums", op.log_sums, {&op.q, &op.k, &op.v});
    }
}

void validate(const AttentionBackward& op) {
    OperandChecks check(AttentionBackward::kName);
    check_attention(check, op);
    check.real("grad_out", op.grad_out);
    check.shape("grad_out", op.grad_out, op.out.shape);
    check.full("log_sums", op.log_sums, Shape{op.q.dim(0), op.q.dim(1), op.q.dim(2)});
    const auto gradient = [&](const char* name, const Tensor& tensor, const Tensor& of) {
        if (tensor.defined()) {
            check.real(name, tensor);
            check.shape(name, tensor, of.shape);
            check.apart(name, tensor, {&op.q, &op.k, &op.v, &op.out, &op.grad_out, &op.log_sums});
        }
    };
    gradient("grad_q", op.grad_q, op.q);
    gradient("grad_k", op.grad_k, op.k);
    gradient("grad_v", op.grad_v, op.v);
    check.apart("grad_q", op.grad_q, {&op.grad_k, &op.grad_v});
    check.apart("grad_k", op.grad_k, {&op.grad_v});
}

void validate(const Embed& op) {
    OperandChecks check(Embed::kName);
    check.rank("ids", op.ids, 2, 2);
    check.indices("ids", op.ids, op.ids.shape);
    check.real("out", op.out);
    check.weight("table", op.table, "table_scales", op.table_scales);
    check.rank("table", op.table, 2, 2);
    check.contiguous("table", op.table);
    if (op.positions.defined()) {
        check.typed("positions", op.positions, check.wide());
        check.rank("positions", op.positions, 2, 2);
        check.shape("positions", op.positions, Shape{op.positions.dim(0), op.table.dim(1)});
    }
    if (op.first.defined()) {
        check.indices("first", op.first, Shape{1});
    }
    check.plain("out", op.out, Shape{op.ids.dim(0), op.ids.dim(1), op.table.dim(1)});
    check.apart("out", op.out, {&op.table, &op.positions, &op.table_scales});
}

void validate(const EmbedBackward& op) {
    OperandChecks check(EmbedBackward::kName);
    check.rank("ids", op.ids, 2, 2);
    check.indices("ids", op.ids, op.ids.shape);
    check.indices("order", op.order, Shape{op.ids.elements()});
    check.real("grad_out", op.grad_out);
    check.rank("grad_out", op.grad_out, 3, 3);
    check.rank("grad_table", op.grad_table, 2, 2);
    check.full("grad_table", op.grad_table, Shape{op.grad_table.dim(0), op.grad_out.dim(2)});
    check.plain("grad_out", op.grad_out, Shape{op.ids.dim(0), op.ids.dim(1), op.grad_table.dim(1)});
    check.apart("grad_table", op.grad_table, {&op.grad_out});
}

void validate(const SmoothedCrossEntropy& op) {
    OperandChecks check(SmoothedCrossEntropy::kName);
    check.real("logits", op.logits);
    check.rank("logits", op.logits, 2, 2);
    check.contiguous("logits", op.logits);
    const Shape rows{op.logits.dim(0)};
    check.indices("targets", op.targets, rows);
    check.full("loss", op.loss, rows);
    check.full("nll", op.nll, rows);
    check.apart("loss", op.loss, {&op.logits, &op.nll, &op.grad_logits});
    check.apart("nll", op.nll, {&op.logits, &op.grad_logits});
    if (op.grad_logits.defined()) {
        check.plain("grad_logits", op.grad_logits, op.logits.shape);
        check.same_or_apart("grad_logits", op.grad_logits, op.logits);
    }
    if (op.grad_scale.defined()) {
        check.full("grad_scale", op.grad_scale, Shape{1});
        check.apart("grad_logits", op.grad_logits, {&op.grad_scale});
        check.apart("loss", op.loss, {&op.grad_scale});
        check.apart("nll", op.nll, {&op.grad_scale});
    }
    check.expect(op.epsilon >= 0.0F && op.epsilon < 1.0F,
                 [&] { return "epsilon must be in [0, 1), found " + std::to_string(op.epsilon); });
    check.expect(op.epsilon == 0.0F || op.smoothing == Smoothing::AllClasses || op.logits.dim(1) > 1,
                 [&] { return "smoothing over the other classes needs at least two, found " + op.logits.to_string(); });
}

void validate(const SquareSum& op) {
    OperandChecks check(SquareSum::kName);
    check.full("x", op.x, op.x.shape);
    check.full("out", op.out, Shape{1});
    check.apart("out", op.out, {&op.x});
}

void validate(const StepControl& op) {
    OperandChecks check(StepControl::kName);
    check.full("square_sum", op.square_sum, Shape{1});
    check.full("scalars", op.scalars, Shape{StepScalars::Count});
    check.apart("scalars", op.scalars, {&op.square_sum});
    check.expect(op.max_norm >= 0.0F,
                 [&] { return "max_norm must not be negative, found " + std::to_string(op.max_norm); });
    const LossScaling& scaling = op.scaling;
    check.expect(scaling.growth_interval >= 0, [&] {
        return "growth_interval must not be negative, found " + std::to_string(scaling.growth_interval);
    });
    check.expect(scaling.growth >= 1.0F && scaling.backoff > 0.0F && scaling.backoff < 1.0F, [&] {
        return "the loss scale must grow by 1 or more and fall by a factor in (0, 1), found " +
               std::to_string(scaling.growth) + " and " + std::to_string(scaling.backoff);
    });
    check.expect(scaling.least > 0.0F && scaling.least <= scaling.most, [&] {
        return "the loss scale must stay between a least > 0 and a most that is no less, found " +
               std::to_string(scaling.least) + " and " + std::to_string(scaling.most);
    });
}

void validate(const Adam& op) {
    OperandChecks check(Adam::kName);
    check.full("parameter", op.parameter, op.parameter.shape);
    check.rank("parameter", op.parameter, 1, 1);
    check.plain("grad", op.grad, op.parameter.shape);
    check.plain("m", op.m, op.parameter.shape);
    check.plain("v", op.v, op.parameter.shape);
    check.plain("scalars", op.scalars, Shape{StepScalars::Count});
    check.apart("parameter", op.parameter, {&op.grad, &op.m, &op.v, &op.scalars});
    check.apart("m", op.m, {&op.grad, &op.v, &op.scalars});
    check.apart("v", op.v, {&op.grad, &op.scalars});
    if (op.working.defined()) {
        check.expect(op.working.dtype == DType::F16 || op.working.dtype == DType::BF16,
                     [&] { return "working must be F16 or BF16, found " + op.working.to_string(); });
        check.typed("working", op.working, op.working.dtype);
        check.shape("working", op.working, op.parameter.shape);
        check.contiguous("working", op.working);
        check.apart("working", op.working, {&op.parameter, &op.grad, &op.m, &op.v, &op.scalars});
    }
}

void validate(const LogSoftmaxTopK& op) {
    OperandChecks check(LogSoftmaxTopK::kName);
    check.real("logits", op.logits);
    check.rank("logits", op.logits, 2, 2);
    check.contiguous("logits", op.logits);
    check.rank("values", op.values, 2, 2);
    const std::int64_t k = op.values.dim(1);
    check.full("values", op.values, Shape{op.logits.dim(0), k});
    check.indices("indices", op.indices, Shape{op.logits.dim(0), k});
    check.expect(k >= 1 && k <= LogSoftmaxTopK::kMaxK && k <= op.logits.dim(1), [&] {
        return "k must be between 1 and the smaller of " + std::to_string(LogSoftmaxTopK::kMaxK) +
               " and the classes, found " + std::to_string(k) + " of " + op.logits.to_string();
    });
    check.apart("values", op.values, {&op.logits});
    check.apart("indices", op.indices, {&op.logits, &op.values});
}

void validate(const GatherRows& op) {
    const OperandChecks check(GatherRows::kName);
    check.numeric("x", op.x);
    check.rank("x", op.x, 1, kMaxRank);
    check.rank("index", op.index, 1, 1);
    check.indices("index", op.index, op.index.shape);
    Shape expected = op.x.shape;
    expected.set(0, op.index.dim(0));
    check.typed("out", op.out, op.x.dtype);
    check.shape("out", op.out, expected);
    check.apart("out", op.out, {&op.x, &op.index});
}

}  // namespace headscope
