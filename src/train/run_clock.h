// Seconds that have passed. When the system's clock is set back, no time has passed.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace headscope {

inline double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class RunClock {
public:
    explicit RunClock(std::function<double()> seconds) : seconds_(std::move(seconds)), last_(seconds_()) {}

    double now() const {
        const double seconds = seconds_();
        elapsed_ += std::max(seconds - std::exchange(last_, seconds), 0.0);
        return elapsed_;
    }

private:
    std::function<double()> seconds_;
    mutable double last_, elapsed_ = 0.0;
};

}  // namespace headscope
