// The learning rate of a step. Paper 5.3, equation 3.
#pragma once

#include <cstdint>
#include <string>

namespace headscope {

struct Schedule {
    std::int64_t d_model = 512;
    std::int64_t warmup_steps = 4000;
    double scale = 1.0;
    // Not in the paper: over the last `cooldown_steps` of `total_steps` the rate falls linearly to zero. 0 is
    // equation 3 alone.
    std::int64_t cooldown_steps = 0;
    std::int64_t total_steps = 0;
    // The same over the last share of the training, for any kind of limit.
    double cooldown = 0.0;

    // `step` counts from 1; `done` is the share of the training before that step.
    double operator()(std::int64_t step, double done = 0.0) const;
};

// A warning if a training of about `steps` steps (infinity: unknown) ends while its learning rate still rises;
// otherwise
// "".
std::string ends_in_warmup(double steps, std::int64_t warmup_steps);

}  // namespace headscope
