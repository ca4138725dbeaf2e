#include <catch2/catch.hpp>
#include <cmath>

#include "autograd/rotary.h"
#include "backend/ops/attention.h"
#include "backend/ops/matmul.h"
#include "gradient_check.h"

using namespace headscope;

namespace {

constexpr double kTolerance = 1e-8;  // of central differences with a step of 1e-5 over sums of order 1

}  // namespace

TEST_CASE("a product's gradients agree with central differences for all transposes") {
    GradientCheck check;
    for (const bool transpose_a : {false, true}) {
        for (const bool transpose_b : {false, true}) {
            const Shape a = transpose_a ? Shape{2, 3, 5, 4} : Shape{2, 3, 4, 5};
            const Shape b = transpose_b ? Shape{2, 3, 3, 5} : Shape{2, 3, 5, 3};
            const auto product = [&](Context& ctx, const std::vector<Var>& in) {
                return matmul(ctx, in[0], in[1], {transpose_a, transpose_b, 0.7F});
            };
            INFO("transpose a " << transpose_a << ", transpose b " << transpose_b);
            CHECK(check.worst({a, b}, product) < kTolerance);
            CHECK(check.worst({a, b}, product, true) < kTolerance);
        }
    }
}

TEST_CASE("linear's gradients agree with central differences") {
    GradientCheck check;
    for (const float alpha : {1.0F, 0.25F}) {
        const auto function = [&](Context& ctx, const std::vector<Var>& in) {
            return linear(ctx, in[0], in[1], alpha);
        };
        CHECK(check.worst({{2, 3, 5}, {4, 5}}, function) < kTolerance);
        CHECK(check.worst({{2, 3, 5}, {4, 5}}, function, true) < kTolerance);
    }
}

TEST_CASE("a view that is turned in place gives its variable the right gradient") {
    GradientCheck check;
    for (const bool neighbours : {false, true}) {
        const Turns turns{.table = make_from_host(check.backend(), {4, 2, 1}, DType::F64, noise(8, 3)),
                          .first = {},
                          .each_row = false,
                          .neighbours = neighbours};
        // Two heads of three columns, of which two are turned, and two columns of no head.
        const auto turned = [&](Context& ctx, const std::vector<Var>& in) {
            const Var packed = linear(ctx, in[0], in[1]);
            rotate(ctx, packed.narrow(2, 0, 6).heads(2), turns);
            return packed;
        };
        CHECK(check.worst({{2, 3, 5}, {8, 5}}, turned) < kTolerance);
        CHECK(check.worst({{2, 3, 5}, {8, 5}}, turned, true) < kTolerance);
    }
}

TEST_CASE("bias and activation, with and without dropout, agree with central differences") {
    GradientCheck check;
    for (const Activation activation : {Activation::None, Activation::Relu, Activation::Gelu, Activation::Swish,
                                        Activation::GeluTanh, Activation::GeluSigmoid, Activation::Sigmoid}) {
        for (const float rate : {0.0F, 0.4F}) {
            for (const bool twice : {false, true}) {
                INFO("activation " << static_cast<int>(activation) << ", rate " << rate << ", twice " << twice);
                const auto biased = [&](Context& ctx, const std::vector<Var>& in) {
                    ctx.regularisation = some_regularisation(ctx.backend, 2);
                    return bias_activation(ctx, in[0], in[1], activation, dropout_rule(ctx, rate, 3));
                };
                CHECK(check.worst({{2, 3, 5}, {5}}, biased, twice) < kTolerance);
                if (activation != Activation::None || rate > 0.0F) {
                    const auto unbiased = [&](Context& ctx, const std::vector<Var>& in) {
                        ctx.regularisation = some_regularisation(ctx.backend, 2);
                        return bias_activation(ctx, in[0], Var(), activation, dropout_rule(ctx, rate, 3));
                    };
                    CHECK(check.worst({{2, 3, 5}}, unbiased, twice) < kTolerance);
                }
            }
        }
    }
}

