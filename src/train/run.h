// A training run: steps of a Learner until a limit is reached, with reports, validations and checkpoints, and a return
// to an earlier checkpoint if it diverges. Everything it writes is in its folder. Paper 5.
//
// Ranks that train together each have a Run of the same configuration and data. Rank 0 alone writes, and its clock and
// its user decide for all; everything else follows from what all know.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/step_source.h"
#include "model/flops.h"
#include "train/checkpoint.h"
#include "train/divergence_guard.h"
#include "train/learner.h"
#include "train/limits.h"
#include "train/run_log.h"
#include "train/run_totals.h"
#include "train/train_config.h"
#include "train/training_data.h"
#include "train/training_state.h"
#include "train/validator.h"

namespace headscope {

// How a run talks to the program around it.
struct RunHooks {
    Log say = [](const std::string&) {};
    std::function<void(const Report&)> report = {};  // instead of `say` with its line
    std::function<bool()> stop_requested = [] { return false; };
    // Seconds, of which only differences count.
    std::function<double()> clock = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    std::function<void(const std::string&)> label = {};  // of the learner, see Context::label
    Communicator* ranks = &alone();                      // that train together
};

// Seconds passed on a clock. If the clock is set back, no time has passed.
class RunClock {
public:
    explicit RunClock(std::function<double()> seconds) : seconds_(std::move(seconds)), last_(seconds_()) {}

    double now() const {
        const double seconds = seconds_();
        elapsed_ += std::max(seconds - std::exchange(last_, seconds), 0.0);
        return elapsed_;
    }

private:
    std::function<double()> seconds_;
    mutable double last_, elapsed_ = 0.0;
};

enum class RunEnd : std::uint8_t { Finished, Stopped };

// Learner for a run of this configuration.
Learner make_learner(Backend& backend, const TrainConfig& config, const TrainingData& data, const RunHooks& hooks);
// Prints what is trained, and a warning if the warm-up is longer than the training.
void say_start(const Learner& learner, const StepSource& source, const TrainConfig& config, const TrainingData& data,
               const Log& say);

class Run {
public:
    // `learner` is new: it has its first weights. `folder`, which a RunFolder holds, gets checkpoints/,
    // best.safetensors and log.jsonl. `source` gives its steps; null: a Batcher of the data.
    Run(Learner& learner, const TrainConfig& config, TrainingData data, std::string folder, RunHooks hooks,
        std::unique_ptr<StepSource> source = nullptr);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    // Before the first step: loads the weights of a model directory. Error if it has another shape.
    void begin_from(const std::string& model_directory);
    // Continues from the newest intact checkpoint; false if there is none. Error if it belongs to another run.
    bool resume(Purpose purpose = Purpose::Train);

    // Until the first limit of the configuration or a requested stop. The last step is checkpointed either way.
    RunEnd train();

    // Writes a model directory: the mean of the last checkpoints, the exponential mean of the weights or the best
    // single model, whichever does best on the validation text.
    void write_model(const std::string& model_directory);

    // The limit that ended the run, or patience, such as '"training.steps" (24)'; "" if none has.
    std::string ended_by() const;
    std::int64_t step() const { return state_.step; }
    double minutes() const { return seconds_done() / 60.0; }  // of training, over all starts

private:
    static constexpr const char* kBestFile = "best.safetensors";

    // run.cpp: the loop
    TrainingState first_state() const;
    void train_until_stopped();
    void take_step();
    bool learn(const ShardParts& shards, std::optional<double> divisor);
    void collect();
    void count_gradients(const StepRecord& record, double divisor);
    void report();
    double learning_rate(std::int64_t step) const;
    Progress progress() const;
    double seconds_done() const;
    void note_progress();  // in the state
    bool finished() const { return !ended_by().empty(); }
    // What rank 0 thinks, on all ranks, whose clock becomes its own.
    bool agreed(bool mine);
    void share_clock() { static_cast<void>(agreed(true)); }
    bool leads() const { return learner_.ranks().leads(); }
    void log(const nlohmann::json& line);  // on rank 0
    bool patience_spent() const;
    std::string path(const char* name) const;

    // run_validation.cpp
    void validate();
    bool best_is_of_other_text() const;
    void measure_best_again();         // may leave its weights in the learner
    void write_best(bool mean) const;  // the learner's weights, or their mean
    bool read_best();                  // into the learner; false, with a warning, if the file is unusable
    void find_newer_best();
    std::string load_average(const std::vector<Checkpoint>& files);
    nlohmann::json training_card(const std::string& model_directory, const nlohmann::json& state) const;
    std::string load_best_weights(const std::vector<Checkpoint>& files, std::optional<double>& nll);

    // run_checkpoints.cpp
    bool checkpoint_due() const;
    // Whether the checkpoint of this step stays beside the last ones. It does not count among them.
    bool stays(std::int64_t step) const;
    void checkpoint(bool was_due);
    void restore(const Checkpoint& checkpoint, Purpose purpose);
    void write(const std::string& checkpoint);  // on rank 0; all ranks call it
    void read_tensors(const Checkpoint& checkpoint);
    std::optional<Checkpoint> open_or_warn(std::int64_t step) const;
    std::vector<Checkpoint> checkpoints_to_average() const;
    // Those that rank 0 found, on all ranks, which read the same files. All ranks call it.
    std::vector<Checkpoint> of_leader(std::vector<Checkpoint> found) const;
    RunIdentity identity() const;

    // run_recovery.cpp
    bool diverged() const;
    void recover();  // returns to the last good checkpoint at a lower rate; Error if that is not allowed
    void report_return(std::int64_t from, const std::string& why);
    std::string divergence() const;  // describes it
    std::string advice() const;
    std::optional<Checkpoint> newest_good() const;  // by what this rank sees

    Learner& learner_;
    TrainConfig config_;
    TrainingData data_;  // without the validation text, which the validator has
    std::string folder_;
    std::string from_;  // model directory with the first weights; "" for random ones
    RunHooks hooks_;
    std::unique_ptr<StepSource> source_;
    nlohmann::json start_;  // of source_
    TrainingFlops count_flops_;
    std::optional<Validator> validator_;  // empty without validation text
    CheckpointFolder checkpoints_;
    DivergenceGuard guard_;
    RunLog log_;
    TrainingState state_;
    std::string device_;         // of rank 0
    double clock_of_all_ = 0.0;  // of rank 0, when agreed() was last asked; with one rank unused
    RunClock clock_;
    double resumed_at_ = 0.0, reported_at_ = 0.0, checkpointed_at_ = 0.0;  // on clock_
    double seconds_before_ = 0.0;    // state_.seconds at the start of this process
    double learning_rate_ = 0.0;     // of the newest step
    std::int64_t checkpointed_ = 0;  // step of the newest checkpoint
    bool trained_ = false;           // this process took a step
};

}  // namespace headscope
