// Rows too long to be kept, in 16 bits.
#include <algorithm>
#include <catch2/catch.hpp>

#include "backend/ops/attention.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "support/random.h"
#include "tensor/dtype.h"

using namespace headscope;
using headscope::vulkan_tests::usable_device;

TEST_CASE("a softmax in 16 bits equals that of the same scores in F32, rounded once", "[vulkan][softmax]") {
    if (!usable_device()) {
        return;
    }
    const auto backend = open_vulkan_device(0);
    const DType dtype = GENERATE(DType::F16, DType::BF16);
    if (const Support support = backend->support(OpId::MaskedSoftmax, dtype); support.level == SupportLevel::None) {
        WARN("SKIPPED: " << support.reason);
        return;
    }
    const bool in_place = GENERATE(false, true);
    const std::int64_t keys = GENERATE(48, 2311, 2312);  // longer than sixteen columns for each of 128 lanes
    INFO(keys << " keys in " << name_of(dtype));
    const Shape shape{2, 1, 5, keys};
    Random random(3);
    std::vector<float> noise(static_cast<std::size_t>(shape.elements()));
    std::generate(noise.begin(), noise.end(), [&] { return static_cast<float>(random.below(8001)) / 1000.0F - 4.0F; });
    const Tensor scores = make_from_host(*backend, shape, dtype, noise);
    const std::vector<float> rounded = to_host<float>(*backend, scores);
    const Tensor weights = in_place ? scores : backend->empty(shape, dtype);
    const Tensor wide = make_from_host(*backend, shape, DType::F32, rounded);
    backend->run(MaskedSoftmax{scores, weights, {}});
    backend->run(MaskedSoftmax{wide, wide, {}});
    std::vector<float> wanted = to_host<float>(*backend, wide);
    std::transform(wanted.begin(), wanted.end(), wanted.begin(), [dtype](float value) {
        return dtype == DType::F16 ? from_f16(to_f16(value)) : from_bf16(to_bf16(value));
    });
    // Each module's compiler may divide differently, which shows if a value is halfway between two others.
    const std::vector<float> got = to_host<float>(*backend, weights);
    std::size_t others = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        others += got[i] == wanted[i] ? 0 : 1;
    }
    CHECK(100 * others < got.size());
}
