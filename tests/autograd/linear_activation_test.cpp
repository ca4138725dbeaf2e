// Both ways to run a linear layer: fused, and as a product followed by bias and activation.
#include <catch2/catch.hpp>

#include "backend/ops/bias.h"
#include "backend/ops/layer_norm.h"
#include "backend/ops/matmul.h"
#include "backends/cpu/reference/reference.h"
#include "gradient_check.h"

using namespace headscope;

namespace {

// The oracle posing as a device with the op; its composition stands for a kernel.
class FusedActivationOracle final : public CpuReference<double> {
public:
    using CpuReference<double>::CpuReference;

    Support support(OpId op, DType dtype) const override {
        return op == OpId::Linear ? Support{} : CpuReference<double>::support(op, dtype);
    }
    using CpuReference<double>::run;
    void run(const Linear& op) override {
        ++fused;
        Backend::run(op);
    }

    int fused = 0;
};

struct Way {
    Activation activation = Activation::None;
    bool bias = true;
    float rate = 0.0F;
};

// inputs: x [2, 3, 5], weight [4, 5] and, perhaps, bias [4]
Var layer(Context& ctx, const std::vector<Var>& in, const Way& way) {
    ctx.regularisation = some_regularisation(ctx.backend, 2);
    return linear_activation(ctx, in[0], in[1], way.bias ? in[2] : Var(), way.activation,
                             dropout_rule(ctx, way.rate, 2));
}

std::vector<Shape> shapes(const Way& way) {
    std::vector<Shape> all{{2, 3, 5}, {4, 5}};
    if (way.bias) {
        all.push_back(Shape{4});
    }
    return all;
}

struct PassedLayer {
    std::vector<double> y;
    std::vector<std::vector<double>> gradients;
    bool operator==(const PassedLayer&) const = default;
};

PassedLayer pass(Backend& backend, const Way& way) {
    Tape tape;
    Context ctx{backend, &tape};
    std::vector<Var> in;
    for (const Shape& shape : shapes(way)) {
        in.emplace_back(make_from_host(backend, shape, DType::F64, noise(shape.elements(), in.size())), true);
    }
    const Var y = layer(ctx, in, way);
    from_host(backend, y.gradient_target(backend).tensor, noise(24, 9));
    tape.backward(backend);
    PassedLayer passed{to_host<double>(backend, y.value()), {}};
    for (const Var& each : in) {
        passed.gradients.push_back(to_host<double>(backend, each.gradient()));
    }
    return passed;
}

}  // namespace

TEST_CASE("a linear layer is one op if the device has it and nothing else is needed", "[linear]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto runs_fused = [&](const Way& way) {
        FusedActivationOracle fused{DeviceInfo{}};
        CHECK(pass(fused, way) == pass(*oracle, way));
        return fused.fused == 1;
    };
    CHECK(runs_fused({Activation::None}));
    CHECK(runs_fused({Activation::Relu}));
    CHECK(runs_fused({Activation::Relu, false}));
    CHECK_FALSE(runs_fused({Activation::None, false}));
    CHECK_FALSE(runs_fused({Activation::Gelu}));
    CHECK_FALSE(runs_fused({Activation::Swish}));
    CHECK_FALSE(runs_fused({Activation::GeluTanh}));
    CHECK_FALSE(runs_fused({Activation::Relu, true, 0.3F}));
    CHECK_FALSE(runs_fused({Activation::None, true, 0.3F}));

    struct Composing final : CpuReference<double> {
        using CpuReference<double>::CpuReference;
        using CpuReference<double>::run;
        void run(const Linear& op) override {
            ++fused;
            Backend::run(op);
        }
        int fused = 0;
    } composing{DeviceInfo{}};
    pass(composing, {Activation::Relu});
    CHECK(composing.fused == 0);
}

TEST_CASE("a fused linear layer agrees with central differences", "[linear]") {
    GradientCheck check(std::make_unique<FusedActivationOracle>(DeviceInfo{}));
    for (const Way& way : {Way{Activation::None}, {Activation::Relu}, {Activation::Relu, false}}) {
        const auto function = [&](Context& ctx, const std::vector<Var>& in) { return layer(ctx, in, way); };
        CHECK(check.worst(shapes(way), function) < 1e-8);
        CHECK(check.worst(shapes(way), function, true) < 1e-8);
    }
}

TEST_CASE("the tape keeps a linear layer's result only for ReLU's backward", "[linear]") {
    for (const bool relu : {false, true}) {
        FusedActivationOracle backend{DeviceInfo{}};
        Tape tape;
        Context ctx{backend, &tape};
        std::vector<Var> in;
        for (const Shape& shape : shapes({})) {
            in.emplace_back(make_from_host(backend, shape, DType::F64, noise(shape.elements(), 1)), true);
        }
        const std::size_t before = backend.memory().live;
        const Var gradient =
            linear_activation(ctx, in[0], in[1], in[2], relu ? Activation::Relu : Activation::None).without_value();
        CHECK((backend.memory().live > before) == relu);
    }
}

