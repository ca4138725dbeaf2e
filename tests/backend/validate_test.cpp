#include "backend/validate.h"

#include <catch2/catch.hpp>

#include "backend/ops/attention.h"
#include "backend/ops/bias.h"
#include "backend/ops/blocks.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backend/ops/experts.h"
#include "backend/ops/layer_norm.h"
#include "backend/ops/loss.h"
#include "backend/ops/matmul.h"
#include "backend/ops/optimizer.h"
#include "backend/ops/recurrent.h"
#include "backend/ops/rotary.h"
#include "backend/ops/search.h"
#include "backend/overlap.h"
#include "support/check.h"

using namespace headscope;

namespace {

class SizedBuffer final : public Buffer {
public:
    explicit SizedBuffer(std::size_t bytes) : bytes_(bytes) {}
    std::size_t bytes() const override { return bytes_; }
    Address address() const override { return {}; }

private:
    std::size_t bytes_;
};

Tensor make(const Shape& shape, DType dtype = DType::F32) {
    const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
    return make_tensor(std::make_shared<SizedBuffer>(bytes), shape, dtype);
}

template <class Op>
std::string refusal(const Op& op) {
    try {
        validate(op);
    } catch (const CheckFailure& failure) {
        return failure.what();
    }
    return "";
}

using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

}  // namespace

TEST_CASE("two views overlap only if they share an element", "[validate]") {
    const Tensor packed = make({2, 5, 24});  // q, k and v of two heads of four
    const Tensor q = packed.narrow(2, 0, 8);
    const Tensor k = packed.narrow(2, 8, 8);
    CHECK_FALSE(may_overlap(q, k));
    CHECK_FALSE(may_overlap(q.heads(2), k.heads(2)));
    CHECK_FALSE(may_overlap(k.heads(2).narrow(1, 0, 1), k.heads(2).narrow(1, 1, 1)));
    CHECK(may_overlap(packed, k));
    CHECK(may_overlap(packed.narrow(2, 0, 9), k));
    CHECK(may_overlap(q, q));
    CHECK_FALSE(may_overlap(packed.narrow(0, 0, 1), packed.narrow(0, 1, 1)));
    CHECK(may_overlap(packed.narrow(1, 0, 3), packed.narrow(1, 2, 3)));
    CHECK_FALSE(may_overlap(make({4}), make({4})));
    CHECK_FALSE(may_overlap(packed.narrow(0, 0, 0), packed));
}

TEST_CASE("an error names the op, the operand, what was expected and what was found", "[validate]") {
    CHECK_THAT(refusal(Matmul{.a = make({3, 4}), .b = make({5, 6}), .out = make({3, 6})}),
               Equals("matmul: b must have the shape [4, 6], found F32 [5, 6]; k is 4 in a"));
    CHECK_THAT(refusal(Matmul{.a = make({3, 4}), .b = make({4, 6}), .out = make({3, 5})}),
               Equals("matmul: out must have the shape [3, 6], found F32 [3, 5]; n is 6 in b"));
    CHECK_THAT(refusal(AddScaled{.a = make({3}), .out = make({3}, DType::F16)}),
               Equals("add_scaled: out must be F32 like a, found F16 [3]"));
    CHECK_THAT(refusal(AddScaled{.a = make({3}), .out = {}}), Equals("add_scaled: out is missing"));
    const Embed embed{.ids = make({1, 2}, DType::I32), .table = make({5, 3}, DType::F64), .out = make({1, 2, 3})};
    CHECK_THAT(refusal(embed), Equals("embed: table must be F32 like out, found F64 [5, 3]"));
    CHECK(refusal(Matmul{.a = make({3, 4}), .b = make({4, 6}), .out = make({3, 6})}).empty());
}

TEST_CASE("a recurrent step is within its documents", "[validate]") {
    RecurrentStep op;
    op.cell = RecurrentCell::Gru;
    op.x = make({1, 3});
    op.hidden = make({1, 1});
    op.next_hidden = make({1, 1});
    op.at = {.position = 2, .documents = make({1, 2, 2}, DType::I32)};
    CHECK_THAT(refusal(op), Contains("at.position must be one of the row's, found 2"));
    op.at.position = -1;
    CHECK_THAT(refusal(op), Contains("found -1"));
    op.at.position = 1;
    CHECK(refusal(op).empty());
}

