// How long a training lasts, counted in whatever its configuration counts it in.
#pragma once

#include <cstdint>
#include <string>

namespace headscope {

// What has been done.
struct Progress {
    std::int64_t steps = 0;
    double epochs = 0.0;
    std::int64_t tokens = 0;  // of the target side, eos counted, pads not
    double minutes = 0.0;     // of training, over all starts
};

// The first that is reached ends the training; 0 is none.
struct Limits {
    std::int64_t steps = 0;
    double epochs = 0.0;
    std::int64_t tokens = 0;
    double minutes = 0.0;

    bool any() const { return steps > 0 || epochs > 0.0 || tokens > 0 || minutes > 0.0; }
    bool reached(const Progress& done) const { return !reached_by(done).empty(); }
    // The limit that is reached, as '"training.steps" (24)'; "" for none.
    std::string reached_by(const Progress& done) const;
    // Until the first of those that are known beforehand; infinity without one of them.
    double about_steps(double steps_per_epoch, double tokens_per_step) const;
    // Of the limit that is closest to being reached, from 0 to 1.
    double share(const Progress& done) const;
    // Until the first of them, at the pace so far; negative where nothing tells.
    double minutes_left(const Progress& done) const;
};

}  // namespace headscope
