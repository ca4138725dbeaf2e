// Products in numbers.
#include <catch2/catch.hpp>

#include "backend/ops/matmul.h"
#include "conformance/case.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

TEST_CASE("next to I8 weights a row is scaled by its largest number", "[matmul][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const Tensor a = make_from_host(*oracle, {2, 2}, oracle->full_dtype(), Values{254.0, 1.0, 127.0, 1.5});
    const Tensor b = make_from_host(*oracle, {1, 2}, DType::I8, std::vector<std::int32_t>{1, 100});
    const Tensor scales = make_from_host(*oracle, {1}, oracle->full_dtype(), Values{0.5});
    const Tensor out = oracle->empty({2, 1}, oracle->full_dtype());
    oracle->run(Matmul{.a = a, .b = b, .out = out, .transpose_b = true, .b_scales = scales});
    // 254 is 127 steps of 2, and 1 is half a step, which goes to the even 0; of steps of 1, 1.5 becomes 2.
    CHECK(to_host<double>(*oracle, out) == Values{0.5 * 254.0, 0.5 * (127.0 + 200.0)});
}

TEST_CASE("a product of rounded operands differs from an exact one", "[matmul][by_hand]") {
    // The cases that devices must pass differ from the plain product.
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto result = [&](Compute compute) {
        const Tensor a = make_from_host(*oracle, {1, 1}, oracle->full_dtype(), Values{1.0 + 0x1p-9 + 0x1p-12});
        const Tensor b = make_from_host(*oracle, {1, 1}, oracle->full_dtype(), Values{3.0});
        const Tensor out = oracle->empty({1, 1}, oracle->full_dtype());
        oracle->run(Matmul{.a = a, .b = b, .out = out, .compute = compute});
        return to_host<double>(*oracle, out)[0];
    };
    CHECK(result(Compute::F32) == 3.0 + 3 * 0x1p-9 + 3 * 0x1p-12);
    CHECK(result(Compute::TF32) == 3.0 + 3 * 0x1p-9);
    CHECK(result(Compute::F16) == 3.0 + 3 * 0x1p-9);
    CHECK(result(Compute::BF16) == 3.0);
}
