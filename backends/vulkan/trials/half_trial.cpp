#include "backends/vulkan/trials/half_trial.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "backends/vulkan/stream/conversion.h"
#include "support/check.h"
#include "tensor/dtype.h"

namespace headscope::vulkan {

HalfTrial::HalfTrial(Backend& backend, const Stream& stream, Pipelines& pipelines, const Capabilities& found,
                     const Options& options, DeviceInfo& info)
    : backend_(backend),
      stream_(stream),
      pipelines_(pipelines),
      info_(info),
      tried_(options.half_trial),
      fours_(options.vector_loads),
      factor_(options.trial_error.value_or(TrialError{}).factor(0)),
      open_(half_conversion(found, options).own) {}

void HalfTrial::hold() {
    if (!open_ || stream_.recording()) {
        return;
    }
    open_ = false;  // passes() makes such a tensor itself
    pipelines_.convert_halves(true);
    if (!tried_) {
        return;
    }
    try {
        if (compiles() && passes()) {
            return;
        }
    } catch (...) {
        pipelines_.convert_halves(false);
        open_ = true;
        throw;
    }
    pipelines_.convert_halves(false);
    const auto feature = std::find_if(info_.features.begin(), info_.features.end(),
                                      [](const auto& each) { return each.first == kHalfFeature; });
    feature->second = "by bits, since its own err";
}

bool HalfTrial::compiles() {
    try {
        // Waited for, since a kernel that fails in the stream's hands would be the end of all that follows, too. The
        // one that passes() runs, of a row as it lies.
        const Specialisation wanted{.local_size = 256,
                                    .extra = convert_constants(fours_, 1, false, DType::F16, DType::F32),
                                    .converts_halves = true};
        (void)pipelines_.get(Kernel::Convert, wanted).handle();
        return true;
    } catch (const Error&) {
        return false;
    }
}

bool HalfTrial::passes() {
    std::vector<std::uint16_t> all(std::size_t{1} << 16U);
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    const Shape shape{static_cast<std::int64_t>(all.size())};
    const Tensor halves = backend_.empty(shape, DType::F16);
    const Tensor widened = backend_.empty(shape, DType::F32);
    backend_.upload(halves, all.data(), all.size() * sizeof all[0]);
    backend_.run(Copy{.x = halves, .out = widened});
    const std::vector<float> got = to_host<float>(backend_, widened);
    return std::equal(all.begin(), all.end(), got.begin(), [this](std::uint16_t half, float value) {
        const float expected = from_f16(half);
        return std::isnan(expected)
                   ? std::isnan(value)
                   : std::bit_cast<std::uint32_t>(expected) == std::bit_cast<std::uint32_t>(value * factor_);
    });
}

}  // namespace headscope::vulkan