TEST_CASE("no more pairs are turned than a row has", "[validate]") {
    const Tensor x = make({1, 2, 3, 5});
    CHECK(refusal(Rotate{.x = x, .turns = make({4, 2, 2}), .out = x}).empty());
    CHECK_THAT(refusal(Rotate{.x = x, .turns = make({4, 2, 3}), .out = x}),
               Contains("turns must have at most half as many pairs as x has columns"));
    CHECK_THAT(refusal(Rotate{.x = x, .turns = make({4, 3, 2}), .out = x}), Contains("turns must have the shape"));
}

TEST_CASE("a weight in blocks has the blocks of its columns", "[validate]") {
    const auto words = [](const Shape& shape) { return make(shape, DType::I32); };
    BlockLinear op{.x = make({2, 40}), .codes = words({3, 8}), .scales = words({3, 2}), .y = make({2, 3})};
    CHECK(refusal(op).empty());
    op.codes = words({3, 16});
    CHECK(refusal(op).empty());
    op.codes = words({3, 12});
    CHECK_THAT(
        refusal(op),
        Contains("rows of 40 columns have 2 blocks, each with a word or two of scales and eight or four of codes"));
    const BlockEmbed all{.codes = words({3, 4}), .scales = words({3, 1}), .out = make({1, 2, 32})};
    CHECK_THAT(refusal(all), Contains("without ids out has the rows of the table"));
}

TEST_CASE("no operand exceeds its buffer", "[validate]") {
    Tensor x = make({4, 4});
    x.offset = 1;
    CHECK_THAT(refusal(Fill{.out = x}), Contains("reaches past its buffer of 64 bytes"));
    x = make({4, 4});
    x.strides[1] = 2;
    CHECK_THAT(refusal(Fill{.out = x}), Contains("innermost stride 1"));
}

TEST_CASE("a product rejects different batches, a transposed mismatch and an output that is an operand", "[validate]") {
    CHECK_THAT(refusal(Matmul{.a = make({2, 3, 4}), .b = make({1, 4, 5}), .out = make({2, 3, 5})}),
               Contains("the first batch dimension is 2 in a"));
    CHECK_THAT(refusal(Matmul{.a = make({2, 3, 4}), .b = make({4, 5}), .out = make({2, 3, 5})}),
               Contains("b must have as many batch dimensions as a (1), found F32 [4, 5]"));
    const Tensor a = make({4, 4});
    CHECK_THAT(refusal(Matmul{.a = a, .b = make({4, 4}), .out = a}), Contains("must not share memory"));
    CHECK_THAT(refusal(Matmul{.a = make({3, 4}), .b = make({4, 6}), .out = make({3, 6}), .transpose_b = true}),
               Contains("b must have the shape [4, 4], found F32 [4, 6]; k is 4 in a"));
}

TEST_CASE("outputs may be inputs only if the op allows it", "[validate]") {
    const Tensor x = make({2, 3, 8});
    CHECK(refusal(BiasActivation{.x = x, .y = x, .activation = Activation::Relu}).empty());
    CHECK_THAT(refusal(BiasActivation{.x = x, .y = x, .activation = Activation::Gelu}),
               Contains("must not share memory"));
    CHECK(refusal(Dropout{.x = x, .y = x}).empty());
    CHECK_THAT(refusal(Dropout{.x = x, .y = x, .write = Write::Accumulate}), Contains("must not share memory"));
    CHECK_THAT(refusal(AddScaled{.a = x.narrow(2, 0, 4), .out = x.narrow(2, 2, 4)}), Contains("must be the same view"));
    const Tensor rows = make({6, 4});
    CHECK_THAT(refusal(GatherRows{.x = rows, .index = make({6}, DType::I32), .out = rows}),
               Contains("must not share memory"));
}

