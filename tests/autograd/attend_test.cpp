// Both backward passes of attention: fused, and through the weights.
#include <algorithm>
#include <catch2/catch.hpp>

#include "backend/ops/attention.h"
#include "backend/validate.h"
#include "backends/cpu/reference/reference.h"
#include "gradient_check.h"

using namespace headscope;

namespace {

// The oracle posing as a device with fused backward kernels; its compositions stand for them.
class FusedOracle final : public CpuReference<double> {
public:
    using CpuReference<double>::CpuReference;

    Support support(OpId op, DType dtype) const override {
        return op == OpId::AttentionBackward ? Support{} : CpuReference<double>::support(op, dtype);
    }
    using CpuReference<double>::run;
    void run(const Attention& op) override {
        ++forward;
        log_sums = op.log_sums;
        Backend::run(op);
    }
    void run(const AttentionBackward& op) override {
        validate(op);  // a kernel would write its gradients at once
        ++backward;
        CHECK(op.log_sums.buffer == log_sums.buffer);
        Backend::run(op);
    }

    int forward = 0;
    int backward = 0;
    Tensor log_sums;
};

struct Onlooker : AttentionObserver {
    bool wants(const AttentionSite& site) const override { return site.layer == 1; }
    Tensor observe(Backend& /*backend*/, const AttentionView& view) override {
        ++seen;
        return view.weights;
    }
    int seen = 0;
};

struct Passed {
    std::vector<double> out;
    std::vector<double> gradient;  // of packed q, k, v
};

// Forward and backward over packed q, k and v: 2 sentences of 4, 2 heads, d_k 3, d_v 2, dropout and a mask.
Passed pass(Backend& backend, AttentionObserver* observer, int layer) {
    Tape tape;
    Context ctx{backend, &tape};
    ctx.observer = observer;
    ctx.regularisation = some_regularisation(backend, 2);
    const Var packed(make_from_host(backend, {2, 4, 16}, DType::F64, noise(128, 3)), true);
    const AttentionMask mask{.key_lengths = make_from_host(backend, {2}, DType::I32, std::vector<std::int32_t>{4, 2}),
                             .causal = true};
    const Var out =
        attend(ctx, {AttentionKind::DecoderSelf, layer}, packed.narrow(2, 0, 6).heads(2),
               packed.narrow(2, 6, 6).heads(2), packed.narrow(2, 12, 4).heads(2), mask, dropout_rule(ctx, 0.3F, 2));
    from_host(backend, out.gradient_target(backend).tensor, noise(32, 4));
    tape.backward(backend);
    return {to_host<double>(backend, out.value()), to_host<double>(backend, packed.gradient())};
}

void check_close(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(std::abs(a[i] - b[i]) < 1e-12);
    }
}

}  // namespace

TEST_CASE("attention is one op forward and one backward if the device has both and nobody observes", "[attend]") {
    FusedOracle fused{DeviceInfo{}};
    Onlooker onlooker;
    const Passed one = pass(fused, &onlooker, 0);
    CHECK(fused.forward == 1);
    CHECK(fused.backward == 1);
    CHECK(fused.log_sums.shape == Shape{2, 2, 4});
    CHECK(fused.log_sums.dtype == DType::F64);
    CHECK(onlooker.seen == 0);

    const Passed watched = pass(fused, &onlooker, 1);
    CHECK(fused.forward == 1);
    CHECK(fused.backward == 1);
    CHECK(onlooker.seen == 1);
    check_close(one.out, watched.out);
    check_close(one.gradient, watched.gradient);

    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const Passed composed = pass(*oracle, nullptr, 0);
    check_close(one.out, composed.out);
    check_close(one.gradient, composed.gradient);
}

TEST_CASE("a device that composes the backward keeps the forward's weights", "[attend]") {
    struct Composing final : CpuReference<double> {
        using CpuReference<double>::CpuReference;
        using CpuReference<double>::run;
        void run(const Attention& op) override {
            ++fused;
            Backend::run(op);
        }
        void run(const AttentionBackward& op) override {
            ++fused;
            Backend::run(op);
        }
        int fused = 0;
    } composing{DeviceInfo{}};
    pass(composing, nullptr, 0);
    CHECK(composing.fused == 0);
}

