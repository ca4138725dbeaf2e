#include "conformance/speed.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "conformance/placement.h"

namespace headscope::conformance {

namespace {

double seconds_of(Backend& device, const Case& stated, const Operands& operands, int runs) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) {
        stated.run(device, operands);
    }
    device.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / runs;
}

// Every operand once, and once more where it is read and changed.
double bytes_of(const Case& stated, DType real) {
    double bytes = 0.0;
    for (const Operand& operand : stated.operands) {
        const double once = static_cast<double>(operand.shape.elements()) *
                            static_cast<double>(size_of(stated.dtype_of(operand, real)));
        bytes += operand.role == Role::InOut ? 2 * once : once;
    }
    return bytes;
}

}  // namespace

Speed measure(Backend& device, const Case& stated) {
    constexpr double kSecondsEach = 0.05;
    constexpr int kMostRuns = 1000;
    constexpr int kMeasurements = 5;
    Placement placement(device, stated, {});
    placement.fill(generate(stated), Garbage::Large);
    static_cast<void>(seconds_of(device, stated, placement.operands(), 1));
    const double once = seconds_of(device, stated, placement.operands(), 1);
    const int runs = std::clamp(static_cast<int>(kSecondsEach / std::max(once, 1e-9)), 1, kMostRuns);
    std::vector<double> all;
    for (int i = 0; i < kMeasurements; ++i) {
        all.push_back(seconds_of(device, stated, placement.operands(), runs));
    }
    std::sort(all.begin(), all.end());
    const bool arithmetic = stated.arithmetic > 0.0;
    return {.shape = stated.name,
            .seconds = all[all.size() / 2],
            .amount = arithmetic ? stated.arithmetic : bytes_of(stated, device.real()),
            .is_arithmetic = arithmetic};
}

}  // namespace headscope::conformance
