#include "model/sinusoids.h"

#include <algorithm>
#include <cmath>

#include "support/check.h"

namespace headscope {

std::vector<double> sinusoid_table(std::int64_t length, std::int64_t d_model, SinusoidLayout layout,
                                   std::int64_t first) {
    HEADSCOPE_CHECK(d_model % 2 == 0, "sinusoids come in pairs");
    const std::int64_t half = d_model / 2;
    const auto steps = static_cast<double>(layout == SinusoidLayout::HalvesMinusOne ? half - 1 : half);
    std::vector<double> table(static_cast<std::size_t>(length * d_model));
    for (std::int64_t position = 0; position < length; ++position) {
        double* row = table.data() + position * d_model;
        for (std::int64_t i = 0; i < half; ++i) {
            const double wavelength = std::pow(10000.0, static_cast<double>(i) / steps);
            const double angle = static_cast<double>(first + position) / wavelength;
            const bool interleaved = layout == SinusoidLayout::Interleaved;
            row[interleaved ? 2 * i : i] = std::sin(angle);
            row[interleaved ? 2 * i + 1 : half + i] = std::cos(angle);
        }
    }
    return table;
}

const Tensor& Sinusoids::table(Backend& backend, std::int64_t length) {
    if (!table_.defined() || table_.dim(0) < length) {
        constexpr std::int64_t kFirstLength = 256;
        const std::int64_t grown = std::max(length, table_.defined() ? 2 * table_.dim(0) : kFirstLength);
        table_ = make_from_host(backend, {grown, d_model_}, backend.real(),
                                sinusoid_table(grown, d_model_, layout_, first_));
    }
    return table_;
}

}  // namespace headscope
