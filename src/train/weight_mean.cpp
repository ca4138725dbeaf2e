#include "train/weight_mean.h"

#include <algorithm>

#include "backend/ops/elementwise.h"

namespace headscope {

WeightMean::WeightMean(Backend& backend, const Parameters& parameters, double decay)
    : backend_(backend),
      parameters_(parameters),
      decay_(decay),
      mean_(backend.empty({parameters.total()}, parameters.flat_values().dtype)) {
    begin();
}

void WeightMean::begin() {
    backend_.run(Copy{.x = parameters_.flat_values(), .out = mean_});
}

void WeightMean::add(std::int64_t step) {
    // At first a mean over the newest ninth of all steps, until the decay is lower than that.
    const double early = (1.0 + static_cast<double>(step)) / (10.0 + static_cast<double>(step));
    const auto kept = static_cast<float>(std::min(decay_, early));
    // 1 - kept is exact for kept >= 0.5, so the factors add up to 1 and constant weights stay constant.
    backend_.run(
        AddScaled{.a = mean_, .b = parameters_.flat_values(), .out = mean_, .alpha = kept, .beta = 1.0F - kept});
}

void WeightMean::swap() {
    const Tensor masters = parameters_.flat_values();
    const Tensor aside = backend_.empty({parameters_.total()}, masters.dtype);
    backend_.run(Copy{.x = masters, .out = aside});
    backend_.run(Copy{.x = mean_, .out = masters});
    backend_.run(Copy{.x = aside, .out = mean_});
    parameters_.refresh_working();
}

}  // namespace headscope
