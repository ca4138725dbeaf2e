// Convolutions in numbers.
#include <catch2/catch.hpp>

#include "backend/ops/convolution.h"
#include "conformance/case.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

// The gradient of the weights is other ops', so central differences do not see which weight a tap takes.
TEST_CASE("each tap of a sum has its own weights", "[convolution][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const Tensor x = make_from_host(*oracle, {1, 4, 2}, oracle->full_dtype(), Values{1, 2, 3, 4, 5, 6, 7, 8});
    const Tensor weights = make_from_host(*oracle, {3, 2}, oracle->full_dtype(), Values{1, 10, 100, 1e3, 1e4, 1e5});
    const Tensor lengths = make_from_host(*oracle, {1}, DType::I32, std::vector<std::int32_t>{3});
    const Tensor out = oracle->empty({1, 4, 2}, oracle->full_dtype());
    oracle->run(SumTaps{.x = x, .weights = weights, .lengths = lengths, .out = out, .taps = 3, .first = -1});
    CHECK(to_host<double>(*oracle, out) == Values{30100, 402000, 50301, 604020, 503, 6040, 0, 0});
}