TEST_CASE("a token has as many experts as there are at most, and its slots keys if it has an ordinal", "[validate]") {
    const auto numbers = [](const Shape& shape) { return make(shape, DType::I32); };
    const auto route = [&](std::int64_t choices) {
        return RouteTokens{.logits = make({2, 3, 4}),
                           .probabilities = make({2, 3, 4}),
                           .chosen = numbers({2, 3, choices}),
                           .slots = numbers({2, 3, choices}),
                           .sources = numbers({4, 5}),
                           .weights = make({4, 5}),
                           .shares = make({4}),
                           .sums = make({4})};
    };
    CHECK(refusal(route(4)).empty());
    CHECK_THAT(refusal(route(5)), Contains("between 1 and all of the experts, found 5"));
    RouteTokens keyed = route(2);
    keyed.keys = numbers({4, 5});
    CHECK_THAT(refusal(keyed), Contains("keys are made of ordinals"));
    CHECK_THAT(
        refusal(TakeTokens{.x = make({6, 4}), .sources = numbers({9}), .others = make({9, 4}), .out = make({9, 4})}),
        Contains("give both or neither"));
}

TEST_CASE("an output may be at most two inputs", "[validate]") {
    const Tensor a = make({1}), b = make({1}), c = make({1});
    Declared output;
    output.may_be(a).may_be(b);
    CHECK_THROWS_AS(output.may_be(c), CheckFailure);
}

TEST_CASE("dropout requires its step and ordinals", "[validate]") {
    const Tensor x = make({2, 3, 8});
    DropoutRule rule{.rate = 0.1F};
    CHECK_THAT(refusal(Dropout{.x = x, .y = x, .rule = rule}), Contains("the dropout's step is missing"));
    rule.step = make({1}, DType::I32);
    rule.ordinals = make({3}, DType::I32);
    CHECK_THAT(refusal(Dropout{.x = x, .y = x, .rule = rule}),
               Contains("ordinals must have the shape [2], found I32 [3]"));
    rule.ordinals = make({2}, DType::I32);
    CHECK(refusal(Dropout{.x = x, .y = x, .rule = rule}).empty());
    rule.rate = 1.0F;
    CHECK_THAT(refusal(Dropout{.x = x, .y = x, .rule = rule}), Contains("must be in [0, 1)"));
    rule.rate = 0.999999F;
    CHECK_THAT(refusal(Dropout{.x = x, .y = x, .rule = rule}), Contains("would drop everything"));
    const Tensor longer = make({2, 65537, 1});
    rule.rate = 0.5F;
    CHECK_THAT(refusal(Dropout{.x = longer, .y = longer, .rule = rule}), Contains("at most 65536"));
    CHECK_THAT(refusal(BiasActivation{.x = longer, .y = longer, .dropout = rule}), Contains("at most 65536"));
}

TEST_CASE("attention backward rejects two gradients in one place", "[validate]") {
    const Tensor x = make({2, 3, 5, 4});
    const Tensor out = make({2, 3, 5, 4});
    const Tensor sums = make({2, 3, 5});
    const Tensor one = make({2, 3, 5, 4});
    const Tensor other = make({2, 3, 5, 4});
    const auto refused = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
        return refusal(AttentionBackward{.q = x,
                                         .k = x,
                                         .v = x,
                                         .out = out,
                                         .grad_out = out,
                                         .log_sums = sums,
                                         .grad_q = q,
                                         .grad_k = k,
                                         .grad_v = v});
    };
    CHECK(refused(one, other, Tensor()).empty());
    CHECK_THAT(refused(one, one, Tensor()), Contains("grad_q"));
    CHECK_THAT(refused(one, other, one), Contains("grad_q"));
    CHECK_THAT(refused(other, one, one), Contains("grad_k"));
    CHECK_THAT(refused(Tensor(), one, one), Contains("grad_k"));
    const Tensor packed = make({2, 5, 24});  // q and k of three heads of four, and what lies between two of them
    CHECK(refused(packed.narrow(2, 0, 12).heads(3), packed.narrow(2, 12, 12).heads(3), Tensor()).empty());
    CHECK_THAT(refused(packed.narrow(2, 0, 12).heads(3), packed.narrow(2, 8, 12).heads(3), Tensor()),
               Contains("grad_q"));
}

