#include "eval/temperature.h"

#include <cmath>
#include <utility>

namespace headscope {

namespace {

constexpr double kTolerance = 1e-3;        // of the logarithm
constexpr double kGoldenShare = 0.381966;  // (3 - sqrt(5)) / 2
constexpr int kMostSteps = 40;

// A place and the value there.
struct LossAt {
    double x = 0.0, y = 0.0;
};

// Where the parabola through three points turns, counted from the first; NaN or infinite if it is a line.
double turn_of(const LossAt& best, const LossAt& second, const LossAt& third) {
    const double r = (best.x - second.x) * (best.y - third.y);
    const double q = (best.x - third.x) * (best.y - second.y);
    return -((best.x - third.x) * q - (best.x - second.x) * r) / (2.0 * (q - r));
}

}  // namespace

double fit_temperature(const std::function<double(double)>& nll) {
    const auto probe = [&](double x) { return LossAt{x, nll(std::exp(x))}; };
    double low = std::log(kLeastTemperature), high = std::log(kMostTemperature);
    LossAt best = probe(0.0);
    LossAt second = best, third = best;
    double step = 0.0, step_before = 0.0;
    for (int i = 0; i < kMostSteps; ++i) {
        const double middle = 0.5 * (low + high);
        if (std::abs(best.x - middle) + 0.5 * (high - low) <= 2.0 * kTolerance) {
            break;
        }
        const double turn = turn_of(best, second, third);
        const double to = best.x + turn;
        if (std::isfinite(turn) && std::abs(turn) < 0.5 * std::abs(step_before) && to > low + kTolerance &&
            to < high - kTolerance) {
            step_before = std::exchange(step, turn);
        } else {  // a golden section of the larger side
            step_before = best.x < middle ? high - best.x : low - best.x;
            step = kGoldenShare * step_before;
        }
        const LossAt next = probe(best.x + (std::abs(step) >= kTolerance ? step : std::copysign(kTolerance, step)));
        if (next.y <= best.y) {
            (next.x < best.x ? high : low) = best.x;
            third = std::exchange(second, std::exchange(best, next));
        } else {
            (next.x < best.x ? low : high) = next.x;
            if (next.y <= second.y || second.x == best.x) {
                third = std::exchange(second, next);
            } else if (next.y <= third.y || third.x == best.x || third.x == second.x) {
                third = next;
            }
        }
    }
    return std::exp(best.x);
}

}  // namespace headscope