TEST_CASE("add and norm agree with central differences, whichever output is used") {
    GradientCheck check;
    for (const float rate : {0.0F, 0.4F}) {
        INFO("rate " << rate);
        const auto post = [&](Context& ctx, const std::vector<Var>& in) {
            ctx.regularisation = some_regularisation(ctx.backend, 2);
            return add_layer_norm(ctx, in[0], in[1], in[2], in[3], 1e-6F, dropout_rule(ctx, rate, 3)).y;
        };
        CHECK(check.worst({{2, 3, 5}, {2, 3, 5}, {5}, {5}}, post) < 1e-7);
        CHECK(check.worst({{2, 3, 5}, {2, 3, 5}, {5}, {5}}, post, true) < 1e-7);
        // Pre-norm: the sum bypasses a sub-layer, and the first norm has nothing to add.
        const auto pre = [&](Context& ctx, const std::vector<Var>& in) {
            ctx.regularisation = some_regularisation(ctx.backend, 2);
            const Normed first = add_layer_norm(ctx, in[0], Var(), in[1], in[2], 1e-6F);
            const Var sublayer = linear(ctx, first.y, in[3]);
            return add_layer_norm(ctx, sublayer, first.sum, in[1], in[2], 1e-6F, dropout_rule(ctx, rate, 4)).y;
        };
        CHECK(check.worst({{2, 3, 5}, {5}, {5}, {5, 5}}, pre) < 1e-7);
        const auto rms = [&](Context& ctx, const std::vector<Var>& in) {
            ctx.regularisation = some_regularisation(ctx.backend, 2);
            return add_layer_norm(ctx, in[0], in[1], in[2], Var(), 1e-6F, dropout_rule(ctx, rate, 3), NormType::Rms).y;
        };
        CHECK(check.worst({{2, 3, 5}, {2, 3, 5}, {5}}, rms) < 1e-7);
    }
}

TEST_CASE("a product of elements agrees with central differences, also with itself") {
    GradientCheck check;
    const auto product = [](Context& ctx, const std::vector<Var>& in) { return multiply(ctx, in[0], in[1]); };
    CHECK(check.worst({{2, 3, 5}, {2, 3, 5}}, product) < kTolerance);
    CHECK(check.worst({{2, 3, 5}, {2, 3, 5}}, product, true) < kTolerance);
    const auto square = [](Context& ctx, const std::vector<Var>& in) { return multiply(ctx, in[0], in[0]); };
    CHECK(check.worst({{2, 3, 5}}, square) < kTolerance);
}

TEST_CASE("concatenated columns agree with central differences, also of one variable twice") {
    GradientCheck check;
    const auto both = [](Context& ctx, const std::vector<Var>& in) { return concatenate(ctx, in[0], in[1]); };
    CHECK(check.worst({{2, 3, 5}, {2, 3, 2}}, both) < kTolerance);
    CHECK(check.worst({{2, 3, 5}, {2, 3, 2}}, both, true) < kTolerance);
    const auto twice = [](Context& ctx, const std::vector<Var>& in) { return concatenate(ctx, in[0], in[0]); };
    CHECK(check.worst({{2, 3, 5}}, twice) < kTolerance);
}

TEST_CASE("additive scores agree with central differences") {
    GradientCheck check;
    const auto scores = [](Context& ctx, const std::vector<Var>& in) {
        return additive_scores(ctx, in[0], in[1], in[2]);
    };
    for (const bool accumulated : {false, true}) {
        CHECK(check.worst({{2, 3, 4, 5}, {2, 3, 2, 5}, {3, 5}}, scores, accumulated) < kTolerance);
    }
    const auto one_text = [](Context& ctx, const std::vector<Var>& in) {
        return additive_scores(ctx, in[0], in[0], in[1]);
    };
    CHECK(check.worst({{1, 2, 3, 4}, {2, 4}}, one_text) < kTolerance);
}

TEST_CASE("neighbours and their weighted sums agree with central differences") {
    GradientCheck check;
    const Tensor lengths = make_from_host(check.backend(), {2}, DType::I32, std::vector<std::int32_t>{6, 4});
    for (const Neighbours& neighbours : {Neighbours{.taps = 3, .first = -1, .positions = 6, .lengths = lengths},
                                         Neighbours{.taps = 4, .first = -6, .step = 2, .positions = 6}}) {
        const auto gathered = [&](Context& ctx, const std::vector<Var>& in) { return unfold(ctx, in[0], neighbours); };
        CHECK(check.worst({{2, 6, 5}}, gathered) < kTolerance);
        CHECK(check.worst({{2, 6, 5}}, gathered, true) < kTolerance);
        const auto summed = [&](Context& ctx, const std::vector<Var>& in) {
            return depthwise(ctx, in[0], in[1], neighbours);
        };
        CHECK(check.worst({{2, 6, 5}, {neighbours.taps, 5}}, summed) < kTolerance);
        CHECK(check.worst({{2, 6, 5}, {neighbours.taps, 5}}, summed, true) < kTolerance);
    }
}

