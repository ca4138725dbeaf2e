#include "experiment/pass_cost.h"

#include <chrono>
#include <cmath>
#include <vector>

#include "support/median.h"
#include "support/random.h"

namespace headscope {

PassCost measure_passes(Backend& backend, int repeat, const std::function<Var(Tape&)>& forward,
                        const std::function<void()>& forget) {
    using Clock = std::chrono::steady_clock;
    constexpr std::uint64_t kGradients = 1000;  // a stream that no input has
    constexpr double kEnough = 0.05;            // seconds: short passes are repeated more often
    const auto seconds = [](Clock::time_point from, Clock::time_point to) {
        return std::chrono::duration<double>(to - from).count();
    };
    const std::size_t before = backend.memory().live;
    std::vector<double> forward_times;
    std::vector<double> backward_times;
    PassCost cost;
    double all = 0.0;
    // The first pass allocates and compiles.
    for (int pass = -1; pass < repeat || (all < kEnough && pass < 50 * repeat); ++pass) {
        Tape tape;
        backend.synchronize();
        const Clock::time_point start = Clock::now();
        const Var y = forward(tape);
        backend.synchronize();
        const Clock::time_point middle = Clock::now();
        cost.bytes = backend.memory().live - before;
        y.add_gradient(backend, unit_noise(backend, y.shape(), kGradients));
        backend.synchronize();
        const Clock::time_point ready = Clock::now();
        tape.backward(backend);
        backend.synchronize();
        const Clock::time_point end = Clock::now();
        forget();
        if (pass >= 0) {
            forward_times.push_back(seconds(start, middle));
            backward_times.push_back(seconds(ready, end));
            all += forward_times.back() + backward_times.back();
        }
    }
    cost.forward_seconds = median(forward_times);
    cost.backward_seconds = median(backward_times);
    return cost;
}

Tensor unit_noise(Backend& backend, const Shape& shape, std::uint64_t stream) {
    Random random(1, stream);
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    const double limit = std::sqrt(3.0);
    for (float& value : values) {
        value = static_cast<float>(limit * (2.0 * random.uniform() - 1.0));
    }
    return make_from_host(backend, shape, DType::F32, values);
}

}  // namespace headscope
