#include "train/limits.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

namespace headscope {
namespace {

struct Measure {
    const char* key = "";
    double done = 0.0, limit = 0.0;
};

std::array<Measure, 4> measures(const RunLimits& limits, const Progress& done) {
    return {{{"steps", static_cast<double>(done.steps), static_cast<double>(limits.steps)},
             {"epochs", done.epochs, limits.epochs},
             {"tokens", static_cast<double>(done.tokens), static_cast<double>(limits.tokens)},
             {"minutes", done.minutes, limits.minutes}}};
}

}  // namespace

std::string RunLimits::reached_by(const Progress& done) const {
    const auto each = measures(*this, done);
    const auto* const first = std::find_if(each.begin(), each.end(),
                                           [](const Measure& one) { return one.limit > 0.0 && one.done >= one.limit; });
    return first == each.end() ? "" : fmt::format("\"training.{}\" ({:.15g})", first->key, first->limit);
}

RunLimits::Estimate RunLimits::about_steps(double steps_per_epoch, double tokens_per_step,
                                           double seconds_per_step) const {
    Estimate first;
    for (const Estimate& one : {Estimate{"steps", static_cast<double>(steps)},
                                {"epochs", epochs * steps_per_epoch},
                                {"tokens", static_cast<double>(tokens) / tokens_per_step},
                                {"minutes", minutes * 60.0 / seconds_per_step}}) {
        if (one.steps > 0.0 && one.steps < first.steps) {
            first = one;
        }
    }
    return first;
}

double RunLimits::share(const Progress& done) const {
    double most = 0.0;
    for (const Measure& one : measures(*this, done)) {
        if (one.limit > 0.0) {
            most = std::max(most, one.done / one.limit);
        }
    }
    return std::min(most, 1.0);
}

double RunLimits::minutes_left(const Progress& done) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Measure& one : measures(*this, done)) {
        if (one.limit > 0.0 && one.done > 0.0) {
            least = std::min(least, done.minutes * std::max(one.limit / one.done - 1.0, 0.0));
        }
    }
    if (minutes > 0.0) {  // known before the first step
        least = std::min(least, std::max(minutes - done.minutes, 0.0));
    }
    return least < std::numeric_limits<double>::infinity() ? least : -1.0;
}

}  // namespace headscope
