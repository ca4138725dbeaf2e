// Detects from the loss of its steps whether a training has diverged.
#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

struct GuardOptions {
    std::int64_t returns = 3;  // how often a run may return to an earlier checkpoint; 0: it ends instead
    double rate_factor = 0.5;  // factor on the learning rate at each return
    double margin = 1.0;       // nats per target token above the lowest mean loss; 0: no limit
    std::int64_t steps = 200;  // in a row above the margin
};

// Part of a checkpoint, since it decides what the run does next.
struct GuardState {
    double mean = 0.0;         // of the nll per target token, over the newest steps
    double lowest = 0.0;       // value of the mean so far
    std::int64_t counted = 0;  // steps in the mean
    std::int64_t above = 0;    // steps in a row with a mean above the margin
    bool diverged = false;     // stays true until the run returns
    std::int64_t returns = 0;  // so far
    double rate_factor = 1.0;  // product of all returns

    bool operator==(const GuardState&) const = default;
};

class DivergenceGuard {
public:
    explicit DivergenceGuard(const GuardOptions& options) : options_(options) {}

    // Adds a step that was not skipped, in order. `nll` is per target token.
    void add(double nll);
    // Adds the loss on validation text.
    void add_validation(double nll);

    bool diverged() const { return state_.diverged; }
    // Whether a run should return to the current weights.
    bool healthy() const;
    bool may_return() const { return state_.returns < options_.returns; }
    // The run continues from the state `then`, at a learning rate lower than now.
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