namespace {

// Counts passes over a gradient that only sum its columns.
class CountingOracle final : public CpuReference<double> {
public:
    using CpuReference<double>::CpuReference;
    using CpuReference<double>::run;
    void run(const BiasActivationBackward& op) override {
        within = op.sums.defined() ? 1 : 0;
        CpuReference<double>::run(op);
        within = 0;
    }
    void run(const AddLayerNormBackward& op) override {
        within = op.grad_x_sums.defined() ? 1 : 0;
        CpuReference<double>::run(op);
        within = 0;
    }
    void run(const SumRows& op) override {
        (within > 0 ? composed : own) += 1;
        CpuReference<double>::run(op);
    }

    int within = 0;  // an op that writes sums, of which this oracle composes it
    int composed = 0;
    int own = 0;
};

// inputs: x [2, 3, 5], weight [4, 5], bias [4], residual [2, 3, 4], gain [4], bias of the norm [4]
Var normed_layer(Context& ctx, const std::vector<Var>& in, Activation activation, float rate) {
    ctx.regularisation = some_regularisation(ctx.backend, 2);
    const Var y = linear_activation(ctx, in[0], in[1], in[2], activation);
    return add_layer_norm(ctx, y, in[3], in[4], in[5], 1e-3F, dropout_rule(ctx, rate, 2)).y;
}

std::vector<Shape> normed_shapes() {
    return {{2, 3, 5}, {4, 5}, {4}, {2, 3, 4}, {4}, {4}};
}

}  // namespace

TEST_CASE("the gradient of a bias is summed by the op that writes the gradient it is summed of", "[linear]") {
    struct Sums {
        int composed, own;
        bool operator==(const Sums&) const = default;
    };
    const auto sums = [](const auto& function, const std::vector<Shape>& shapes) {
        CountingOracle oracle{DeviceInfo{}};
        Tape tape;
        Context ctx{oracle, &tape};
        std::vector<Var> in;
        for (const Shape& shape : shapes) {
            in.emplace_back(make_from_host(oracle, shape, DType::F64, noise(shape.elements(), in.size())), true);
        }
        const Var y = function(ctx, in);
        from_host(oracle, y.gradient_target(oracle).tensor, noise(24, 9));
        tape.backward(oracle);
        return Sums{oracle.composed, oracle.own};
    };
    const auto alone = [&](const Way& way) {
        return sums([&](Context& ctx, const std::vector<Var>& in) { return layer(ctx, in, way); }, shapes(way));
    };
    CHECK(alone({Activation::Relu}) == Sums{1, 0});
    CHECK(alone({Activation::Gelu, true, 0.3F}) == Sums{1, 0});
    CHECK(alone({Activation::None}) == Sums{0, 1});  // nothing here writes the gradient
    CHECK(alone({Activation::Relu, false}) == Sums{0, 0});
    const auto before_norm = [&](Activation activation) {
        return sums([&](Context& ctx, const std::vector<Var>& in) { return normed_layer(ctx, in, activation, 0.3F); },
                    normed_shapes());
    };
    CHECK(before_norm(Activation::None) == Sums{1, 0});
    CHECK(before_norm(Activation::Relu) == Sums{1, 0});
}

TEST_CASE("sums with a norm's backward agree with central differences", "[linear]") {
    for (const bool fused : {false, true}) {
        GradientCheck check(fused ? std::unique_ptr<Backend>(std::make_unique<FusedActivationOracle>(DeviceInfo{}))
                                  : open_device("cpu:oracle"));
        for (const float rate : {0.0F, 0.3F}) {
            const auto function = [&](Context& ctx, const std::vector<Var>& in) {
                return normed_layer(ctx, in, Activation::None, rate);
            };
            CHECK(check.worst(normed_shapes(), function) < 1e-7);
            CHECK(check.worst(normed_shapes(), function, true) < 1e-7);
        }
    }
}

TEST_CASE("nothing is added to a gradient whose sums are written", "[linear]") {
    const auto oracle = open_device("cpu:oracle");
    const auto var = [&](const Shape& shape) {
        return Var(make_from_host(*oracle, shape, DType::F64, noise(shape.elements(), 1)), true);
    };
    const Var y = var({2, 3, 4});
    const Var bias = var({4});
    CHECK_FALSE(y.sums_target(*oracle).tensor.defined());
    CHECK_THROWS_AS(y.sums_are_gradient_of(var({3})), CheckFailure);
    y.sums_are_gradient_of(bias);
    CHECK_FALSE(y.narrow(0, 0, 1).sums_target(*oracle).tensor.defined());
    y.gradient_target(*oracle);
    CHECK_FALSE(y.has_sums());
    CHECK(y.sums_target(*oracle).write == Write::Overwrite);
    CHECK(y.has_sums());
    CHECK(bias.has_gradient());
    CHECK_THROWS_AS(y.gradient_target(*oracle), CheckFailure);
    y.forget_gradient();
    CHECK_FALSE(y.has_sums());
    CHECK_NOTHROW(y.gradient_target(*oracle));
    CHECK(y.sums_target(*oracle).write == Write::Accumulate);
}
