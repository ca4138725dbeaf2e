// Whether a training has gone astray, told from the loss of its steps.
#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

struct GuardOptions {
    std::int64_t returns = 3;  // how often a run may go back to an earlier checkpoint; 0: it ends instead
    double rate_factor = 0.5;  // on the learning rate, each time
    double margin = 1.0;       // nats per target token above the lowest mean loss; 0: no loss is too high
    std::int64_t steps = 200;  // in a row above that
};

// All that decides what comes next, and so part of a checkpoint.
struct GuardState {
    double mean = 0.0;         // of the nll per target token, over the newest steps
    double lowest = 0.0;       // that the mean has been
    std::int64_t counted = 0;  // steps in the mean
    std::int64_t above = 0;    // steps in a row with a mean above the margin
    bool diverged = false;     // stays until the run goes back
    std::int64_t returns = 0;  // so far
    double rate_factor = 1.0;  // of all returns

    bool operator==(const GuardState&) const = default;
};

class DivergenceGuard {
public:
    explicit DivergenceGuard(const GuardOptions& options) : options_(options) {}

    // A step that counted, in the order of the steps. `nll` is per target token.
    void add(double nll);
    // A loss on held-out text.
    void add_validation(double nll);

    bool diverged() const { return state_.diverged; }
    // Whether weights of now are worth going back to.
    bool healthy() const;
    bool may_return() const { return state_.returns < options_.returns; }
    // The run goes on from where `then` is of, at a rate that is lower once more than it is now.
    void go_back(const GuardState& then);

    const GuardOptions& options() const { return options_; }
    const GuardState& state() const { return state_; }
    void set_state(const GuardState& state) { state_ = state; }

private:
    GuardOptions options_;
    GuardState state_;
};

nlohmann::json to_json(const GuardState& state);
GuardState parse_guard_state(const nlohmann::json& json);

}  // namespace headscope
