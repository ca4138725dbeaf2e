// Compositions of the fused ops, and which operands they reject.
#include <catch2/catch.hpp>

#include "backend/ops/attention.h"
#include "backend/ops/matmul.h"
#include "backend/validate.h"
#include "recording_backend.h"
#include "support/check.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Names = std::vector<std::string>;

struct Fixture {
    Names ran;
    RecordingBackend backend{ran};

    Tensor make(const Shape& shape, DType dtype = DType::F32) { return backend.empty(shape, dtype); }
    AttentionBackward back() {
        return {.q = make({2, 3, 5, 4}),
                .k = make({2, 3, 7, 4}),
                .v = make({2, 3, 7, 6}),
                .out = make({2, 3, 5, 6}),
                .grad_out = make({2, 3, 5, 6}),
                .log_sums = make({2, 3, 5}),
                .grad_q = make({2, 3, 5, 4}),
                .grad_k = make({2, 3, 7, 4}),
                .grad_v = make({2, 3, 7, 6})};
    }
    DropoutRule rule() { return {.rate = 0.5F, .step = make({1}, DType::I32), .ordinals = make({2}, DType::I32)}; }
    Names composition(const AttentionBackward& op) {
        ran.clear();
        backend.run(op);
        return ran;
    }
};

template <class Op>
std::string refusal(const Op& op) {
    try {
        validate(op);
    } catch (const CheckFailure& failure) {
        return failure.what();
    }
    return "";
}

// The outputs that are scanned for NaN.
template <class Op>
Names scanned(const Op& op) {
    Names names;
    for (const Declared& operand : operands_of(op)) {
        if (operand.fully_written()) {
            names.emplace_back(operand.name);
        }
    }
    return names;
}

}  // namespace

TEST_CASE("attention drops its weights between softmax and the second product", "[fused]") {
    Fixture fixture;
    const AttentionBackward back = fixture.back();
    fixture.backend.run(Attention{.q = back.q, .k = back.k, .v = back.v, .out = back.out, .dropout = fixture.rule()});
    CHECK(fixture.ran == Names{"matmul", "masked_softmax", "dropout", "matmul"});
}

TEST_CASE("composed attention backward computes only the requested gradients", "[fused]") {
    Fixture fixture;
    AttentionBackward op = fixture.back();
    const Names weights{"matmul", "masked_softmax"};
    const auto after_weights = [&](Names rest) {
        rest.insert(rest.begin(), weights.begin(), weights.end());
        return rest;
    };
    CHECK(fixture.composition(op) ==
          after_weights({"matmul", "matmul", "masked_softmax_backward", "matmul", "matmul"}));
    op.dropout = fixture.rule();
    CHECK(fixture.composition(op) ==
          after_weights({"dropout", "matmul", "matmul", "dropout", "masked_softmax_backward", "matmul", "matmul"}));
    op.grad_q = Tensor();
    op.grad_k = Tensor();
    CHECK(fixture.composition(op) == after_weights({"dropout", "matmul"}));
    op = fixture.back();
    op.grad_k = Tensor();
    op.grad_v = Tensor();
    CHECK(fixture.composition(op) == after_weights({"matmul", "masked_softmax_backward", "matmul"}));
}

TEST_CASE("attention rejects operands that do not match", "[fused]") {
    Fixture fixture;
    const AttentionBackward good = fixture.back();
    const Attention forward{.q = good.q, .k = good.k, .v = good.v, .out = good.out, .log_sums = good.log_sums};
    CHECK(refusal(good).empty());
    CHECK(refusal(forward).empty());

    Attention sums = forward;
    sums.log_sums = fixture.make({2, 3, 7});
    CHECK_THAT(refusal(sums), Contains("attention: log_sums must have the shape [2, 3, 5]"));
    sums.log_sums = fixture.make({2, 3, 5}, DType::F16);
    CHECK_THAT(refusal(sums), Contains("log_sums must be F32"));
    sums.log_sums = good.out.narrow(3, 0, 1).narrow(2, 0, 5);
    CHECK_FALSE(refusal(sums).empty());
    Attention dropping = forward;
    dropping.dropout = {.rate = 0.5F};
    CHECK_THAT(refusal(dropping), Contains("step"));

    AttentionBackward op = good;
    op.grad_out = fixture.make({2, 3, 5, 4});
    CHECK_THAT(refusal(op), Contains("attention_backward: grad_out must have the shape [2, 3, 5, 6]"));
    op = good;
    op.grad_v = good.v;
    CHECK_THAT(refusal(op), Contains("grad_v") && Contains("must not share memory"));
    op = good;
    op.k = fixture.make({2, 3, 5, 4});
    op.v = fixture.make({2, 3, 5, 6});
    op.grad_v = Tensor();
    op.grad_k = op.grad_q;
    CHECK_THAT(refusal(op), Contains("grad_q") && Contains("must not share memory"));
    op = good;
    op.log_sums = Tensor();
    CHECK_THAT(refusal(op), Contains("log_sums is missing"));
    op = good;
    op.grad_q = Tensor();
    CHECK(refusal(op).empty());
}

