// What a checkpoint remembers beside tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/batcher.h"
#include "train/config_changes.h"
#include "train/divergence_guard.h"
#include "train/run_totals.h"

namespace headscope {

struct TrainingState {
    std::int64_t step = 0;    // steps done
    double seconds = 0.0;     // of training, over all starts
    std::int64_t tokens = 0;  // of the target side, of all steps
    double epochs = 0.0;
    BatcherState batcher;
    RunTotals totals;  // since the last report
    struct Best {
        std::int64_t step = 0;
        double nll = 0.0;
        bool mean = false;  // of the exponential mean of the weights, not of the weights themselves
        std::optional<std::uint64_t> text = {};  // fingerprint of the validation text; earlier versions kept none
        bool operator==(const Best&) const = default;
    };
    std::optional<Best> best;  // validation
    std::int64_t validations_since_best = 0;
    GuardState guard;
    // Checkpoints that were due, rising: what is averaged and gone back to must not depend on when a run was stopped.
    struct Kept {
        std::int64_t step = 0;
        bool healthy = true;  // the loss was where it should be
        bool operator==(const Kept&) const = default;
    };
    std::vector<Kept> kept;
    bool checkpoint_due = false;                       // since a step that was skipped
    std::optional<LossScaleState<double>> loss_scale;  // of the next step, where gradients are scaled
    std::int64_t part_tokens = 0;  // what micro-batches had to shrink to, so that memory holds them; 0: they fit
};

// Which run it is: a checkpoint of another one must not be taken up.
struct RunIdentity {
    nlohmann::json config;  // TrainConfig::identity()
    std::uint64_t data = 0;
    std::string device;
    std::string arithmetic;  // name_of(Arithmetic)
};

nlohmann::json to_json(const TrainingState::Best& best);
// Error, naming `file`, for a record that lacks something.
TrainingState::Best parse_best(const nlohmann::json& json, const std::string& file);

nlohmann::json to_json(const TrainingState& state, const RunIdentity& identity);
// Error, naming `file`, for a state that lacks something.
TrainingState parse_training_state(const nlohmann::json& json, const std::string& file);

// Error, naming `file`, for a state that lacks something, and one that names what differs when the checkpoint belongs
// to another configuration or other data. Returns a warning where the run may go on, but not bit for bit: another
// device or arithmetic, or another rate (compare_configs); "" else.
std::string compare_identity(const nlohmann::json& json, const RunIdentity& now, const std::string& file,
                             Purpose purpose = Purpose::Train);

}  // namespace headscope
