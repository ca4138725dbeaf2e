// What Adam divides its moments by (Kingma & Ba, algorithm 1), which begin at 0.
#pragma once

#include <cstdint>

namespace headscope {

// 1 - beta^updates. Composed of 1 - beta^1, 1 - beta^2, 1 - beta^4 and so on, without cancellation. All devices share
// this function, Vulkan in F32; it calls nothing.
constexpr double bias_correction(double beta, double updates) {
    double correction = 0.0;
    double power = 1.0 - beta;  // 1 - beta^(2^k)
    for (auto left = static_cast<std::uint64_t>(updates); left > 0; left /= 2) {
        correction += left % 2 == 1 ? (1.0 - correction) * power : 0.0;
        power *= 2.0 - power;
    }
    return correction;
}

}  // namespace headscope
