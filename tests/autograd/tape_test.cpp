#include <catch2/catch.hpp>

#include "gradient_check.h"

using namespace headscope;

namespace {

Tensor row(Backend& backend, const std::vector<double>& values) {
    return make_from_host(backend, {static_cast<std::int64_t>(values.size())}, DType::F64, values);
}

}  // namespace

TEST_CASE("the first writer of a gradient overwrites, later ones accumulate") {
    const auto backend = open_device("cpu:oracle");
    const Var x(row(*backend, {1, 2}), true);
    CHECK_FALSE(x.has_gradient());
    CHECK_THROWS_AS(x.gradient(), CheckFailure);
    CHECK(x.gradient_target(*backend).write == Write::Overwrite);
    CHECK(x.has_gradient());
    CHECK(x.gradient_target(*backend).write == Write::Accumulate);
    x.forget_gradient();
    CHECK_FALSE(x.has_gradient());
    CHECK(x.gradient_target(*backend).write == Write::Overwrite);
    CHECK_THROWS_AS(Var(row(*backend, {1})).gradient_target(*backend), CheckFailure);
}

TEST_CASE("each region of a packed gradient has its own mark") {
    const auto backend = open_device("cpu:oracle");
    const Var packed(make_from_host(*backend, {2, 3, 6}, DType::F64, noise(36, 1)), true);
    const Var left = packed.narrow(2, 0, 4);
    const Var right = packed.narrow(2, 4, 2);
    CHECK(left.heads(2).gradient_target(*backend).write == Write::Overwrite);
    CHECK(right.gradient_target(*backend).write == Write::Overwrite);
    CHECK(left.gradient_target(*backend).write == Write::Accumulate);
    CHECK(packed.has_gradient());
    CHECK(packed.gradient_target(*backend).write == Write::Accumulate);
    CHECK(right.gradient_target(*backend).tensor.offset == 4);
    CHECK(left.heads(2).gradient_target(*backend).tensor.shape == Shape{2, 2, 3, 2});

    const Var half(make_from_host(*backend, {2, 4}, DType::F64, noise(8, 1)), true);
    half.narrow(1, 0, 2).gradient_target(*backend);
    CHECK_FALSE(half.has_gradient());
    CHECK_THROWS_AS(half.gradient_target(*backend), CheckFailure);  // half of it is garbage
    CHECK_THROWS_AS(half.narrow(1, 1, 2).gradient_target(*backend), CheckFailure);
    CHECK(half.narrow(1, 2, 2).gradient_target(*backend).write == Write::Overwrite);
}

TEST_CASE("parameters are views of one flat gradient, packed or not") {
    const auto backend = open_device("cpu:oracle");
    const Var flat = Var::parameter(row(*backend, noise(12, 1)), row(*backend, noise(12, 2)), "all");
    const Var first = flat.narrow(0, 0, 4).reshape({2, 2}).named("first");
    const Var second = flat.narrow(0, 4, 4).reshape({2, 2}).named("second");
    const Var both = flat.narrow(0, 0, 8).reshape({4, 2}).named("first");
    CHECK(both.gradient_target(*backend).write == Write::Overwrite);
    CHECK(second.gradient_target(*backend).write == Write::Accumulate);
    CHECK(second.name() == "second");
    CHECK(second.gradient_target(*backend).tensor.offset == 4);
    CHECK_THROWS_AS(first.forget_gradient(), CheckFailure);  // written together, forgotten together
    both.forget_gradient();
    CHECK(first.gradient_target(*backend).write == Write::Overwrite);
    CHECK_FALSE(both.has_gradient());
    flat.forget_gradient();
    CHECK(both.gradient_target(*backend).write == Write::Overwrite);
    CHECK_THROWS_AS(both.narrow(1, 0, 1), CheckFailure);  // columns of a flat range are not a region
}