TEST_CASE("masks, indices and scalars are checked", "[validate]") {
    const Tensor scores = make({2, 4, 3, 5});
    CHECK_THAT(
        refusal(MaskedSoftmax{.scores = scores, .weights = scores, .mask = {.key_lengths = make({3}, DType::I32)}}),
        Contains("mask.key_lengths must have the shape [2]"));
    CHECK_THAT(refusal(MaskedSoftmax{.scores = scores, .weights = scores, .mask = {.query_offset = make({1})}}),
               Contains("mask.query_offset must be I32"));
    const auto ranged = [&](const Shape& shape, DType dtype) {
        return refusal(MaskedSoftmax{.scores = scores, .weights = scores, .mask = {.key_ranges = make(shape, dtype)}});
    };
    CHECK(ranged({2, 3, 2}, DType::I32).empty());
    CHECK_THAT(ranged({2, 4, 2}, DType::I32), Contains("mask.key_ranges must have the shape [2, 3, 2]"));
    CHECK_THAT(ranged({2, 3, 2}, DType::F32), Contains("mask.key_ranges must be I32"));
    const auto masks_keys = [&](std::int64_t queries) {
        return refusal(MaskKeys{.x = scores,
                                .out = make({2, 4, 3, 5}),
                                .mask = {.key_ranges = make({2, 6, 2}, DType::I32)},
                                .queries = queries});
    };
    CHECK(masks_keys(6).empty());
    for (const std::int64_t window : {std::int64_t{-1}, AttentionMask::kWidest + 1}) {
        const AttentionMask mask{.window = window};
        CHECK_THAT(refusal(MaskedSoftmax{.scores = scores, .weights = scores, .mask = mask}),
                   Contains("mask.window must be between 0 and 268435455, found " + std::to_string(window)));
        CHECK_THAT(refusal(MaskKeys{.x = scores, .out = make({2, 4, 3, 5}), .mask = mask, .queries = 1}),
                   Contains("mask.window"));
    }
    CHECK_THAT(masks_keys(5), Contains("mask.key_ranges must have the shape [2, 5, 2]"));
    CHECK_THAT(refusal(MaskedSoftmax{.scores = scores.narrow(3, 0, 4), .weights = scores}), Contains("contiguous"));
    const auto by_distance = [&](const Shape& shape) {
        return refusal(MaskedSoftmax{.scores = scores, .weights = scores, .by_distance = make(shape)});
    };
    CHECK(by_distance({7, 4}).empty());
    CHECK_THAT(by_distance({8, 4}), Contains("by_distance must have 2 D + 1 rows"));
    CHECK_THAT(by_distance({7, 3}), Contains("by_distance must have the shape [7, 4]"));
    CHECK(refusal(SumDiagonals{.x = scores, .sums = make({2, 7, 4})}).empty());
    CHECK_THAT(refusal(SumDiagonals{.x = scores, .sums = make({2, 5, 4})}),
               Contains("sums must have the shape [2, 7, 4]"));
    const auto edit = [&](const Tensor& rules, const Tensor& out) {
        return refusal(EditAttention{.weights = scores, .rules = rules, .out = out});
    };
    CHECK(edit(make({4, 3}, DType::I32), scores).empty());
    CHECK_THAT(edit(make({3, 4}, DType::I32), scores), Contains("rules must have the shape [4, 3]"));
    CHECK_THAT(edit(make({4, 3}), scores), Contains("rules must be I32"));
    CHECK_THAT(edit(make({4, 3}, DType::I32), make({2, 4, 3, 4})), Contains("out must have the shape [2, 4, 3, 5]"));
    CHECK_THAT(
        refusal(LogSoftmaxTopK{.logits = make({2, 5}), .values = make({2, 6}), .indices = make({2, 6}, DType::I32)}),
        Contains("k must be between 1"));
    CHECK_THAT(refusal(StepControl{.square_sum = make({1}), .scalars = make({3})}), Contains("scalars"));
    CHECK_THAT(refusal(SmoothedCrossEntropy{.logits = make({2, 1}),
                                            .targets = make({2}, DType::I32),
                                            .loss = make({2}),
                                            .nll = make({2}),
                                            .epsilon = 0.1F,
                                            .smoothing = Smoothing::OtherClasses}),
               Contains("at least two"));
    CHECK_THAT(refusal(SmoothedCrossEntropy{.logits = make({2, 3}),
                                            .targets = make({2}, DType::I32),
                                            .loss = make({2}),
                                            .nll = make({2}),
                                            .prior = make({3}),
                                            .smoothing = Smoothing::OtherClasses}),
               Contains("a prior says how all classes share"));
    CHECK_THAT(refusal(SmoothedCrossEntropy{.logits = make({2, 3}, DType::F64),
                                            .targets = make({2}, DType::I32),
                                            .loss = make({2}),
                                            .nll = make({2}, DType::F64)}),
               Contains("loss must be F64"));
}

