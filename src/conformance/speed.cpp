#include "conformance/speed.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "conformance/harness.h"
#include "support/median.h"

namespace headscope::conformance {

namespace {

// Every operand once, and twice if it is read and changed.
double bytes_of(const Case& stated, DType real) {
    double bytes = 0.0;
    for (const Operand& operand : stated.operands) {
        const double once = operand.share * static_cast<double>(operand.shape.elements()) *
                            static_cast<double>(size_of(stated.dtype_of(operand, real)));
        bytes += operand.role == Role::InOut ? 2 * once : once;
    }
    return bytes;
}

Operands put(Backend& device, const Case& stated, const HostValues& values) {
    Operands operands;
    for (const Operand& operand : stated.operands) {
        const DType dtype = stated.dtype_of(operand, device.full_dtype());
        const bool is_read = operand.role == Role::In || operand.role == Role::InOut;
        operands.tensors[operand.name] = is_read ? make_from_host(device, operand.shape, dtype, values.at(operand.name))
                                                 : device.empty(operand.shape, dtype);
    }
    return operands;
}

}  // namespace

double seconds_each(Backend& device, int count, const std::function<void()>& run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
        run();
    }
    device.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / count;
}

int runs_in_a_row(Backend& device, const std::function<void()>& run) {
    constexpr double kLongEnough = 0.02;  // seconds
    constexpr int kMost = 100'000;
    constexpr double kMostAtOnce = 10.0;  // growth factor: the first runs may be slow
    int count = 1;
    while (count < kMost) {
        const double all = count * seconds_each(device, count, run);
        if (all >= kLongEnough) {
            break;
        }
        const double more = std::clamp(1.2 * kLongEnough / std::max(all, 1e-9), 1.0, kMostAtOnce);
        count = std::min(kMost, 1 + static_cast<int>(more * count));
    }
    return count;
}

std::vector<Case> speed_cases(const Family& family, Workload work, const Arithmetic& arithmetic) {
    work.compute = arithmetic.compute;
    work.weights = arithmetic.weights_alone ? arithmetic.storage : DType::F32;
    std::vector<Case> found;
    for (const Case& stated : family.speeds(work)) {
        const std::vector<DType> storages = storages_of(stated);
        const bool is_stored = !arithmetic.weights_alone &&
                               std::find(storages.begin(), storages.end(), arithmetic.storage) != storages.end();
        const bool has_weights = std::any_of(stated.operands.begin(), stated.operands.end(),
                                             [](const Operand& operand) { return operand.is_narrow; });
        if (!arithmetic.weights_alone || has_weights) {
            found.push_back(is_stored ? stated.stored_in(arithmetic.storage) : stated);
        }
    }
    return found;
}

TimedCase::TimedCase(Backend& device, const Case& stated, const HostValues& values)
    : device_(device),
      case_(stated),
      operands_(put(device, stated, values)),
      run_([this] { case_.run(device_, operands_); }) {
    static_cast<void>(seconds_each(device_, 1, run_));
    runs_ = runs_in_a_row(device_, run_);
}

double TimedCase::seconds() const {
    return seconds_each(device_, runs_, run_);
}

Speed TimedCase::speed(double one_takes) const {
    const bool arithmetic = case_.arithmetic > 0.0;
    return {.shape = case_.name,
            .seconds = one_takes,
            .amount = arithmetic ? case_.arithmetic : bytes_of(case_, device_.full_dtype()),
            .is_arithmetic = arithmetic};
}

std::string TimedCase::invalid_reason() const {
    for (const Operand& operand : case_.operands) {
        const Tensor& tensor = operands_[operand.name];
        if (!operand.written() || tensor.dtype == DType::I32 || tensor.elements() == 0) {
            continue;
        }
        const std::vector<float> values = to_host<float>(device_, tensor);
        if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); })) {
            return operand.name + " has a number that is not finite";
        }
        if (std::all_of(values.begin(), values.end(), [](float value) { return value == 0.0F; })) {
            return operand.name + " holds nothing but 0";
        }
    }
    return "";
}

std::vector<std::string> timed_kernels(Backend& device, const Case& stated, const HostValues& values) {
    device.drain_kernel_names();
    const Operands operands = put(device, stated, values);
    stated.run(device, operands);
    device.synchronize();
    return device.drain_kernel_names();
}

Speed measure(Backend& device, const Case& stated, const HostValues& values) {
    constexpr int kMeasurements = 5;
    const TimedCase timed(device, stated, values);
    std::vector<double> all;
    for (int i = 0; i < kMeasurements; ++i) {
        all.push_back(timed.seconds());
    }
    return timed.speed(median(all));
}

}  // namespace headscope::conformance
