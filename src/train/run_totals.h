// Sums since the last report, and the report made from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "train/step_history.h"

namespace headscope {

struct RunTotals {
    double loss = 0.0;  // smoothed, over `divisor`
    double nll = 0.0;
    double divisor = 0.0;        // of all steps that were not skipped: target_tokens, or what the steps stated
    double gradient_norm = 0.0;  // summed over steps
    std::int64_t steps = 0;      // without the skipped ones
    std::int64_t skipped = 0;
    std::int64_t skipped_in_a_row = 0;  // up to the newest step, across reports
    std::int64_t stuck_in_a_row = 0;    // the last of those, since the loss scale reached its minimum
    std::int64_t source_tokens = 0;     // without skipped steps
    std::int64_t target_tokens = 0;
    std::int64_t all_tokens = 0;  // source and target of all steps, for the speed
    double seconds = 0.0;
    // With watched gradients: the norm of each layer's gradient, summed over `watched_steps`, and the first parameter
    // in the backward pass of the newest skipped step whose gradient was not finite.
    std::int64_t watched_steps = 0;
    std::map<std::string, double> layer_norms = {};
    std::string first_not_finite = {};
    std::map<std::string, double> measures = {};  // of the objective, over `divisor`

    // Adds a step. A skipped one must not spoil the means with its NaN. `scale_fell`: the next step has a smaller loss
    // scale, so it may succeed.
    void add(const StepRecord& record, bool scale_fell);
    // Starts a new interval. Skipped steps in a row continue to count.
    void restart();
};

// "  perplexity 12.34", or of a training that measures something else, "  accuracy 0.8123  margin 0.4567".
std::string instead_of_perplexity(double nll, const std::map<std::string, double>& measures, int digits);
// The same in a line of the log.
void add_measures(double nll, const std::map<std::string, double>& measures, nlohmann::json& line);

nlohmann::json to_json(const RunTotals& totals);
// Whether it is a whole number in [0, 2^63).
bool is_count(const nlohmann::json& value);
// json[key], or a value found under `key`. Error unless it is a count.
std::int64_t count_at(const nlohmann::json& json, const char* key);
std::int64_t count_of(const nlohmann::json& value, const char* key);
RunTotals parse_run_totals(const nlohmann::json& json);

// One report, for the user and for log.jsonl.
struct Report {
    std::int64_t step = 0;
    double epoch = 0.0;
    double learning_rate = 0.0;
    double minutes_left = -1.0;                    // negative: unknown
    double loss_scale = 0.0;                       // 0: none
    double minutes = 0.0;                          // of training, over all starts
    std::size_t memory_bytes = 0;                  // peak of the device since this process started
    std::optional<double> flops = {};              // of all steps, see TrainingState::flops
    std::map<std::string, double> of_source = {};  // StepSource::measures()
    RunTotals totals;

    double loss() const;  // means over the interval, per target token unless the steps have other divisors
    double nll() const;
    std::map<std::string, double> measures() const;  // with those of the source
    double tokens_per_second() const;
    std::string line() const;
    nlohmann::json json() const;
};

}  // namespace headscope
