// Search in numbers.
#include <catch2/catch.hpp>

#include "backend/ops/search.h"
#include "conformance/case.h"
#include "devices.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::conformance;

// The harness allows a device to round its inputs once, which changes logits of ten thousand by a thousandth. But these
// are exact, and so are their differences.
TEST_CASE("large logits keep the decimals of their log probabilities", "[search][by_hand]") {
    std::vector<std::string> ids = devices_under_test();
    ids.insert(ids.begin(), "cpu:oracle");
    for (const std::string& id : ids) {
        INFO(id);
        const std::unique_ptr<Backend> device = open_device(id, environment_options());
        const Tensor logits =
            make_from_host(*device, {1, 4}, device->full_dtype(), Values{10000.0, 10003.0, 10001.0, 10002.0});
        const Tensor values = device->empty({1, 4}, device->full_dtype());
        const Tensor indices = device->empty({1, 4}, DType::I32);
        device->run(LogSoftmaxTopK{logits, values, indices});
        // log(1 + e^-1 + e^-2 + e^-3) = 0.4401896985611953
        const Values found = to_host<double>(*device, values);
        for (std::size_t i = 0; i < found.size(); ++i) {
            CHECK(found[i] == Approx(-static_cast<double>(i) - 0.4401896985611953).epsilon(2e-7));
        }
        CHECK(to_host<std::int32_t>(*device, indices) == std::vector<std::int32_t>{1, 3, 2, 0});
    }
}
