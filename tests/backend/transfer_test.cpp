#include <catch2/catch.hpp>
#include <cmath>

#include "backend/backend.h"
#include "registry/registry.h"
#include "support/check.h"

using namespace headscope;

TEST_CASE("host values convert to any dtype and back", "[transfer]") {
    const auto backend = open_device("cpu");
    const std::vector<double> values{0.0, 1.0, -2.5, 1024.0};
    for (const DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16}) {
        const Tensor tensor = make_from_host(*backend, {2, 2}, dtype, values);
        CHECK(to_host<double>(*backend, tensor) == values);
    }
    const std::vector<std::int32_t> ids{3, -1, 1 << 30};
    CHECK(to_host<std::int32_t>(*backend, make_from_host(*backend, {3}, DType::I32, ids)) == ids);
    const Tensor bytes = make_from_host<std::int32_t>(*backend, {3}, DType::I8, {-128, 0, 127});
    CHECK(to_host<std::int32_t>(*backend, bytes) == std::vector<std::int32_t>{-128, 0, 127});
    CHECK(to_host<float>(*backend, bytes) == std::vector<float>{-128, 0, 127});
}

TEST_CASE("a double is rounded to 16 bits only once", "[transfer]") {
    const auto backend = open_device("cpu");
    // Just past the middle of two numbers: through a float each would look like the middle, and round to even.
    const double f16 = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
    const double bf16 = 1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40);
    CHECK(to_host<double>(*backend, make_from_host<double>(*backend, {1}, DType::F16, {f16}))[0] ==
          1.0 + std::ldexp(1.0, -10));
    CHECK(to_host<double>(*backend, make_from_host<double>(*backend, {1}, DType::BF16, {-bf16}))[0] ==
          -1.0 - std::ldexp(1.0, -7));
}

TEST_CASE("writing a strided view leaves the gaps unchanged", "[transfer]") {
    const auto backend = open_device("cpu");
    const Tensor whole = make_from_host<float>(*backend, {2, 4}, DType::F32, {0, 1, 2, 3, 4, 5, 6, 7});
    const Tensor middle = whole.narrow(1, 1, 2);
    CHECK(to_host<float>(*backend, middle) == std::vector<float>{1, 2, 5, 6});
    from_host<float>(*backend, middle, {10, 20, 50, 60});
    CHECK(to_host<float>(*backend, whole) == std::vector<float>{0, 10, 20, 3, 4, 50, 60, 7});

    const Tensor heads = whole.reshape({1, 2, 4}).heads(2);  // [1, 2, 2, 2]
    CHECK(to_host<float>(*backend, heads) == std::vector<float>{0, 10, 4, 50, 20, 3, 60, 7});
    CHECK_THROWS_AS(from_host<float>(*backend, whole, {1, 2}), CheckFailure);
    CHECK(to_host<float>(*backend, whole.narrow(0, 0, 0)).empty());
}
