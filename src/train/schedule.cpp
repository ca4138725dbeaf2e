#include "train/schedule.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

double Schedule::operator()(std::int64_t step, double done) const {
    HEADSCOPE_CHECK(step >= 1, "steps count from 1");
    const double s = static_cast<double>(step);
    const double rising = s * std::pow(static_cast<double>(warmup_steps), -1.5);
    const double falling = 1.0 / std::sqrt(s);
    const double rate = scale / std::sqrt(static_cast<double>(d_model)) * std::min(falling, rising);
    if (cooldown > 0.0) {
        return rate * std::min(1.0, std::max(1.0 - done, 0.0) / cooldown);
    }
    if (cooldown_steps == 0) {
        return rate;
    }
    // The step after the last would have rate 0, so the last one still has a positive rate.
    const double left = static_cast<double>(std::max<std::int64_t>(total_steps + 1 - step, 0));
    return rate * std::min(1.0, left / static_cast<double>(cooldown_steps));
}

std::string ends_in_warmup(double steps, std::int64_t warmup_steps) {
    if (steps >= static_cast<double>(warmup_steps)) {
        return "";
    }
    return fmt::format(
        "about {:.0f} steps in total, but the learning rate rises over the first {} (\"warmup_steps\") and so never "
        "reaches its peak; use smaller steps (\"source_tokens\" and \"target_tokens\", or --batch), more of them, or a "
        "shorter warm-up",
        steps, warmup_steps);
}

}  // namespace headscope