TEST_CASE("weights may be narrower than activations in exactly one form", "[validate]") {
    const Tensor x = make({3, 4});
    const Tensor y = make({3, 6});
    const Tensor scales = make({6});
    const Tensor half = make({6, 4}, DType::F16);
    const Tensor eight = make({6, 4}, DType::I8);
    CHECK(refusal(Matmul{.a = x, .b = half, .out = y, .transpose_b = true}).empty());
    CHECK(refusal(Matmul{.a = x, .b = eight, .out = y, .transpose_b = true, .b_scales = scales}).empty());
    CHECK(refusal(Linear{.x = x, .weight = eight, .y = y, .weight_scales = scales}).empty());
    CHECK_THAT(refusal(Matmul{.a = x, .b = eight, .out = y, .transpose_b = true}), Contains("b_scales is missing"));
    CHECK_THAT(refusal(Matmul{.a = x, .b = half, .out = y, .transpose_b = true, .b_scales = scales}),
               Contains("b_scales belongs to I8 alone"));
    CHECK_THAT(refusal(Matmul{.a = x, .b = eight, .out = y, .transpose_b = true, .b_scales = make({4})}),
               Contains("b_scales must have the shape [6]"));
    CHECK_THAT(refusal(Matmul{.a = x, .b = make({4, 6}, DType::F16), .out = y}),
               Contains("a single F32 product a . b^T"));
    CHECK_THAT(refusal(Matmul{.a = x, .b = half, .out = y, .transpose_b = true, .compute = Compute::BF16}),
               Contains("a single F32 product"));
    CHECK_THAT(refusal(Linear{.x = x, .weight = half, .y = y, .compute = Compute::TF32}), Contains("for F32 products"));
    CHECK_THAT(refusal(Matmul{.a = make({3, 4}, DType::F16),
                              .b = eight,
                              .out = make({3, 6}, DType::F16),
                              .transpose_b = true,
                              .b_scales = scales}),
               Contains("b must be of a real dtype"));
    const Tensor ids = make({2, 3}, DType::I32);
    CHECK(refusal(Embed{.ids = ids, .table = eight, .out = make({2, 3, 4}), .table_scales = scales}).empty());
    CHECK_THAT(refusal(Embed{.ids = ids, .table = eight, .out = make({2, 3, 4})}), Contains("table_scales is missing"));
}

TEST_CASE("sums belong to a gradient, and a rounded bias to a bias", "[validate]") {
    const Tensor x = make({2, 3, 8});
    AddLayerNormBackward back{.sum = x,
                              .gain = make({8}),
                              .mean = make({2, 3}),
                              .rstd = make({2, 3}),
                              .grad_y = make({2, 3, 8}),
                              .grad_x = make({2, 3, 8}),
                              .grad_gain = make({8}),
                              .grad_bias = make({8}),
                              .grad_x_sums = make({8})};
    CHECK(refusal(back).empty());
    back.grad_x_sums = make({7});
    CHECK_THAT(refusal(back), Contains("grad_x_sums"));
    back.grad_x_sums = make({8});
    back.grad_x = {};
    CHECK_THAT(refusal(back), Contains("grad_x_sums are sums of grad_x, which is missing"));
    const auto half = [](const Shape& shape) { return make(shape, DType::F16); };
    Linear linear{
        .x = half({3, 4}), .weight = half({6, 4}), .bias = make({6}), .y = half({3, 6}), .rounded_bias = half({6})};
    CHECK(refusal(linear).empty());
    linear.bias = {};
    CHECK_THAT(refusal(linear), Contains("without the bias that it rounds"));
    linear.bias = linear.rounded_bias = make({6});
    CHECK_THAT(refusal(linear), Contains("rounded_bias must be F16"));
}

