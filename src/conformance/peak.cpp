#include "conformance/peak.h"

#include <algorithm>
#include <vector>

#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "conformance/speed.h"
#include "support/random.h"

namespace headscope {

namespace {

// Random numbers like a model's (full range for I8), not zeros: multiplying zeros takes less power and is faster.
Tensor noise(Backend& backend, std::int64_t side, DType dtype, std::uint64_t seed) {
    constexpr std::size_t kDistinct = 1000003;  // a prime, so that no two rows are equal
    Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(side * side));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = i < kDistinct ? static_cast<float>(random.below(1U << 20U)) / static_cast<float>(1U << 20U) - 0.5F
                                  : values[i - kDistinct];
    }
    if (dtype == DType::I8) {
        constexpr float kMost = 127.0F;
        std::transform(values.begin(), values.end(), values.begin(), [](float value) { return 2 * kMost * value; });
    }
    return make_from_host(backend, {side, side}, dtype, values);
}

double best_time(Backend& backend, const Arithmetic& arithmetic, std::int64_t side) {
    const DType weights = arithmetic.storage == DType::F32 ? backend.full_dtype() : arithmetic.storage;
    const DType activations = arithmetic.weights_alone ? backend.full_dtype() : weights;
    const bool eight = arithmetic.storage == DType::I8;
    const Matmul product{.a = noise(backend, side, activations, 1),
                         .b = noise(backend, side, weights, 2),
                         .out = backend.empty({side, side}, activations),
                         .transpose_b = true,  // as weights are
                         .compute = arithmetic.compute,
                         .b_scales = eight ? backend.empty({side}, backend.full_dtype()) : Tensor()};
    if (eight) {
        backend.run(Fill{.out = product.b_scales, .value = 1.0F});
    }
    const auto run = [&] { backend.run(product); };
    static_cast<void>(conformance::seconds_each(backend, 1, run));
    const int count = conformance::runs_in_a_row(backend, run);
    double best = conformance::seconds_each(backend, count, run);
    for (int i = 0; i < 2; ++i) {
        best = std::min(best, conformance::seconds_each(backend, count, run));
    }
    return best;
}

}  // namespace

Peak measure_peak(Backend& backend, const Arithmetic& arithmetic) {
    constexpr std::int64_t kMost = 8192;
    constexpr double kEnough = 0.02;  // seconds of one product
    Peak peak{.side = 256};
    while (true) {
        const double seconds = best_time(backend, arithmetic, peak.side);
        const auto side = static_cast<double>(peak.side);
        peak.flops_per_second = std::max(peak.flops_per_second, 2.0 * side * side * side / seconds);
        if (seconds >= kEnough || peak.side >= kMost) {
            return peak;
        }
        peak.side *= 2;
    }
}

}  // namespace headscope
