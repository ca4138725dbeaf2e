// Layer norm and batch norm of the same two tokens in numbers.
#include <catch2/catch.hpp>
#include <cmath>

#include "backend/ops/batch_norm.h"
#include "backend/ops/layer_norm.h"
#include "conformance/case.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

const Values kTokens{1, 2, 3, 4, 2, 4, 6, 8};

void is_near(const Values& found, const Values& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        CHECK(found[i] == Approx(expected[i]).margin(1e-5));
    }
}

class Device {
public:
    Tensor of(const Shape& shape, const Values& values) const {
        return make_from_host(*oracle_, shape, oracle_->full_dtype(), values);
    }
    Tensor empty(const Shape& shape) const { return oracle_->empty(shape, oracle_->full_dtype()); }
    Values numbers(const Tensor& tensor) const { return to_host<double>(*oracle_, tensor); }
    template <class Op>
    void run(const Op& op) const {
        oracle_->run(op);
    }

private:
    std::unique_ptr<Backend> oracle_ = open_device("cpu:oracle");
};

}  // namespace

// (1, 2, 3, 4) has the mean 2.5 and the variance (2.25 + 0.25 + 0.25 + 2.25) / 4 = 1.25; the other token is twice that.
TEST_CASE("a layer norm gives a token and its double the same numbers", "[layer_norm][by_hand]") {
    const Device device;
    const Tensor y = device.empty({1, 2, 4});
    const Tensor mean = device.empty({1, 2});
    const Tensor rstd = device.empty({1, 2});
    device.run(AddLayerNorm{.x = device.of({1, 2, 4}, {0.5, 1, 1.5, 2, 1, 2, 3, 4}),
                            .residual = device.of({1, 2, 4}, {0.5, 1, 1.5, 2, 1, 2, 3, 4}),
                            .gain = device.of({4}, {1, 1, 1, 10}),
                            .bias = device.of({4}, {0, 0, 100, 0}),
                            .sum = device.empty({1, 2, 4}),
                            .y = y,
                            .mean = mean,
                            .rstd = rstd});
    is_near(device.numbers(mean), {2.5, 5});
    is_near(device.numbers(rstd), {1 / std::sqrt(1.25), 1 / std::sqrt(5.0)});
    is_near(device.numbers(y),
            {-1.341641, -0.447214, 100.447214, 13.416408, -1.341641, -0.447214, 100.447214, 13.416408});
}

// The mean square of (1, 2, 3, 4) is 7.5.
TEST_CASE("an RMS norm divides by the root of the mean square", "[layer_norm][by_hand]") {
    const Device device;
    const Tensor y = device.empty({1, 2, 4});
    device.run(AddLayerNorm{.x = device.of({1, 2, 4}, kTokens),
                            .gain = device.of({4}, {1, 1, 1, 1}),
                            .sum = device.empty({1, 2, 4}),
                            .y = y,
                            .rstd = device.empty({1, 2})});
    const double root = std::sqrt(7.5);
    is_near(device.numbers(y), {1 / root, 2 / root, 3 / root, 4 / root, 1 / root, 2 / root, 3 / root, 4 / root});
}

// Column c has c and 2 c: the mean 1.5 c, the variance c^2 / 4, and c^2 / 2 divided by n - 1.
TEST_CASE("a batch norm tells a token and its double apart in every column", "[batch_norm][by_hand]") {
    const Device device;
    const Tensor running_mean = device.of({4}, {0, 0, 0, 0});
    const Tensor running_variance = device.of({4}, {1, 1, 1, 1});
    const auto normed = [&](bool measures) {
        const Tensor y = device.empty({1, 2, 4});
        device.run(BatchNorm{.x = device.of({1, 2, 4}, kTokens),
                             .gain = device.of({4}, {1, 1, 1, 10}),
                             .bias = device.of({4}, {0, 0, 100, 0}),
                             .running_mean = running_mean,
                             .running_variance = running_variance,
                             .y = y,
                             .mean = device.empty({4}),
                             .rstd = device.empty({4}),
                             .measures = measures});
        return device.numbers(y);
    };
    is_near(normed(true), {-1, -1, 99, -10, 1, 1, 101, 10});
    is_near(device.numbers(running_mean), {0.15, 0.3, 0.45, 0.6});      // 0.1 * 1.5 c
    is_near(device.numbers(running_variance), {0.95, 1.1, 1.35, 1.7});  // 0.9 + 0.1 * c^2 / 2
    // After training they take the place of the batch's: (1 - 0.15) / sqrt(0.95), (2 - 0.3) / sqrt(1.1), ...
    is_near(normed(false), {0.872081, 1.620886, 102.194690, 26.076802, 1.898059, 3.527810, 104.776678, 56.755392});
}