TEST_CASE("gradients of packed q, k and v may interleave", "[fused]") {
    Fixture fixture;
    AttentionBackward op = fixture.back();
    const Tensor packed = fixture.make({2, 5, 3 * 12});
    const Tensor gradient = fixture.make({2, 5, 3 * 12});
    op.q = packed.narrow(2, 0, 12).heads(3);
    op.k = packed.narrow(2, 12, 12).heads(3);
    op.v = packed.narrow(2, 24, 12).heads(3);
    op.grad_q = gradient.narrow(2, 0, 12).heads(3);
    op.grad_k = gradient.narrow(2, 12, 12).heads(3);
    op.grad_v = gradient.narrow(2, 24, 12).heads(3);
    op.out = fixture.make({2, 5, 12}).heads(3);
    op.grad_out = fixture.make({2, 5, 12}).heads(3);
    CHECK(refusal(op).empty());
}

TEST_CASE("an output that a backend may leave unwritten need not be a number", "[fused]") {
    Fixture fixture;
    const AttentionBackward op = fixture.back();
    CHECK(scanned(Attention{.q = op.q, .k = op.k, .v = op.v, .out = op.out, .log_sums = op.log_sums}) == Names{"out"});
    CHECK(scanned(op) == Names{"grad_q", "grad_k", "grad_v"});
}

TEST_CASE("a linear layer is a product followed by bias and activation, if any", "[fused]") {
    Fixture fixture;
    Linear op{.x = fixture.make({5, 3}), .weight = fixture.make({4, 3}), .y = fixture.make({5, 4})};
    const auto composition = [&] {
        fixture.ran.clear();
        fixture.backend.run(op);
        return fixture.ran;
    };
    CHECK(composition() == Names{"matmul"});
    op.activation = Activation::Swish;
    CHECK(composition() == Names{"matmul", "bias_activation"});
    op.activation = Activation::None;
    op.bias = fixture.make({4});
    CHECK(composition() == Names{"matmul", "bias_activation"});
    CHECK(scanned(op) == Names{"y"});
}

TEST_CASE("a linear layer rejects operands that do not match", "[fused]") {
    Fixture fixture;
    const Linear good{.x = fixture.make({5, 3}, DType::F16),
                      .weight = fixture.make({4, 3}, DType::F16),
                      .bias = fixture.make({4}),
                      .y = fixture.make({5, 4}, DType::F16)};
    CHECK(refusal(good).empty());
    const auto refused = [&](auto change) {
        Linear op = good;
        change(op);
        return refusal(op);
    };
    CHECK(refused([&](Linear& op) { op.x = fixture.make({5, 6}, DType::F16).narrow(1, 0, 3); }).empty());
    CHECK(refused([&](Linear& op) { op.weight = fixture.make({4, 6}, DType::F16).narrow(1, 3, 3); }).empty());
    CHECK_THAT(refused([&](Linear& op) {
                   op.y = fixture.make({5, 8}, DType::F16).narrow(1, 0, 4);
               }),
               Contains("linear: y must be contiguous"));
    CHECK_THAT(refused([&](Linear& op) {
                   op.weight = fixture.make({4, 2}, DType::F16);
               }),
               Contains("linear: weight must have the shape [4, 3]"));
    CHECK_THAT(refused([&](Linear& op) {
                   op.x = fixture.make({1, 5, 3}, DType::F16);
               }),
               Contains("x must have rank 2"));
    CHECK_THAT(refused([&](Linear& op) { op.bias = fixture.make({4}, DType::F16); }), Contains("bias must be F32"));
    CHECK_THAT(refused([&](Linear& op) { op.bias = fixture.make({5}); }), Contains("bias must have the shape [4]"));
    CHECK_THAT(refused([&](Linear& op) { op.y = fixture.make({5, 4}); }), Contains("y must be F16"));
    CHECK_THAT(refused([&](Linear& op) {
                   op.x = fixture.make({5, 4}, DType::F16);
                   op.weight = fixture.make({4, 4}, DType::F16);
                   op.y = op.x;
               }),
               Contains("y") && Contains("must not share memory"));
}
