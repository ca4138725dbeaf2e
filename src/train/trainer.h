// The training loop. Paper 5.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "data/batcher.h"
#include "model/parameters.h"
#include "model/transformer.h"
#include "train/checkpoint.h"
#include "train/gradient_watch.h"
#include "train/optimizer.h"
#include "train/run_log.h"
#include "train/run_totals.h"
#include "train/step_history.h"
#include "train/train_config.h"
#include "train/training_data.h"
#include "train/training_pass.h"
#include "train/training_state.h"
#include "train/validation.h"

namespace headscope {

// What the trainer is told by, and tells, the program around it.
struct TrainerHooks {
    Say say = [](const std::string&) {};
    std::function<bool()> stop_requested = [] { return false; };
    std::function<void(const std::string&)> label = {};  // see Context::label
};

enum class RunEnd : std::uint8_t { Finished, Stopped };

class Trainer {
public:
    // `directory`, which a RunFolder holds, gets checkpoints/, best.safetensors and log.jsonl.
    Trainer(Backend& backend, const TrainConfig& config, TrainingData data, std::string directory, TrainerHooks hooks);
    ~Trainer();

    // Takes up the newest whole checkpoint; false when there is none. Error when it belongs to another run.
    bool resume(Purpose purpose = Purpose::Train);

    // To the first limit of the configuration, or until a stop is requested; either way the last step is checkpointed.
    RunEnd run();

    // The mean of the last checkpoints, or the best one where that does better on the validation text, as a model
    // directory.
    void write_model(const std::string& model_directory);

    // Trains on the first step's sentences alone, without dropout and smoothing; returns the last nll per token.
    // nullopt when a stop was requested.
    std::optional<double> overfit_one_batch(std::int64_t steps);

    std::int64_t step() const { return state_.step; }
    const Parameters& parameters() const { return parameters_; }

private:
    using Clock = std::chrono::steady_clock;
    struct StepTokens {
        std::int64_t source = 0, target = 0;
    };

    // The step over these pairs, in parts that memory holds.
    void train_on(const std::vector<std::size_t>& pairs, double learning_rate);
    bool halve_parts(const std::vector<Batch>& parts, const OutOfMemory& error);
    BatchBudget part_budget() const;
    void train_step(const std::vector<Batch>& parts, double learning_rate, bool regularise);
    void watch(const StepRecord& record, double divisor);
    void collect();  // the history into the totals; waits for the device
    void log(const nlohmann::json& line);
    void report();
    void validate_now();
    void checkpoint();
    bool skipping();
    void require_progress() const;  // Error after too many skipped steps in a row, with the way back
    std::string way_back(std::int64_t spoilt) const;
    bool finished() const;
    bool checkpoint_due() const;
    double epochs_done() const;
    double minutes_left() const;
    double seconds_done() const;
    RunIdentity identity() const;
    CheckpointTensors tensors() const;
    bool scales_loss() const { return arithmetic_.storage == DType::F16; }
    // As CheckpointFolder::newest_whole, with a warning for each that is passed over.
    std::vector<Checkpoint> whole_checkpoints(std::int64_t count, std::int64_t newest) const;
    bool read_best();  // the best single model into the parameters; false, with a warning, when its file is of no use
    LossOptions loss_options() const;
    std::string path(const char* name) const;

    Backend& backend_;
    TrainConfig config_;
    TrainingData data_;  // the pairs have moved into the batchers
    std::string directory_;
    TrainerHooks hooks_;
    ModelConfig model_config_;
    Arithmetic arithmetic_;
    Parameters parameters_;
    Transformer model_;
    TrainingPass pass_;
    Optimizer optimizer_;
    std::optional<GradientWatch> watch_;
    StepHistory history_;
    Batcher batcher_;
    std::unique_ptr<Batcher> valid_;  // none without validation text
    CheckpointFolder checkpoints_;
    std::optional<RunLog> log_;
    Tensor step_tensor_;  // I32 [1]: what dropout draws by
    TrainingState state_;
    std::vector<StepTokens> pending_;  // of the steps in the history
    Clock::time_point resumed_at_, reported_at_, checkpointed_at_;
    double seconds_before_ = 0.0;  // state_.seconds when this start began
};

}  // namespace headscope
