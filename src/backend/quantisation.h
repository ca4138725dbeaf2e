// Real numbers to I8: symmetric, one scale for each row, whose largest magnitude becomes 127.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace headscope {

// value = scale * q, with q = round(value * inverse) in [-127, 127].
struct RowScale {
    float scale = 0.0F;
    float inverse = 0.0F;  // 0 for a row of zeros
};

// Of a row with this largest magnitude. Below 2^-100, whose inverse overflows, everything becomes 0.
inline RowScale row_scale(float largest) {
    constexpr float kMost = 127.0F;
    constexpr float kSmallest = 0x1p-100F;
    return largest < kSmallest ? RowScale{} : RowScale{largest / kMost, kMost / largest};
}

// To nearest, ties to even. The value is finite and at most its row's largest.
inline std::int8_t quantised(float value, float inverse) {
    return static_cast<std::int8_t>(std::nearbyint(value * inverse));
}

// Quantises a row of finite numbers and returns its scale.
inline float quantise_row(std::span<const float> row, std::int8_t* to) {
    float largest = 0.0F;
    for (const float value : row) {
        largest = std::fmax(largest, std::fabs(value));
    }
    const RowScale scale = row_scale(largest);
    for (std::size_t i = 0; i < row.size(); ++i) {
        to[i] = quantised(row[i], scale.inverse);
    }
    return scale.scale;
}

}  // namespace headscope
