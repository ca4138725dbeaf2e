#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backend/convert.h"
#include "support/check.h"

namespace headscope::conformance {

namespace {

// Half the distance from 1 to the next number.
double unit_roundoff(DType dtype) {
    switch (dtype) {
        case DType::F64: return 0x1p-53;
        case DType::F32: return 0x1p-24;
        case DType::F16: return 0x1p-11;
        case DType::BF16: return 0x1p-8;
        default: return 0.0;  // integers are exact
    }
}

// Below F16's or F32's smallest normal number a format's steps no longer shrink, and a device may flush to 0.
double tiniest(DType dtype) {
    return dtype == DType::F16 ? 0x1p-14 : 0x1p-126;
}

double round_to(DType dtype, double value) {
    switch (dtype) {
        case DType::F16:
        case DType::BF16: return rounded_to(dtype, value);
        case DType::F32: return static_cast<double>(static_cast<float>(value));
        default: return value;
    }
}

bool same_or_both_nan(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

struct Bounds {
    double element;
    double tensor;
};

Bounds bounds_of(DType dtype, double terms, double operand_roundoff) {
    const double sum_roundoff = dtype == DType::F64 ? 0x1p-53 : 0x1p-24;  // 16-bit types are storage
    const double root = std::sqrt(terms);
    const double u = unit_roundoff(dtype);
    return {12 * u + 2 * root * sum_roundoff + 2 * operand_roundoff,
            4 * u + root / 2 * sum_roundoff + operand_roundoff};
}

}  // namespace

Values row_magnitude(const Shape& shape, const Values& values) {
    const std::size_t columns = shape.rank() > 0 && shape[-1] > 1 ? static_cast<std::size_t>(shape[-1]) : values.size();
    Values largest(values.size());
    for (std::size_t first = 0; first < values.size(); first += columns) {
        double most = 0.0;
        for (std::size_t i = first; i < first + columns; ++i) {
            most = std::isfinite(values[i]) ? std::max(most, std::abs(values[i])) : most;
        }
        std::fill_n(largest.begin() + static_cast<std::ptrdiff_t>(first), columns, most);
    }
    return largest;
}

Comparison compare(const Case& stated, const Operand& output, bool accumulated, const Values& expected,
                   const Values& got, const Values& magnitude, const HostValues& inputs) {
    HEADSCOPE_CHECK(expected.size() == got.size() && expected.size() == magnitude.size(),
                    "two results of one case differ in size");
    const DType dtype = stated.dtype_of(output);
    const bool exact = dtype == DType::I32 || (output.is_exact && !accumulated);
    const Bounds bounds = bounds_of(dtype, stated.terms, stated.operand_roundoff);
    Comparison result;
    std::size_t wrong = 0;
    double error_squares = 0.0;
    double scale_squares = 0.0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double stored = round_to(dtype, expected[i]);
        double wanted = exact ? stored : expected[i];
        bool fits = same_or_both_nan(wanted, got[i]) || (std::isinf(stored) && got[i] == stored);  // it may overflow
        if (!fits && stated.accept) {
            fits = stated.accept(output.name, i, got[i], inputs);
            wanted = fits ? got[i] : wanted;
        }
        if (!fits && !exact && std::isfinite(wanted) && std::isfinite(got[i])) {
            const double error = std::abs(got[i] - wanted);
            const double bound = bounds.element * magnitude[i] + tiniest(dtype);
            const bool zero_kept = wanted != 0.0 || got[i] == 0.0 || accumulated;
            fits = error <= bound && zero_kept;
            result.worst_element = std::max(result.worst_element, error / bound);
        }
        if (std::isfinite(wanted) && std::isfinite(got[i])) {
            error_squares += (got[i] - wanted) * (got[i] - wanted);
            scale_squares += magnitude[i] * magnitude[i];
        }
        if (!fits && wrong++ == 0) {
            result.complaint = fmt::format("{}[{}] of {}: expected {:.9g}, got {:.9g}", output.name, i,
                                           output.shape.to_string(), wanted, got[i]);
        }
    }
    if (wrong > 1) {
        result.complaint += fmt::format(", and {} more of {}", wrong - 1, got.size());
    }
    if (!exact && scale_squares > 0.0) {
        result.worst_tensor = std::sqrt(error_squares / scale_squares) / bounds.tensor;
        if (wrong == 0 && result.worst_tensor > 1.0) {
            result.complaint =
                fmt::format("{} as a whole is {:.2g} times as far off as its bound", output.name, result.worst_tensor);
        }
    }
    return result;
}

}  // namespace headscope::conformance
