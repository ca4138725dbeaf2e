#include "conformance/compare.h"

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

// 2^-24 as "2^-24"
std::string power_of_two(double value) {
    return fmt::format("2^{:.0f}", std::log2(value));
}

// The sum of squared differences of two results, and the sum of squares of one of them.
struct Squares {
    double error = 0.0;
    double value = 0.0;
    double scale = 0.0;
    void add(double wanted, double got, double magnitude) {
        error += (got - wanted) * (got - wanted);
        value += wanted * wanted;
        scale += magnitude * magnitude;
    }
};

}  // namespace

void Closeness::widen(const Closeness& other) {
    of_bound = std::max(of_bound, other.of_bound);
    worst_relative = std::max(worst_relative, other.worst_relative);
    nmse = std::max(nmse, other.nmse);
}

Tolerance tolerance_of(const Case& stated, const Operand& output) {
    const DType dtype = stated.dtype_of(output);
    if (dtype == DType::I32) {
        return {0.0, 0.0, "integers are exact"};
    }
    const double sum_roundoff = dtype == DType::F64 ? 0x1p-53 : 0x1p-24;  // 16-bit types are storage
    const double root = std::sqrt(stated.terms);
    const double u = unit_roundoff(dtype);
    Tolerance tolerance{12 * u + 2 * root * sum_roundoff + 2 * stated.operand_roundoff,
                        4 * u + root / 2 * sum_roundoff + stated.operand_roundoff,
                        fmt::format("12 u + 2 sqrt({:.0f}) {}, u = {} of {}", stated.terms, power_of_two(sum_roundoff),
                                    power_of_two(u), name_of(dtype))};
    if (stated.operand_roundoff > 0.0) {
        tolerance.reason +=
            fmt::format(", 2 x {} for operands that may be rounded either way", power_of_two(stated.operand_roundoff));
    }
    if (output.sums_rounded && stated.storage) {
        const double rounding = unit_roundoff(*stated.storage);
        tolerance.element += 2 * rounding;
        tolerance.tensor += rounding;
        tolerance.reason += fmt::format(", 2 x {} for terms that may be rounded to {}", power_of_two(rounding),
                                        name_of(*stated.storage));
    }
    if (output.is_exact) {
        tolerance.reason += "; overwritten it is exact";
    }
    return tolerance;
}

bool must_be_exact(const Case& stated, const Operand& output, bool accumulated) {
    return stated.dtype_of(output) == DType::I32 || (output.is_exact && !accumulated);
}

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
    const bool exact = must_be_exact(stated, output, accumulated);
    const Tolerance tolerance = tolerance_of(stated, output);
    Comparison result;
    std::size_t wrong = 0;
    Squares squares;
    Closeness& closeness = result.closeness;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double stored = round_to(dtype, expected[i]);
        double wanted = exact ? stored : expected[i];
        bool fits = same_or_both_nan(wanted, got[i]) || (std::isinf(stored) && got[i] == stored);  // it may overflow
        if (!fits && stated.accept) {
            fits = stated.accept(output.name, i, got[i], inputs);
            wanted = fits ? got[i] : wanted;
        }
        const bool is_number = std::isfinite(wanted) && std::isfinite(got[i]);
        const bool zero_lost = wanted == 0.0 && got[i] != 0.0 && !accumulated;
        if (!fits && !exact && is_number) {
            const double error = std::abs(got[i] - wanted);
            const double bound = tolerance.element * magnitude[i] + tiniest(dtype);
            fits = error <= bound && !zero_lost;
            closeness.of_bound = std::max(closeness.of_bound, error / bound);
            closeness.worst_relative =
                std::max(closeness.worst_relative, error / std::max(magnitude[i], tiniest(dtype)));
        }
        if (is_number) {
            squares.add(wanted, got[i], magnitude[i]);
        }
        if (!fits && (exact || zero_lost || !is_number)) {
            closeness.of_bound = kInfinity;
            closeness.worst_relative = kInfinity;
        }
        if (!fits && !is_number) {
            squares.error = kInfinity;
        }
        if (!fits && wrong++ == 0) {
            result.complaint = fmt::format("{}[{}] of {}: expected {:.9g}, got {:.9g}", output.name, i,
                                           output.shape.to_string(), wanted, got[i]);
        }
    }
    if (wrong > 1) {
        result.complaint += fmt::format(", and {} more of {}", wrong - 1, got.size());
    }
    closeness.nmse = squares.value > 0.0 ? squares.error / squares.value : squares.error;
    if (!exact && squares.scale > 0.0) {
        const double of_bound = std::sqrt(squares.error / squares.scale) / tolerance.tensor;
        closeness.of_bound = std::max(closeness.of_bound, of_bound);
        if (wrong == 0 && of_bound > 1.0) {
            result.complaint =
                fmt::format("{} as a whole is {:.2g} times as far off as its bound", output.name, of_bound);
        }
    }
    return result;
}

}  // namespace headscope::conformance
