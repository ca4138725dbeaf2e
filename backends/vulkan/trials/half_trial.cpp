#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "backend/ops/elementwise.h"
#include "backends/vulkan/trials/device_trial.h"
#include "tensor/dtype.h"

namespace headscope::vulkan {

// Widens every F16 number.
std::string half_complaint(Backend& backend, const Options& options) {
    std::vector<std::uint16_t> all(std::size_t{1} << 16U);
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    const Shape shape{static_cast<std::int64_t>(all.size())};
    const Tensor halves = backend.empty(shape, DType::F16);
    const Tensor widened = backend.empty(shape, DType::F32);
    backend.upload(halves, all.data(), all.size() * sizeof all[0]);
    backend.run(Copy{.x = halves, .out = widened});
    const std::vector<float> got = to_host<float>(backend, widened);
    const float factor = options.trial_error.value_or(TrialError{}).factor(0);
    const auto wrong = std::count_if(all.begin(), all.end(), [&](std::uint16_t half) {
        const float expected = from_f16(half);
        const float value = got[half] * factor;
        return std::isnan(expected) ? !std::isnan(value)
                                    : std::bit_cast<std::uint32_t>(expected) != std::bit_cast<std::uint32_t>(value);
    });
    return wrong == 0 ? "" : fmt::format("{} of {} F16 numbers are widened wrongly", wrong, all.size());
}

}  // namespace headscope::vulkan
