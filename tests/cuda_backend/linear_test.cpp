// Products with an epilogue: what the choice of an algorithm depends on, and how often it is made.
#include "backends/cuda/linear.h"

#include <catch2/catch.hpp>

#include "backend/ops/matmul.h"
#include "linear_machine.h"
#include "tests/house/environment.h"

using namespace headscope;
using namespace headscope::cuda_tests;

TEST_CASE("an address is aligned to the largest power of two that divides it", "[linear]") {
    CHECK(alignment_of(0x1001) == 1);
    CHECK(alignment_of(0x1004) == 4);
    CHECK(alignment_of(0x1030) == 16);
    CHECK(alignment_of(0x1080) == 128);
    CHECK(alignment_of(0x1100) == kMostAlignment);
    CHECK(alignment_of(0x4000) == kMostAlignment);
}

TEST_CASE("shapes differ in everything that an algorithm may depend on", "[linear]") {
    const Machine machine;
    const Linear op = machine.layer(6);
    const FusedShape shape = fused_shape(op);
    CHECK(shape == FusedShape{.rows = 6,
                              .in = 8,
                              .out = 4,
                              .x_row = 8,
                              .weight_row = 8,
                              .bias = true,
                              .relu = true,
                              .x_alignment = 256,
                              .weight_alignment = 256,
                              .y_alignment = 256,
                              .bias_alignment = 256});
    CHECK(fused_shape(machine.layer(6)) == shape);  // at another address

    const auto differs = [&](auto change) {
        Linear other = op;
        change(other);
        return fused_shape(other) != shape;
    };
    const Tensor wide = machine.make({6, 24});
    CHECK(differs([](Linear& other) { other.activation = Activation::None; }));
    CHECK(differs([](Linear& other) { other.bias = {}; }));
    CHECK(differs([](Linear& other) { other.compute = Compute::TF32; }));
    CHECK(differs([&](Linear& other) { other.x = wide.narrow(1, 0, 8); }));
    CHECK(differs([&](Linear& other) { other.weight = wide.narrow(1, 0, 8).narrow(0, 0, 4); }));
    CHECK(differs([&](Linear& other) { other.bias = machine.make({8}).narrow(0, 4, 4); }));
    CHECK(differs([&](Linear& other) { other.y = machine.make({7, 4}).narrow(0, 1, 6); }));
    CHECK(differs([&](Linear& other) { other.x = machine.make({7, 8}).narrow(0, 1, 6); }));
    CHECK(differs([&](Linear& other) { other.weight = machine.make({5, 8}).narrow(0, 1, 4); }));
    CHECK(fused_shape(machine.layer(7)) != shape);
    CHECK(fused_shape(machine.layer(6, DType::F16)) != shape);

    // A bias that is rounded to y's type, or misaligned to 16 bytes, is copied.
    Linear copied = machine.layer(6, DType::F16);
    CHECK(copies_bias(copied));
    CHECK(fused_shape(copied).bias_alignment == kMostAlignment);
    copied = op;
    CHECK_FALSE(copies_bias(copied));
    copied.bias = machine.make({8}).narrow(0, 4, 4);
    CHECK_FALSE(copies_bias(copied));
    CHECK(fused_shape(copied).bias_alignment == 16);
    copied.bias = machine.make({6}).narrow(0, 2, 4);
    CHECK(copies_bias(copied));
    CHECK(fused_shape(copied) == shape);
    // The stride of a single row can be anything.
    Linear one = machine.layer(1);
    one.x.strides[0] = 0;
    CHECK(fused_shape(one).x_row == 8);
}

TEST_CASE("an algorithm is chosen once for each shape", "[linear]") {
    const Machine machine;
    const Linear op = machine.layer(6);
    CHECK(machine.questions(op) == 1);
    CHECK(machine.first(op.y) == 5.0);
    CHECK(machine.questions(op) == 0);
    const Linear elsewhere = machine.layer(6);
    CHECK(machine.questions(elsewhere) == 0);
    CHECK(machine.first(elsewhere.y) == 5.0);
    CHECK(machine.questions(machine.layer(7)) == 1);
    CHECK(machine.questions(op) == 0);  // both are kept
}

TEST_CASE("the number of kept shapes is limited, and only the least recently used one is dropped", "[linear]") {
    const Machine machine;
    constexpr std::int64_t kMost = 16384;
    const Tensor x = machine.make({kMost + 3});
    const Tensor weight = machine.make({1, 1});
    const Tensor y = machine.make({2, 1});
    const auto layer = [&](std::int64_t step) {  // two rows that are `step` apart
        Linear op{.x = x.narrow(0, 0, 2).reshape({2, 1}), .weight = weight, .y = y};
        op.x.strides[0] = step;
        return op;
    };
    for (std::int64_t step = 1; step <= kMost; ++step) {
        machine.backend->run(layer(step));
    }
    CHECK(machine.questions(layer(1)) == 0);
    CHECK(machine.questions(layer(kMost + 1)) == 1);
    CHECK(machine.questions(layer(1)) == 0);
    CHECK(machine.questions(layer(3)) == 0);
    CHECK(machine.questions(layer(kMost)) == 0);
    CHECK(machine.questions(layer(2)) == 1);
    CHECK(machine.first(y) == 1.0);
}