TEST_CASE("heads that share keys see what heads with copies of them do", "[attend]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    FusedOracle fused{DeviceInfo{}};
    const auto with_heads = [](Backend& backend, std::int64_t groups, std::int64_t copies) {
        // Columns [groups, copies, 3] of keys, which are of [groups, 3] numbers, and of 2 for values.
        const auto copied = [&](std::int64_t columns, int seed) {
            const std::vector<double> own = noise(2 * 5 * groups * columns, seed);
            std::vector<double> all;
            for (std::int64_t i = 0; i < 2 * 5 * groups * copies * columns; ++i) {
                all.push_back(own[static_cast<std::size_t>(i / (copies * columns) * columns + i % columns)]);
            }
            return Var(make_from_host(backend, {2, 5, groups * copies * columns}, DType::F64, all), true);
        };
        Tape tape;
        Context ctx{backend, &tape};
        const Var q(make_from_host(backend, {2, 4, 12}, DType::F64, noise(96, 5)), true);
        const Var k = copied(3, 6);
        const Var v = copied(2, 7);
        const Var out =
            attend(ctx, {}, q.heads(4), k.heads(groups * copies), v.heads(groups * copies), {.causal = true});
        from_host(backend, out.gradient_target(backend).tensor, noise(64, 8));
        tape.backward(backend);
        std::vector<double> all = to_host<double>(backend, out.value());
        for (const Var& one : {q, k, v}) {
            const std::vector<double> gradient = to_host<double>(backend, one.gradient());
            const std::int64_t columns = one.shape()[2] / (groups * copies);
            std::vector<double> sums = gradient;
            if (one.identity() != q.identity()) {
                sums.assign(static_cast<std::size_t>(2 * 5 * groups * columns), 0.0);
                for (std::size_t i = 0; i < gradient.size(); ++i) {
                    const auto at = static_cast<std::int64_t>(i);
                    sums[static_cast<std::size_t>(at / (copies * columns) * columns + at % columns)] += gradient[i];
                }
            }
            all.insert(all.end(), sums.begin(), sums.end());
        }
        return all;
    };
    for (Backend* backend : {static_cast<Backend*>(&fused), oracle.get()}) {
        for (const std::int64_t groups : {1, 2}) {
            check_close(with_heads(*backend, groups, 1), with_heads(*backend, groups, 4 / groups));
        }
    }
}

TEST_CASE("documents in one sentence do not see each other", "[attend]") {
    constexpr std::int64_t kFirst = 3;  // tokens of the first document, of 7
    const std::vector<double> tokens = noise(7 * 16, 3);
    const std::vector<double> weights = noise(7 * 4, 4);
    struct Block {
        std::vector<double> out;
        std::vector<double> gradient;
    };
    const auto block = [&](Backend& backend, std::int64_t first, std::int64_t count, const std::vector<double>& grads) {
        Tape tape;
        Context ctx{backend, &tape};
        std::vector<std::int32_t> ranges;
        for (std::int64_t query = first; query < first + count; ++query) {
            const bool in_first = query < kFirst && first == 0;
            ranges.insert(ranges.end(),
                          {in_first ? 0 : static_cast<std::int32_t>(std::max<std::int64_t>(0, kFirst - first)),
                           in_first ? 3 : 7});
        }
        const auto part = [&](const std::vector<double>& all, std::int64_t columns) {
            return std::vector<double>(all.begin() + first * columns, all.begin() + (first + count) * columns);
        };
        const Var packed(make_from_host(backend, {1, count, 16}, DType::F64, part(tokens, 16)), true);
        const Var out = attend(
            ctx, {}, packed.narrow(2, 0, 6).heads(2), packed.narrow(2, 6, 6).heads(2), packed.narrow(2, 12, 4).heads(2),
            {.causal = true, .key_ranges = make_from_host(backend, {1, count, 2}, DType::I32, ranges)});
        from_host(backend, out.gradient_target(backend).tensor, part(grads, 4));
        tape.backward(backend);
        return Block{to_host<double>(backend, out.value()), to_host<double>(backend, packed.gradient())};
    };
    FusedOracle fused{DeviceInfo{}};
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    for (Backend* backend : {static_cast<Backend*>(&fused), oracle.get()}) {
        const Block both = block(*backend, 0, 7, weights);
        const Block first = block(*backend, 0, kFirst, weights);
        const Block second = block(*backend, kFirst, 7 - kFirst, weights);
        const auto joined = [](std::vector<double> a, const std::vector<double>& b) {
            a.insert(a.end(), b.begin(), b.end());
            return a;
        };
        check_close(both.out, joined(first.out, second.out));
        check_close(both.gradient, joined(first.gradient, second.gradient));
        std::vector<double> of_second = weights;
        std::fill_n(of_second.begin(), kFirst * 4, 0.0);
        const Block influence = block(*backend, 0, 7, of_second);
        CHECK(std::all_of(influence.gradient.begin(), influence.gradient.begin() + kFirst * 16,
                          [](double value) { return value == 0.0; }));
    }
}

