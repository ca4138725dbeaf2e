// How hard it is for each kind of layer to learn a dependency over a distance: "the shorter these paths ... the easier
// it is to learn long-range dependencies" (paper 4).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/backend.h"
#include "experiment/layer_kinds.h"
#include "experiment/study_report.h"

namespace headscope {

// Both with symbols drawn at random, as a causal language model reads them.
enum class LongRangeTask : std::uint8_t {
    Recall,  // after `distance` symbols the first one is to be named
    Copy,    // `distance` symbols are to be repeated, each that far behind
};
inline constexpr const char* kLongRangeTasks[] = {"recall", "copy"};

struct LongRangeSettings {
    std::vector<std::int64_t> distances = {8, 16, 32, 64, 128};
    int layers = 2;
    std::int64_t d_model = 64;
    std::int64_t sequences = 32;  // of a batch
    std::int64_t steps = 1000;    // at most
    double learning_rate = 1e-3;  // after a warm-up of a tenth of the steps
    std::uint64_t seed = 1;
};

struct LongRangeResult {
    LongRangeTask task = LongRangeTask::Recall;
    std::string layer;
    std::int64_t distance = 0;
    std::optional<std::int64_t> steps;  // until 99 % of the answers were right; empty: not within the limit
    double accuracy = 0.0;              // at the end, of 256 new sequences
    std::int64_t parameters = 0;
};

// Why there is no such model with as many parameters as the others; "" if there is.
std::string why_impossible(const LongRangeSettings& settings, LongRangeTask task, const LayerKind& kind,
                           std::int64_t distance);
// Trains one model and says how many steps it needed. Empty if `stop_requested`.
std::optional<LongRangeResult> learn_long_range(Backend& backend, const LongRangeSettings& settings, LongRangeTask task,
                                                const LayerKind& kind, std::int64_t distance,
                                                const std::function<bool()>& stop_requested);

// "450", or "25 %" where it was never learnt.
std::string steps_text(const LongRangeResult& result);

// What table.json in the folder has of an earlier call, so that a later one continues; nothing without the file. Error
// if it is of other settings, with the differences, or of another study. Further distances may be asked for.
std::vector<LongRangeResult> known_results(const std::string& folder, const LongRangeSettings& settings);
// Rows are tasks and layers, columns distances: steps, or the accuracy that was reached.
StudyReport report_of(const std::vector<LongRangeResult>& results, const LongRangeSettings& settings);

}  // namespace headscope