TEST_CASE("a bias is added at any alignment", "[linear]") {
    const Machine machine;
    for (const DType dtype : {DType::F32, DType::F16}) {
        for (std::int64_t offset = 0; offset <= 8; ++offset) {
            INFO(name_of(dtype) << " at " << offset);
            std::vector<double> values(16, -1.0);
            values[static_cast<std::size_t>(offset)] = -3.0;
            Linear op = machine.layer(6, dtype);
            op.bias = make_from_host(*machine.backend, {16}, dtype, values).narrow(0, offset, 4);
            machine.backend->run(op);
            CHECK(machine.first(op.y) == 5.0);
        }
    }
}

TEST_CASE("a bias that is there in y's type is not rounded each time", "[linear]") {
    const Machine machine;
    Linear op = machine.layer(6, DType::F16);
    const auto launches = [&] {
        const int before = cuda_emulation::launches();
        machine.backend->run(op);
        return cuda_emulation::launches() - before;
    };
    CHECK(launches() == 1);  // the product is no kernel of ours
    CHECK(machine.first(op.y) == 5.0);
    op.rounded_bias = machine.make({4}, DType::F16, -2.0);
    CHECK(launches() == 0);
    CHECK(machine.first(op.y) == 6.0);
    op.rounded_bias = machine.make({6}, DType::F16, -2.0).narrow(0, 1, 4);  // which cuBLASLt could not read
    CHECK(launches() == 1);
    CHECK(machine.first(op.y) == 5.0);
}

TEST_CASE("a device without BF16 products does not get any", "[linear]") {
    const Environment turing("HEADSCOPE_EMULATION_SM", "75");
    const Machine machine;
    Linear op = machine.layer(11, DType::BF16);
    CHECK(machine.backend->support(OpId::Linear, DType::BF16).level == SupportLevel::Composed);
    CHECK(machine.backend->support(OpId::Linear, DType::F16).level == SupportLevel::Native);
    CHECK(machine.questions(op) == 0);
    CHECK(machine.first(op.y) == 5.0);
    op = machine.layer(11);
    op.compute = Compute::BF16;
    CHECK(machine.questions(op) == 0);
    CHECK(machine.first(op.y) == 5.0);
}

TEST_CASE("F16 products are fast if there are matrix cores", "[linear]") {
    for (const auto& [sm, level] :
         {std::pair{"60", SupportLevel::Composed}, {"70", SupportLevel::Native}, {"75", SupportLevel::Native}}) {
        const Environment card("HEADSCOPE_EMULATION_SM", sm);
        const Machine machine;
        CHECK(machine.backend->products(Compute::F16).level == level);
        CHECK(machine.backend->support(OpId::Matmul, DType::F16).level == SupportLevel::Native);
        Linear op = machine.layer(12);
        op.compute = Compute::F16;
        machine.backend->run(op);
        CHECK(machine.first(op.y) == 5.0);
    }
}

TEST_CASE("operands are rounded as requested, and the result is not", "[linear]") {
    const Environment hopper("HEADSCOPE_EMULATION_SM", "90");  // can round to all of them
    const Machine machine;
    const std::pair<Compute, double> expected[] = {
        {Compute::F32, 1.0 + 0x1p-9 + 0x1p-12}, {Compute::TF32, 1.0 + 0x1p-9}, {Compute::BF16, 1.0}};
    for (const auto& [compute, value] : expected) {
        const Linear op{.x = machine.make({1, 1}, DType::F32, 1.0 + 0x1p-9 + 0x1p-12),
                        .weight = machine.make({1, 1}),
                        .bias = machine.make({1}, DType::F32, 0x1p-20),
                        .y = machine.make({1, 1}),
                        .compute = compute};
        machine.backend->run(op);
        CHECK(machine.first(op.y) == value + 0x1p-20);
    }
}

TEST_CASE("the parts of a split sum are not rounded", "[linear]") {
    const Machine machine;
    // 2049 and 1 - 2049: F16 has no 2049 and would give 2048 - 2048.
    const std::vector<double> x{2048.0, 1.0, 1.0, -2048.0, -1.0, 0.0};
    const Linear op{.x = make_from_host(*machine.backend, {1, 6}, DType::F16, x),
                    .weight = machine.make({1, 6}, DType::F16),
                    .y = machine.make({1, 1}, DType::F16)};
    machine.backend->run(op);
    CHECK(machine.first(op.y) == 1.0);
}

TEST_CASE("long sums are complete if 64 does not divide their length", "[linear]") {
    const Machine machine;
    for (const std::int64_t in : {8184, 8192, 8193, 8648}) {
        const Linear op{.x = machine.make({1, in}, DType::F16),
                        .weight = machine.make({1, in}, DType::F16),
                        .y = machine.make({1, 1})};
        machine.backend->run(op);
        CHECK(machine.first(op.y) == static_cast<double>(in));
    }
}

TEST_CASE("a product with an epilogue is recorded and launched again", "[linear]") {
    const Machine machine;
    const Linear op = machine.layer(6, DType::F16);
    for (const double bias : {-3.0, -2.0, -1.0, 0.0}) {  // rounded to F16 each time
        from_host(*machine.backend, op.bias, std::vector<double>(4, bias));
        machine.backend->replay("linear", [&] { machine.backend->run(op); });
        CHECK(machine.first(op.y) == 8.0 + bias);
    }
}