TEST_CASE("fused attention agrees with central differences", "[attend]") {
    GradientCheck check(std::make_unique<FusedOracle>(DeviceInfo{}));
    const Tensor lengths = make_from_host(check.backend(), {2}, DType::I32, std::vector<std::int32_t>{3, 0});
    for (const bool causal : {false, true}) {
        for (const float rate : {0.0F, 0.3F}) {
            INFO("causal " << causal << ", rate " << rate);
            const auto self = [&](Context& ctx, const std::vector<Var>& in) {
                ctx.regularisation = some_regularisation(ctx.backend, 2);
                const Var packed = linear(ctx, in[0], in[1]);
                const AttentionMask mask{.key_lengths = lengths, .causal = causal};
                return attend(ctx, {}, packed.narrow(2, 0, 6).heads(2), packed.narrow(2, 6, 6).heads(2),
                              packed.narrow(2, 12, 4).heads(2), mask, dropout_rule(ctx, rate, 2));
            };
            CHECK(check.worst({{2, 4, 5}, {16, 5}}, self) < 1e-8);
            CHECK(check.worst({{2, 4, 5}, {16, 5}}, self, true) < 1e-8);
        }
    }
    // Heads that share keys and values, of sentences and of a memory, with and without weights to look at.
    for (const std::int64_t groups : {1, 2}) {
        const auto self = [&](Context& ctx, const std::vector<Var>& in) {
            ctx.regularisation = some_regularisation(ctx.backend, 2);
            const Var packed = linear(ctx, in[0], in[1]);
            const AttentionMask mask{.key_lengths = lengths, .causal = true};
            return attend(ctx, {}, packed.narrow(2, 0, 12).heads(4), packed.narrow(2, 12, 3 * groups).heads(groups),
                          packed.narrow(2, 12 + 3 * groups, 2 * groups).heads(groups), mask,
                          dropout_rule(ctx, 0.3F, 2));
        };
        Onlooker onlooker;
        const auto watched = [&](Context& ctx, const std::vector<Var>& in) {
            ctx.observer = &onlooker;
            return attend(ctx, {AttentionKind::Cross, 1}, in[0].heads(4), in[1].heads(groups), in[2].heads(groups), {});
        };
        CHECK(check.worst({{2, 4, 5}, {12 + 5 * groups, 5}}, self) < 1e-8);
        CHECK(check.worst({{2, 4, 12}, {2, 3, 3 * groups}, {2, 3, 2 * groups}}, watched, true) < 1e-8);
        CHECK(onlooker.seen > 0);
    }
    // One variable in two or three roles.
    CHECK(check.worst({{2, 4, 6}, {2, 4, 4}}, [](Context& ctx, const std::vector<Var>& in) {
        return attend(ctx, {}, in[0].heads(2), in[0].heads(2), in[1].heads(2), {.causal = true});
    }) < 1e-8);
    CHECK(check.worst({{2, 4, 6}}, [](Context& ctx, const std::vector<Var>& in) {
        return attend(ctx, {}, in[0].heads(2), in[0].heads(2), in[0].heads(2), {.causal = true});
    }) < 1e-8);
    // Into variables that were written before, and with gradients for some only.
    for (const bool twice : {false, true}) {
        const auto cross = [](Context& ctx, const std::vector<Var>& in) {
            const Var fixed(make_from_host(ctx.backend, {2, 3, 6}, DType::F64, noise(36, 9)));
            return attend(ctx, {AttentionKind::Cross, 0}, in[0].heads(2), fixed.heads(2), in[1].heads(2), {});
        };
        CHECK(check.worst({{2, 4, 6}, {2, 3, 4}}, cross, twice) < 1e-8);
    }
}
