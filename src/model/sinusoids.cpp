#include "model/sinusoids.h"

#include <algorithm>
#include <cmath>

#include "backend/ops/elementwise.h"
#include "backend/ops/search.h"
#include "support/check.h"

namespace headscope {

std::vector<double> sinusoid_table(std::int64_t length, std::int64_t d_model, SinusoidLayout layout,
                                   std::int64_t first) {
    HEADSCOPE_CHECK(d_model % 2 == 0 || layout == SinusoidLayout::Halves, "sinusoids come in pairs");
    const std::int64_t half = (d_model + 1) / 2;  // the last cosine of an odd width is left out
    const double steps =
        layout == SinusoidLayout::HalvesMinusOne ? static_cast<double>(half - 1) : static_cast<double>(d_model) / 2.0;
    std::vector<double> table(static_cast<std::size_t>(length * d_model));
    for (std::int64_t position = 0; position < length; ++position) {
        double* row = table.data() + position * d_model;
        for (std::int64_t i = 0; i < half; ++i) {
            const double wavelength = std::pow(10000.0, static_cast<double>(i) / steps);
            const double angle = static_cast<double>(first + position) / wavelength;
            const bool interleaved = layout == SinusoidLayout::Interleaved;
            row[interleaved ? 2 * i : i] = std::sin(angle);
            if (half + i < d_model) {
                row[interleaved ? 2 * i + 1 : half + i] = std::cos(angle);
            }
        }
    }
    return table;
}

namespace {

// From 0 to 1 over a text. A text of one token has only the 0.
double step_over(std::int64_t length) {
    return length > 1 ? 1.0 / static_cast<double>(length - 1) : 1.0;
}

std::vector<double> index_table(std::int64_t length, std::int64_t columns, double step) {
    std::vector<double> table;
    table.reserve(static_cast<std::size_t>(length * columns));
    for (std::int64_t position = 0; position < length; ++position) {
        table.insert(table.end(), static_cast<std::size_t>(columns), static_cast<double>(position) * step);
    }
    return table;
}

}  // namespace

Sinusoids::Sinusoids(const ModelConfig& config)
    : kind_(config.positions.kind),
      columns_(config.position_width()),
      layout_(config.positions.layout),
      first_(config.positions.first),
      step_(config.positions.kind == Positions::Normalised ? step_over(config.max_length) : 1.0) {}

const Tensor& Sinusoids::table(Backend& backend, std::int64_t length) {
    if (!table_.defined() || table_.dim(0) < length) {
        constexpr std::int64_t kFirstLength = 256;
        const std::int64_t grown = std::max(length, table_.defined() ? 2 * table_.dim(0) : kFirstLength);
        table_ = make_from_host(
            backend, {grown, columns_}, backend.full_dtype(),
            counts() ? index_table(grown, columns_, step_) : sinusoid_table(grown, columns_, layout_, first_));
        if (kind_ == Positions::Normalised) {
            std::vector<double> steps;
            for (std::int64_t n = 0; n <= grown; ++n) {
                steps.insert(steps.end(), static_cast<std::size_t>(columns_), step_over(n) / step_);
            }
            steps_ = make_from_host(backend, {grown + 1, columns_}, backend.full_dtype(), steps);
        }
    }
    return table_;
}

Tensor Sinusoids::by_length(Backend& backend, const Tensor& lengths, std::int64_t length) {
    const Tensor indices = table(backend, length).narrow(0, 0, length);
    const std::int64_t batch = lengths.dim(0);
    const Tensor steps = backend.empty({batch, columns_}, backend.full_dtype());
    backend.run(GatherRows{.x = steps_, .index = lengths, .out = steps});
    Tensor out = backend.empty({batch, length, columns_}, backend.full_dtype());
    backend.run(Multiply{.a = indices.repeat(0, batch), .b = steps.repeat(1, length), .out = out});
    return out;
}

}  // namespace headscope
