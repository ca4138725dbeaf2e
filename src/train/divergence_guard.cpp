#include "train/divergence_guard.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/check.h"
#include "train/run_totals.h"

namespace headscope {
namespace {

// A mean over fewer steps would reflect single batches; one over more would rise slowly.
constexpr std::int64_t kWindow = 20;

}  // namespace

void DivergenceGuard::add(double nll) {
    state_.counted = std::min(state_.counted + 1, kWindow);
    state_.mean += (nll - state_.mean) / static_cast<double>(state_.counted);
    if (state_.counted < kWindow) {
        state_.lowest = state_.mean;
        return;
    }
    state_.lowest = std::min(state_.lowest, state_.mean);
    const bool above = options_.margin > 0.0 && state_.mean > state_.lowest + options_.margin;
    state_.above = above ? state_.above + 1 : 0;
    state_.diverged = state_.diverged || (above && state_.above >= options_.steps);
}

void DivergenceGuard::add_validation(double nll) {
    state_.diverged = state_.diverged || !std::isfinite(nll);
}

bool DivergenceGuard::healthy() const {
    constexpr double kHalf = 0.5;  // a rising loss may already be lost
    return !state_.diverged && (options_.margin == 0.0 || state_.mean <= state_.lowest + kHalf * options_.margin);
}

void DivergenceGuard::go_back(const GuardState& then) {
    const std::int64_t returns = state_.returns + 1;
    const double rate_factor = state_.rate_factor * options_.rate_factor;
    state_ = then;
    state_.returns = returns;
    state_.rate_factor = rate_factor;
}

nlohmann::json to_json(const GuardState& state) {
    return {{"mean", state.mean},
            {"lowest", state.lowest},
            {"counted", state.counted},
            {"above", state.above},
            {"diverged", state.diverged},
            {"returns", state.returns},
            {"rate_factor", state.rate_factor}};
}

GuardState parse_guard_state(const nlohmann::json& json) {
    GuardState state;
    json.at("mean").get_to(state.mean);
    json.at("lowest").get_to(state.lowest);
    state.counted = count_at(json, "counted");
    state.above = count_at(json, "above");
    json.at("diverged").get_to(state.diverged);
    state.returns = count_at(json, "returns");
    json.at("rate_factor").get_to(state.rate_factor);
    if (!(state.rate_factor > 0.0 && state.rate_factor <= 1.0)) {
        throw Error(fmt::format("\"rate_factor\" is {}; expected a number in (0, 1]", json.at("rate_factor").dump()));
    }
    return state;
}

}  // namespace headscope