TEST_CASE("16-bit operands share one dtype, and F32 operands are F32", "[validate]") {
    const auto half = [](const Shape& shape) { return make(shape, DType::F16); };
    CHECK(refusal(Matmul{.a = half({3, 4}), .b = half({4, 6}), .out = half({3, 6})}).empty());
    CHECK(refusal(Matmul{.a = half({3, 4}), .b = half({4, 6}), .out = make({3, 6})}).empty());
    CHECK_THAT(refusal(Matmul{.a = half({3, 4}), .b = half({4, 6}), .out = make({3, 6}, DType::BF16)}),
               Equals("matmul: out must be F16 like a, found BF16 [3, 6]"));
    CHECK_THAT(refusal(Matmul{.a = half({3, 4}), .b = make({4, 6}), .out = make({3, 6})}), Contains("b must be F16"));
    CHECK_THAT(refusal(Matmul{.a = make({3, 4}), .b = make({4, 6}), .out = half({3, 6})}), Contains("out must be F32"));

    const Tensor x = half({2, 3, 8});
    CHECK(refusal(BiasActivation{.x = x, .bias = make({8}), .y = x}).empty());
    CHECK_THAT(refusal(BiasActivation{.x = x, .bias = half({8}), .y = x}),
               Equals("bias_activation: bias must be F32, found F16 [8]"));
    CHECK_THAT(refusal(SumRows{.x = half({3, 8}), .out = half({8})}), Contains("out must be F32"));
    CHECK(refusal(SumRows{.x = half({3, 8}), .out = make({8})}).empty());
    CHECK_THAT(refusal(SquareSum{.x = half({3}), .out = make({1})}), Contains("x must be F32"));
    AddLayerNorm norm{.x = half({2, 3, 8}),
                      .gain = make({8}),
                      .bias = make({8}),
                      .sum = half({2, 3, 8}),
                      .y = half({2, 3, 8}),
                      .mean = make({2, 3}),
                      .rstd = make({2, 3})};
    CHECK(refusal(norm).empty());
    norm.mean = half({2, 3});
    CHECK_THAT(refusal(norm), Contains("mean must be F32"));

    Embed embed{.ids = make({2, 3}, DType::I32), .table = half({5, 8}), .positions = make({3, 8}), .out = x};
    CHECK(refusal(embed).empty());
    embed.positions = half({3, 8});
    CHECK_THAT(refusal(embed), Contains("positions must be F32"));
    EmbedBackward back{.ids = embed.ids, .order = make({6}, DType::I32), .grad_out = x, .grad_table = make({5, 8})};
    CHECK(refusal(back).empty());
    back.grad_table = half({5, 8});
    CHECK_THAT(refusal(back), Contains("grad_table must be F32"));
}

TEST_CASE("the loss scale and its step scalars are checked", "[validate]") {
    SmoothedCrossEntropy loss{.logits = make({2, 3}, DType::BF16),
                              .targets = make({2}, DType::I32),
                              .loss = make({2}),
                              .nll = make({2}),
                              .grad_scale = make({1})};
    CHECK(refusal(loss).empty());
    loss.grad_scale = make({2});
    CHECK_THAT(refusal(loss), Contains("grad_scale must have the shape [1]"));
    loss.grad_scale = {};
    loss.weights = make({3});
    CHECK_THAT(refusal(loss), Contains("weights"));
    StepControl control{.square_sum = make({1}), .scalars = make({StepScalars::Count})};
    CHECK(refusal(control).empty());
    control.scaling.growth_interval = -1;
    CHECK_THAT(refusal(control), Contains("growth_interval must not be negative"));
    control.scaling = {.growth = 0.5F};
    CHECK_THAT(refusal(control), Contains("must grow by 1 or more"));
    control.scaling = {.least = 4.0F, .most = 2.0F};
    CHECK_THAT(refusal(control), Contains("must stay between"));
    control = {.square_sum = make({1}), .scalars = make({StepScalars::Count}), .beta2 = 1.0F};
    CHECK_THAT(refusal(control), Contains("beta1 and beta2 must be in [0, 1)"));

    Adam adam{.parameter = make({4}),
              .grad = make({4}),
              .m = make({4}),
              .v = make({4}),
              .scalars = make({StepScalars::Count}),
              .working = make({4}, DType::BF16)};
    CHECK(refusal(adam).empty());
    adam.working = make({4});
    CHECK_THAT(refusal(adam), Contains("working must be F16 or BF16, found F32"));
    adam.working = make({3}, DType::F16);
    CHECK_THAT(refusal(adam), Contains("working must have the shape [4]"));
}