TEST_CASE("dropout agrees with central differences and is the identity at rate 0") {
    GradientCheck check;
    for (const bool spending : {false, true}) {
        const auto function = [&](Context& ctx, const std::vector<Var>& in) {
            ctx.regularisation = some_regularisation(ctx.backend, 2);
            const DropoutRule rule = dropout_rule(ctx, 0.5F, 9);
            return spending ? dropout_spending(ctx, in[0], rule) : dropout(ctx, in[0], rule);
        };
        CHECK(check.worst({{2, 3, 7}}, function) < kTolerance);
        CHECK(check.worst({{2, 3, 7}}, function, true) < kTolerance);
    }
    Context ctx{check.backend()};
    CHECK(dropout_rule(ctx, 0.5F, 9).rate == 0.0F);  // no step: a pass without dropout
    const Var x(make_from_host(check.backend(), {1, 1, 2}, DType::F64, std::vector<double>{1, 2}));
    CHECK(dropout(ctx, x, {}).value().buffer == x.value().buffer);
}

TEST_CASE("an embedding's gradient goes to the tokens and to learned positions") {
    GradientCheck check;
    const Tensor ids = make_from_host(check.backend(), {2, 3}, DType::I32, std::vector<std::int32_t>{1, 3, 1, 0, 3, 3});
    const Tensor order = make_from_host(check.backend(), {6}, DType::I32, std::vector<std::int32_t>{3, 0, 2, 1, 4, 5});
    const auto function = [&](Context& ctx, const std::vector<Var>& in) {
        return embed(ctx, {.ids = ids, .order = order, .table = in[0], .positions = in[1], .scale = 2.0F});
    };
    // Position 3 and token 2 do not occur; their gradients are still 0.
    CHECK(check.worst({{4, 5}, {4, 5}}, function) < kTolerance);
    CHECK(check.worst({{4, 5}, {4, 5}}, function, true) < kTolerance);

    Tape tape;
    Context ctx{check.backend(), &tape};
    const Var table(make_from_host(check.backend(), {4, 5}, DType::F64, noise(20, 1)), true);
    CHECK_THROWS_AS(embed(ctx, {.ids = ids, .table = table}), CheckFailure);  // no order
}

TEST_CASE("attention agrees with central differences through packed views, masks and dropout") {
    GradientCheck check;
    const Tensor lengths = make_from_host(check.backend(), {2}, DType::I32, std::vector<std::int32_t>{3, 2});
    for (const bool causal : {false, true}) {
        for (const float rate : {0.0F, 0.3F}) {
            INFO("causal " << causal << ", rate " << rate);
            // q, k, v packed: 2 heads, d_k 3, d_v 2
            const auto self = [&](Context& ctx, const std::vector<Var>& in) {
                ctx.regularisation = some_regularisation(ctx.backend, 2);
                const Var packed = linear(ctx, in[0], in[1]);
                const Var Q = packed.narrow(2, 0, 6).heads(2);
                const Var K = packed.narrow(2, 6, 6).heads(2);
                const Var V = packed.narrow(2, 12, 4).heads(2);
                const AttentionMask mask{.key_lengths = lengths, .causal = causal};
                return attend(ctx, {}, Q, K, V, mask, dropout_rule(ctx, rate, 2));
            };
            CHECK(check.worst({{2, 4, 5}, {16, 5}}, self) < kTolerance);
            CHECK(check.worst({{2, 4, 5}, {16, 5}}, self, true) < kTolerance);
        }
    }
}

TEST_CASE("attention with a number for each distance agrees with central differences") {
    GradientCheck check;
    for (const std::int64_t distances : {1, 3, 7, 11}) {  // fewer than there are, all and more
        const auto function = [&](Context& ctx, const std::vector<Var>& in) {
            const AttentionMask mask{.causal = distances == 3};
            return attend(ctx, {}, in[0], in[1], in[2], mask, {},
                          {.scale = distances > 3 ? 0.0F : 1.0F, .by_distance = in[3]});
        };
        const std::vector<Shape> shapes{{2, 3, 4, 5}, {2, 3, 4, 5}, {2, 3, 4, 2}, {distances, 3}};
        INFO(distances << " distances");
        CHECK(check.worst(shapes, function) < kTolerance);
        CHECK(check.worst(shapes, function, true) < kTolerance);
    }
    // Other numbers of queries and keys, and nothing but the table to learn.
    for (const auto& [queries, keys] : {std::pair{2, 6}, std::pair{6, 2}}) {
        const auto function = [&, count = queries * keys, shape = Shape{2, 3, queries, keys}](
                                  Context& ctx, const std::vector<Var>& in) {
            const Var scores(make_from_host(ctx.backend, shape, DType::F64, noise(6 * count, 5)));
            return masked_softmax(ctx, scores, {}, in[0]);
        };
        CHECK(check.worst({{5, 3}}, function) < kTolerance);
    }
}

