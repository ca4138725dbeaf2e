// The length of a training, in any of the units that a configuration may use.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace headscope {

// Work done so far.
struct Progress {
    std::int64_t steps = 0;
    double epochs = 0.0;
    std::int64_t tokens = 0;  // of the target side, eos counted, pads not
    double minutes = 0.0;     // of training, over all starts
};

// The first limit reached ends the training; 0 means no limit.
struct RunLimits {
    std::int64_t steps = 0;
    double epochs = 0.0;
    std::int64_t tokens = 0;
    double minutes = 0.0;

    bool any() const { return steps > 0 || epochs > 0.0 || tokens > 0 || minutes > 0.0; }
    bool reached(const Progress& done) const { return !reached_by(done).empty(); }
    // The limit that was reached, such as '"training.steps" (24)'; "" for none.
    std::string reached_by(const Progress& done) const;
    // Until the first limit. Without `seconds_per_step` a limit of minutes counts as unknown.
    struct Estimate {
        const char* limit = "";
        double steps = std::numeric_limits<double>::infinity();
    };
    Estimate about_steps(double steps_per_epoch, double tokens_per_step, double seconds_per_step = 0.0) const;
    // Progress towards the nearest limit, from 0 to 1.
    double share(const Progress& done) const;
    // Estimated minutes until the first limit; negative if unknown.
    double minutes_left(const Progress& done) const;
};

}  // namespace headscope
