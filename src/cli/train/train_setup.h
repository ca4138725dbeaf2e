// From the options of `headscope train` to what a training needs: a configuration, a device and encoded data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "cli/train/train_run.h"
#include "train/run_config.h"
#include "train/run_folder.h"
#include "train/training_data.h"
#include "train/unlearnable_lines.h"

namespace headscope {

class TrainSetup {
public:
    // Reads the configuration from its file or from the run in `output`, and applies the options. Texts have no
    // configuration yet.
    TrainSetup(const TrainOptions& options, Log say);

    // Opens the device and checks that the configuration works there.
    void open();
    // For texts: splits them into `folder`, which is the options' `output` or replaces it, and chooses a
    // configuration by their size.
    void choose_config(const std::string& folder);
    // Encodes the text, with new tokenizers in `folder`, and replaces a batch of "auto" by what fits in memory. With
    // the folder of a `resumed` run, the tokenizers in `folder` and the recorded batch are used again.
    void prepare_data(const std::string& folder, const RunFolder* resumed = nullptr);

    // Whether no --data was given and none of the configuration's files is there. A batch of "auto" needs them.
    bool lacks_data() const;
    bool has_config() const { return given_.has_value(); }
    const RunConfig& given() const { return *given_; }  // to be kept in the run's folder
    const TrainConfig& config() const { return config_; }
    Backend& backend() const { return *backend_; }
    TrainingData& data() { return data_; }
    RunInputs inputs() const;  // the files that the training reads

private:
    void take(RunConfig config);
    void check_device() const;
    nlohmann::json config_for_pairs(const std::string& folder) const;
    nlohmann::json config_for_text(const std::string& folder) const;
    void warn_of(const UnlearnableLines& lines) const;
    std::int64_t find_batch() const;

    TrainOptions options_;
    Log say_;
    std::optional<RunConfig> given_;
    TrainConfig config_;  // `given_`, parsed
    std::unique_ptr<Backend> backend_;
    TrainingData data_;
};

}  // namespace headscope