TEST_CASE("the first finished gradient is adopted, later ones are added") {
    const auto backend = open_device("cpu:oracle");
    const Var x(row(*backend, {0, 0}), true);
    const Tensor given = row(*backend, {1, 2});
    x.add_gradient(*backend, given);
    CHECK(x.gradient().buffer == given.buffer);
    x.add_gradient(*backend, row(*backend, {10, 20}));
    CHECK(to_host<double>(*backend, x.gradient()) == std::vector<double>{11, 22});
    // A parameter's gradient stays where it is.
    const Tensor home = row(*backend, {7, 7});
    const Var parameter = Var::parameter(row(*backend, {0, 0}), home, "p");
    parameter.add_gradient(*backend, row(*backend, {1, 2}));
    CHECK(parameter.gradient().buffer == home.buffer);
    CHECK(to_host<double>(*backend, home) == std::vector<double>{1, 2});
}

TEST_CASE("a tape runs backward, frees as it goes and names what failed") {
    const auto backend = open_device("cpu:oracle");
    Tape tape;
    std::vector<int> order;
    auto kept = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = kept;
    tape.record("first", {}, [&](Backend&) {
        order.push_back(1);
        CHECK(watched.expired());
    });
    tape.record("second", {}, [&order, kept](Backend&) { order.push_back(2); });
    kept.reset();
    CHECK(tape.size() == 2);
    tape.backward(*backend);
    CHECK(order == std::vector<int>{2, 1});
    CHECK(tape.size() == 0);

    tape.record("norm of layer 3", {}, [](Backend&) { HEADSCOPE_CHECK(false, "planted"); });
    CHECK_THROWS_WITH(tape.backward(*backend),
                      Catch::Matchers::Contains("norm of layer 3") && Catch::Matchers::Contains("planted"));
}

TEST_CASE("a tape reports when a parameter's gradient is final") {
    const auto backend = open_device("cpu:oracle");
    const auto parameter = [&](const char* name) {
        return Var::parameter(make_from_host(*backend, {2, 2}, DType::F64, noise(4, 1)),
                              backend->empty({2, 2}, DType::F64), name);
    };
    const Var shared = parameter("shared");
    const Var middle = parameter("middle");
    Tape tape;
    std::vector<std::string> final;
    tape.on_final_gradient = [&](const Var& done) {
        CHECK(done.has_gradient());
        final.push_back(done.name());
    };
    Context ctx{*backend, &tape};
    const Var x(make_from_host(*backend, {1, 1, 2}, DType::F64, noise(2, 2)));
    const Var y = linear(ctx, linear(ctx, linear(ctx, x, shared), middle), shared);
    from_host(*backend, y.gradient_target(*backend).tensor, noise(2, 3));
    tape.backward(*backend);
    CHECK(final == std::vector<std::string>{"middle", "shared"});
}

TEST_CASE("activations are freed during the backward") {
    const auto backend = open_device("cpu:oracle");
    const Var weight(make_from_host(*backend, {64, 64}, DType::F64, noise(64 * 64, 1)), true);
    const Var bias(make_from_host(*backend, {64}, DType::F64, noise(64, 1)), true);
    weight.gradient_target(*backend);
    bias.gradient_target(*backend);
    const std::size_t before = backend->memory().live;
    const std::size_t activation = 16 * 64 * sizeof(double);
    {
        Tape tape;
        Context ctx{*backend, &tape};
        Var x(make_from_host(*backend, {1, 16, 64}, DType::F64, noise(16 * 64, 2)));
        for (int layer = 0; layer < 10; ++layer) {
            x = bias_activation(ctx, linear(ctx, x, weight), bias, Activation::Relu);
        }
        // One result for each layer and the input: linear's own result is spent.
        CHECK(backend->memory().live - before == 11 * activation);
        from_host(*backend, x.gradient_target(*backend).tensor, noise(16 * 64, 3));
        x = Var();
        tape.backward(*backend);
        CHECK(backend->memory().live == before);
    }
}
