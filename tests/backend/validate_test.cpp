#include "backend/validate.h"

#include <catch2/catch.hpp>

#include "backend/operand_checks.h"
#include "support/check.h"

using namespace headscope;

namespace {

class SizedBuffer final : public Buffer {
public:
    explicit SizedBuffer(std::size_t bytes) : bytes_(bytes) {}
    std::size_t bytes() const override { return bytes_; }

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

TEST_CASE("two views overlap only where they share an element", "[validate]") {
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

TEST_CASE("a refusal names the op, the operand, what was expected and what was found", "[validate]") {
    CHECK_THAT(refusal(Matmul{.a = make({3, 4}), .b = make({5, 6}), .out = make({3, 6})}),
               Equals("matmul: a and b must agree in k: a is F32 [3, 4], b is F32 [5, 6]"));
    CHECK_THAT(refusal(Matmul{.a = make({3, 4}), .b = make({4, 6}), .out = make({3, 5})}),
               Equals("matmul: out must end in [3, 6], found F32 [3, 5]"));
    CHECK_THAT(refusal(AddScaled{.a = make({3}), .out = make({3}, DType::F16)}),
               Equals("add_scaled: out must be F32 like the first operand, found F16 [3]"));
    CHECK_THAT(refusal(AddScaled{.a = make({3}), .out = {}}), Equals("add_scaled: out is missing"));
    CHECK(refusal(Matmul{.a = make({3, 4}), .b = make({4, 6}), .out = make({3, 6})}).empty());
}

TEST_CASE("no operand reaches past its buffer", "[validate]") {
    Tensor x = make({4, 4});
    x.offset = 1;
    CHECK_THAT(refusal(Fill{.out = x}), Contains("reaches past its buffer of 64 bytes"));
    x = make({4, 4});
    x.strides[1] = 2;
    CHECK_THAT(refusal(Fill{.out = x}), Contains("innermost stride 1"));
}

TEST_CASE("a product refuses batches that differ, a transposed mismatch and an output that is an operand",
          "[validate]") {
    CHECK_THAT(refusal(Matmul{.a = make({2, 3, 4}), .b = make({1, 4, 5}), .out = make({2, 3, 5})}),
               Contains("batch dimensions"));
    CHECK_THAT(refusal(Matmul{.a = make({4, 4}), .b = make({4, 4}), .out = make({4, 4}), .compute = DType::I32}),
               Contains("compute must be F32, F16 or BF16"));
    const Tensor a = make({4, 4});
    CHECK_THAT(refusal(Matmul{.a = a, .b = make({4, 4}), .out = a}), Contains("must not share memory"));
    CHECK_THAT(refusal(Matmul{.a = make({3, 4}), .b = make({4, 6}), .out = make({3, 6}), .transpose_b = true}),
               Contains("b is F32 [4, 6] transposed"));
}

TEST_CASE("outputs may be inputs only where the op says so", "[validate]") {
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

TEST_CASE("dropout wants its step and its ordinals", "[validate]") {
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
}

TEST_CASE("masks, indices and scalars are checked", "[validate]") {
    const Tensor scores = make({2, 4, 3, 5});
    CHECK_THAT(
        refusal(MaskedSoftmax{.scores = scores, .weights = scores, .mask = {.key_lengths = make({3}, DType::I32)}}),
        Contains("mask.key_lengths must have the shape [2]"));
    CHECK_THAT(refusal(MaskedSoftmax{.scores = scores, .weights = scores, .mask = {.query_offset = make({1})}}),
               Contains("mask.query_offset must be I32"));
    CHECK_THAT(refusal(MaskedSoftmax{.scores = scores.narrow(3, 0, 4), .weights = scores}), Contains("contiguous"));
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
    CHECK_THAT(refusal(SmoothedCrossEntropy{.logits = make({2, 3}, DType::F64),
                                            .targets = make({2}, DType::I32),
                                            .loss = make({2}),
                                            .nll = make({2}, DType::F64)}),
               Contains("loss must be F64"));
}
