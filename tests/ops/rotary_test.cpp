// Rotary positions in numbers.
#include <catch2/catch.hpp>

#include "backend/ops/rotary.h"
#include "conformance/case.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

// The oracle's inverse is checked against its forward pass, which central differences cannot check.
TEST_CASE("pairs are turned by the row of their position", "[rotary][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const DType real = oracle->full_dtype();
    const Tensor x = make_from_host(*oracle, {1, 1, 1, 5}, real, Values{1, 2, 3, 4, 9});
    const Tensor turns = make_from_host(*oracle, {2, 2, 2}, real, Values{7, 7, 7, 7, 10, 100, 1, 5});
    const Tensor first = make_from_host(*oracle, {1}, DType::I32, std::vector<std::int32_t>{1});
    const Tensor out = oracle->empty({1, 1, 1, 5}, real);
    const auto turned = [&](bool neighbours, bool inverse) {
        oracle->run(
            Rotate{.x = x, .turns = turns, .first = first, .out = out, .neighbours = neighbours, .inverse = inverse});
        return to_host<double>(*oracle, out);
    };
    CHECK(turned(false, false) == Values{10 - 3, 200 - 20, 30 + 1, 400 + 10, 9});
    CHECK(turned(false, true) == Values{10 + 3, 200 + 20, 30 - 1, 400 - 10, 9});
    CHECK(turned(true, false) == Values{10 - 2, 20 + 1, 300 - 20, 400 + 15, 9});
    CHECK(turned(true, true) == Values{10 + 2, 20 - 1, 300 + 20, 400 - 15, 9});
}
