// A training from what is asked for to its model: what `headscope train` and each row of an experiment run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "data/document_reader.h"
#include "data/task.h"
#include "model/frame_of_config.h"
#include "model/tokenizer_files.h"
#include "train/run.h"
#include "train/run_config.h"
#include "train/run_folder.h"
#include "train/training_data.h"
#include "train/unlearnable_lines.h"

namespace headscope {

// Files of text whose amount chooses the configuration: two, or one for a language model.
struct TrainingTexts {
    std::string source, target;
    std::string text;
    Task task = Task::Causal;         // of `text`
    Task of_pairs = Task::Translate;  // of the two
    DocumentForm documents = DocumentForm::Line;
    Languages languages = {};  // of two texts, for a first model

    bool given() const { return !source.empty() || !text.empty(); }
    Task what() const { return text.empty() ? of_pairs : task; }
};

struct TrainingRequest {
    std::optional<RunConfig> config = {};  // empty: chosen by `texts`
    TrainingTexts texts = {};
    std::function<void(RunConfig&)> adjust = [](RunConfig&) {};  // changes either configuration
    std::string output;                                          // folder of the run
    std::string from = {};  // model directory with the first weights and the tokenizers; "" for random ones
    // Tokenizers to copy; none: those of `from`, or new ones.
    std::optional<TokenizerPair> tokenizers = {};
    bool resume = false;  // continues from the newest checkpoint in `output`; without this there must be none
    Purpose purpose = Purpose::Train;
    RunInputs inputs = {};           // files that the request itself was read from
    Communicator* ranks = &alone();  // that train together, each with a job of the same request
    std::string program = {};        // with its version, which must be the same on all ranks
    // Makes what gives the training's steps, of the encoded text; empty: a Batcher.
    std::function<std::unique_ptr<StepSource>(const TrainingData&)> source = {};
};

struct TrainingResult {
    RunEnd end = RunEnd::Finished;
    std::int64_t step = 0;
    double minutes = 0.0;  // Run::minutes()
    std::string ended_by;  // Run::ended_by(), with the options that set it
};

// Error if a training cannot begin, go on or be finished in this folder, as its checkpoints show.
void require_output(const std::string& output, bool resume, Purpose purpose);

class TrainingJob {
public:
    // Checks the configuration, if there is one already. `say` gets what is said until the training begins.
    TrainingJob(TrainingRequest request, Log say);

    // Everything, in the request's folder: errors in the input come before anything is written. `open` is called once
    // the request is known to be sound, and `hooks` before the first step.
    TrainingResult run(const std::function<Backend&()>& open, const std::function<RunHooks(Backend&)>& hooks);

    // The same in steps, in this order. Checks that the configuration works on this device.
    void use(Backend& backend);
    // Of texts: splits them into `folder`, which is the request's `output` or replaces it, and chooses a configuration
    // by their size.
    void choose_config(const std::string& folder);
    // Encodes the text, with tokenizers in `folder`, and replaces a batch of "auto" by what fits in memory. With the
    // folder of a `resumed` run, the tokenizers in `folder` and the recorded batch are used again.
    void prepare_data(const std::string& folder, const RunFolder* resumed = nullptr);
    // Trains from the newest checkpoint, if the run is `resumed`, saves the configuration, and writes model/ unless the
    // run was stopped. To finish means only the last. Takes the data.
    TrainingResult train(RunFolder& folder, bool resumed, const RunHooks& hooks);

    // Whether none of the configuration's files is there. A batch of "auto" needs them.
    bool lacks_data() const;
    bool has_config() const { return given_.has_value(); }
    const TrainConfig& config() const { return config_; }
    Backend& backend() const { return *backend_; }
    const TrainingData& data() const { return data_; }
    RunInputs inputs() const;  // all files that the training reads

private:
    TrainingResult follow(const std::function<Backend&()>& open, const std::function<RunHooks(Backend&)>& hooks);
    TrainingResult train(const std::string& folder, const std::function<void()>& keep, bool resumed,
                         const RunHooks& hooks);
    bool leads() const { return request_.ranks->leads(); }
    void set_batch(std::int64_t tokens);
    void choose_shards(const RunFolder* resumed);
    void take(RunConfig config);
    void require_from(Task task) const;
    void check_device() const;
    nlohmann::json config_for_pairs(const std::string& folder) const;
    nlohmann::json config_for_text(const std::string& folder) const;
    void warn_of(const UnlearnableLines& lines) const;
    TokenizerOrigin tokenizers(bool reuse) const;
    std::int64_t find_batch() const;

    TrainingRequest request_;
    Log say_;
    std::optional<RunConfig> given_;  // to be kept in the run's folder
    TrainConfig config_;              // `given_`, parsed
    Backend* backend_ = nullptr;
    TrainingData data_;
};

}  // namespace headscope
