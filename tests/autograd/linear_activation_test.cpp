// Both ways to run a linear layer: fused, and as a product followed by bias and activation.
#include <catch2/catch.hpp>

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
