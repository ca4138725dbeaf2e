// What a checkpoint contains besides tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "train/config_changes.h"
#include "train/divergence_guard.h"
#include "train/run_totals.h"

namespace headscope {

struct TrainingState {
    std::int64_t step = 0;    // steps done
    double seconds = 0.0;     // of training, over all processes
    std::int64_t tokens = 0;  // of the target side, of all steps
    double epochs = 0.0;
    // Of all steps, as TrainingFlops counts them; unknown if earlier versions did some of them.
    std::optional<double> flops = 0.0;
    nlohmann::json source;  // StepSource::state()
    RunTotals totals;       // since the last report
    struct Best {
        std::int64_t step = 0;
        double nll = 0.0;
        bool mean = false;                       // measured with the exponential mean of the weights
        std::optional<std::uint64_t> text = {};  // fingerprint of the validation text; unknown in earlier versions
        bool operator==(const Best&) const = default;
    };
    std::optional<Best> best;  // on the validation text
    std::int64_t validations_since_best = 0;
    GuardState guard;
    // Checkpoints that were due, ascending. Only these are averaged and returned to, so that the result does not depend
    // on when a run was stopped.
    struct Kept {
        std::int64_t step = 0;
        bool healthy = true;  // DivergenceGuard::healthy()
        bool operator==(const Kept&) const = default;
    };
    std::vector<Kept> kept;
    // Adds `step` to `kept`, and drops the oldest beyond `most`, except the newest healthy one.
    void note_kept(bool healthy, std::int64_t most);
    bool checkpoint_due = false;                       // postponed, since steps were skipped
    std::optional<LossScaleState<double>> loss_scale;  // of the next step; F16 only
    std::int64_t updates = 0;                          // of the weights: steps that were not skipped
    std::int64_t part_tokens = 0;  // padded tokens of a part that fits in memory; 0: no part was too large
};

// Identifies a run: it must not continue from a checkpoint of another one.
struct RunIdentity {
    nlohmann::json config;  // TrainConfig::identity()
    std::uint64_t data = 0;
    std::string device;
    std::string arithmetic;  // name_of(Arithmetic)
};

nlohmann::json to_json(const TrainingState::Best& best);
// Error, naming `file`, for an incomplete record.
TrainingState::Best parse_best(const nlohmann::json& json, const std::string& file);

nlohmann::json to_json(const TrainingState& state, const RunIdentity& identity);
// Error, naming `file`, for an incomplete state.
TrainingState parse_training_state(const nlohmann::json& json, const std::string& file);

// Error, naming `file`, for an incomplete state, and for a checkpoint of another configuration or other data, naming
// the difference. Returns a warning if the run can continue, but not bit for bit: with another device, arithmetic or
// learning rate (compare_configs). Otherwise "".
std::string compare_identity(const nlohmann::json& json, const RunIdentity& now, const std::string& file,
                             Purpose purpose = Purpose::Train);

}  // namespace headscope