TEST_CASE("attention without a tape equals the materialised path") {
    GradientCheck check;
    Backend& backend = check.backend();
    const auto random = [&](const Shape& shape, std::uint64_t seed) {
        return Var(make_from_host(backend, shape, DType::F64, noise(shape.elements(), seed)));
    };
    const Var Q = random({2, 3, 4, 5}, 1);
    const Var K = random({2, 3, 6, 5}, 2);
    const Var V = random({2, 3, 6, 2}, 3);
    const AttentionMask mask{.key_lengths = make_from_host(backend, {2}, DType::I32, std::vector<std::int32_t>{6, 1})};

    struct Onlooker : AttentionObserver {
        bool wants(const AttentionSite& site) const override { return site.layer == 1; }
        Tensor observe(Backend&, const AttentionView& view) override {
            seen = view.weights;
            shown = view;
            return edited.defined() ? edited : view.weights;
        }
        Tensor seen, edited;
        AttentionView shown;
    } onlooker;
    Context ctx{backend};
    ctx.observer = &onlooker;
    const AttentionSite unobserved{AttentionKind::Cross, 0};
    const AttentionSite observed{AttentionKind::Cross, 1};
    const std::vector<double> fused = to_host<double>(backend, attend(ctx, unobserved, Q, K, V, mask).value());
    CHECK_FALSE(onlooker.seen.defined());
    const std::vector<double> plain = to_host<double>(backend, attend(ctx, observed, Q, K, V, mask).value());
    REQUIRE(onlooker.seen.shape == Shape{2, 3, 4, 6});
    REQUIRE(fused.size() == plain.size());
    for (std::size_t i = 0; i < fused.size(); ++i) {
        CHECK(fused[i] == Approx(plain[i]).epsilon(1e-12));
    }
    const std::vector<double> weights = to_host<double>(backend, onlooker.seen);
    for (std::size_t row = 0; row < 24; ++row) {
        double sum = 0.0;
        for (std::size_t key = 0; key < 6; ++key) {
            sum += weights[row * 6 + key];
        }
        CHECK(sum == Approx(1.0).epsilon(1e-12));
    }
    CHECK(weights[12 * 6 + 0] == 1.0);  // only one key

    // The weights can be recomputed from what an observer gets.
    const AttentionView& shown = onlooker.shown;
    CHECK(shown.site == observed);
    CHECK(shown.scale == Approx(1.0 / std::sqrt(5.0)));
    const Tensor again = backend.empty({2, 3, 4, 6}, DType::F64);
    backend.run(Matmul{.a = shown.queries, .b = shown.keys, .out = again, .transpose_b = true, .alpha = shown.scale});
    backend.run(MaskedSoftmax{.scores = again, .weights = again, .mask = shown.mask});
    CHECK(to_host<double>(backend, again) == weights);

    // An edit replaces the weights: all on key 0 gives V's first row to each query.
    std::vector<double> first(weights.size(), 0.0);
    for (std::size_t row = 0; row < 24; ++row) {
        first[row * 6] = 1.0;
    }
    onlooker.edited = make_from_host(backend, {2, 3, 4, 6}, DType::F64, first);
    const std::vector<double> edited = to_host<double>(backend, attend(ctx, observed, Q, K, V, mask).value());
    const std::vector<double> values = to_host<double>(backend, V.value());
    CHECK(edited[0] == values[0]);
    CHECK(edited[(1 * 4 + 3) * 6 + 2 * 2 + 1] == values[((1 * 3 + 2) * 6) * 2 + 1]);

    Tape tape;
    ctx.tape = &tape;
    const Var trained(Q.value(), true);
    CHECK_THROWS_AS(attend(ctx, observed, trained, K, V, mask), CheckFailure);
}
