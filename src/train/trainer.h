// The training loop. Paper 5.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "data/batcher.h"
#include "io/event_file.h"
#include "model/parameters.h"
#include "model/transformer.h"
#include "train/checkpoint.h"
#include "train/divergence_guard.h"
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
#include "train/validation_bleu.h"
#include "train/weight_mean.h"

namespace headscope {

// What the trainer is told by, and tells, the program around it.
struct TrainerHooks {
    Say say = [](const std::string&) {};
    std::function<void(const Report&)> report = {};  // instead of its line
    std::function<bool()> stop_requested = [] { return false; };
    std::function<void(const std::string&)> label = {};  // see Context::label
    // Seconds, of which only differences count; going back counts as no time.
    std::function<double()> clock = steady_seconds;

    static double steady_seconds();
};

enum class RunEnd : std::uint8_t { Finished, Stopped };

class Trainer {
public:
    // `directory`, which a RunFolder holds, gets checkpoints/, best.safetensors and log.jsonl.
    Trainer(Backend& backend, const TrainConfig& config, TrainingData data, std::string directory, TrainerHooks hooks);
    ~Trainer();

    // Before the first step: begins with the weights of a model directory. Error when it is of another shape.
    void begin_from(const std::string& model_directory);

    // Takes up the newest whole checkpoint; false when there is none. Error when it belongs to another run.
    bool resume(Purpose purpose = Purpose::Train);

    // To the first limit of the configuration, or until a stop is requested; either way the last step is checkpointed.
    RunEnd run();

    // The mean of the last checkpoints, the exponential mean of the weights or the best single model, whichever does
    // best on the validation text, as a model directory.
    void write_model(const std::string& model_directory);

    // Trains on the first step's sentences alone, without dropout and smoothing; returns the last nll per token.
    // nullopt when a stop was requested.
    std::optional<double> overfit_one_batch(std::int64_t steps);

    // The limit that ended the run, or patience, as '"training.steps" (24)'; "" while none has.
    std::string ended_by() const;

    std::int64_t step() const { return state_.step; }
    const Parameters& parameters() const { return parameters_; }

private:
    static constexpr const char* kBestFile = "best.safetensors";

    struct StepTokens {
        std::int64_t source = 0, target = 0;
    };

    // The step over these pairs, in parts that memory holds.
    void train_on(const Batcher::Step& pairs, double learning_rate);
    bool halve_parts(const std::vector<Batch>& parts, const OutOfMemory& error);
    BatchBudget part_budget() const;
    void train_step(const std::vector<Batch>& parts, double learning_rate, bool regularise);
    void watch(const StepRecord& record, double divisor);
    void make_room_in_history();
    void collect();    // the history into the totals; waits for the device
    void open_logs();  // without what they hold of later steps
    void log(const nlohmann::json& line);
    void report();
    void validate_now();
    ValidationLoss measure() const;  // on the validation text
    DecodingChoices decoding_choices() const;
    double bleu_of(bool mean);  // of the mean of the weights, or of the weights
    void note_validation(const TrainingState::Best& found, bool better);
    void write_best(const Tensor& weights) const;
    bool best_is_of_other_text() const;
    void take_newer_best();
    void measure_best_again();  // which may leave its weights in the parameters
    void begin();               // from the first weights
    void take_up(const Checkpoint& checkpoint, Purpose purpose);
    void checkpoint(bool was_due);
    void note_kept();
    std::vector<std::int64_t> steps_to_average() const;
    bool skipping() const { return state_.totals.skipped_in_a_row > 0; }  // as far as the history was collected
    bool astray() const;
    // Back to the last good checkpoint at a lower rate. Error where that may not be.
    void recover();
    std::string trouble() const;  // in what way the run is astray
    void say_return(std::int64_t from, const std::string& why);
    std::optional<Checkpoint> newest_good() const;
    std::string way_back() const;
    void train_until_stopped();
    bool finished() const { return !ended_by().empty(); }
    bool patience_spent() const;
    bool checkpoint_due() const;
    double learning_rate(const Progress& before, std::int64_t step) const;
    Progress progress() const;
    double seconds_done() const;
    double now() const;  // seconds by which the clock has gone forward so far
    RunIdentity identity() const;
    CheckpointTensors tensors() const;
    bool scales_loss() const { return arithmetic_.storage == DType::F16; }
    // As CheckpointFolder::newest_whole, with a warning for each that is passed over.
    std::vector<Checkpoint> whole_checkpoints(std::int64_t count, std::int64_t newest) const;
    std::string load_average(const std::vector<Checkpoint>& files);  // into the parameters; what it is
    std::string load_mean();
    std::string choose_weights(const std::vector<Checkpoint>& files, std::optional<double>& nll);
    bool read_best();  // the best single model into the parameters; false, with a warning, when its file is of no use
    std::string path(const char* name) const;

    Backend& backend_;
    TrainConfig config_;
    TrainingData data_;  // the validation pairs have moved into their batcher
    std::string directory_;
    std::string from_;  // a model directory whose weights are the first, "" for weights by chance
    TrainerHooks hooks_;
    ModelConfig model_config_;
    Arithmetic arithmetic_;
    Parameters parameters_;
    Transformer model_;
    TrainingPass pass_;
    Optimizer optimizer_;
    std::optional<GradientWatch> watch_;
    std::optional<WeightMean> mean_;
    DivergenceGuard guard_;
    StepHistory history_;
    Batcher batcher_;
    std::unique_ptr<Batcher> valid_;  // none without validation text
    std::uint64_t valid_fingerprint_ = 0;
    std::optional<ValidationBleu> bleu_;
    CheckpointFolder checkpoints_;
    std::optional<RunLog> log_;
    std::optional<EventFile> events_;
    bool log_failed_ = false, events_failed_ = false;  // and were warned of
    Tensor step_tensor_;                               // I32 [1]: what dropout draws by
    TrainingState state_;
    std::vector<StepTokens> pending_;                                      // of the steps in the history
    double resumed_at_ = 0.0, reported_at_ = 0.0, checkpointed_at_ = 0.0;  // now()
    double seconds_before_ = 0.0;                                          // state_.seconds when this start began
    double learning_rate_ = 0.0;                                           // of the newest step
    mutable double elapsed_ = 0.0, clock_ = 0.0;                           // now(), and what the clock showed then
    std::int64_t checkpointed_ = 0;                                        // step of the newest checkpoint
};

}  // namespace headscope
