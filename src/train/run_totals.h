// Sums since the last report, and the line that a report makes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "train/step_history.h"

namespace headscope {

struct RunTotals {
    double loss = 0.0;  // smoothed, over target_tokens
    double nll = 0.0;
    double gradient_norm = 0.0;  // summed over steps
    std::int64_t steps = 0;      // that counted: the skipped ones are not in here
    std::int64_t skipped = 0;
    std::int64_t skipped_in_a_row = 0;  // ending with the newest step, over reports
    std::int64_t stuck_in_a_row = 0;    // of those the last, since the loss scale could fall no further
    std::int64_t source_tokens = 0;     // of the steps that counted
    std::int64_t target_tokens = 0;
    std::int64_t all_tokens = 0;  // source and target, for the speed
    double seconds = 0.0;
    // Where gradients are watched: the norm of each layer's, summed over so many of the steps, and of the newest
    // skipped step the first parameter on the way back whose gradient was not finite.
    std::int64_t watched_steps = 0;
    std::map<std::string, double> layer_norms = {};
    std::string first_not_finite = {};

    // Adds a step. A skipped one must not spoil the means with its NaN. `scale_fell`: the next step has a smaller loss
    // scale, so it may succeed.
    void add(const StepRecord& record, bool scale_fell);
    // A new interval; the run of skipped steps goes on.
    void restart();
};

nlohmann::json to_json(const RunTotals& totals);
// Whether it is a whole number from 0 that fits.
bool is_count(const nlohmann::json& value);
// json[key], or a value that is found by it; Error unless that is a count.
std::int64_t count_at(const nlohmann::json& json, const char* key);
std::int64_t count_of(const nlohmann::json& value, const char* key);
RunTotals parse_run_totals(const nlohmann::json& json);

// One report: for people and for log.jsonl.
struct Report {
    std::int64_t step = 0;
    double epoch = 0.0;
    double learning_rate = 0.0;
    double minutes_left = -1.0;    // negative: unknown
    double loss_scale = 0.0;       // 0: the gradients are not scaled
    double minutes = 0.0;          // of training, over all starts
    std::size_t memory_bytes = 0;  // of the device, the most that this start has had in use
    RunTotals totals;

    double loss() const;  // means over the interval, per target token
    double nll() const;
    double tokens_per_second() const;
    std::string line() const;
    nlohmann::json json() const;
};

// "1.5 h", "12 min", "40 s"
std::string duration_text(double minutes);

}  // namespace headscope
