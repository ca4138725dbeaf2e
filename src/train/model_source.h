// Where the viewer gets a model from: a model directory, or the checkpoints of a training, running or finished, which
// may be a trial of an experiment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/experiment_table.h"
#include "eval/training_log.h"
#include "infer/loaded_model.h"
#include "model/model_directory.h"

namespace headscope {

class ModelSource {
public:
    using Kind = FolderKind;

    // `path`: a model directory, or the folder of a run of `headscope train`; without checkpoints that means the model
    // it wrote. The folder of an experiment means its first trial with a model. Error for anything else.
    // Keeps no file open: the functions below read the current files, and throw an Error for missing ones.
    static ModelSource at(const std::string& path);

    Kind kind() const { return kind_; }
    const std::string& path() const { return path_; }
    // The folder of the training, or else the model directory.
    const std::string& folder() const { return run_.empty() ? path_ : run_; }

    // Whether there is a training; without checkpoints its log still has the losses.
    bool has_run() const { return !run_.empty(); }
    // For a training.
    TrainingRun run() const;
    // The experiment that the training is a trial of, if any. Error for a damaged table.
    std::optional<ExperimentTable> experiment() const;
    // Cheap; run() and experiment() change only if this does.
    struct FileStamp {
        std::uintmax_t size = 0;
        std::filesystem::file_time_type written{};
        bool operator==(const FileStamp&) const = default;
    };
    struct RunStamp {
        std::vector<std::int64_t> checkpoints;
        FileStamp log, table;
        std::filesystem::file_time_type trials{};  // when one was started
        bool operator==(const RunStamp&) const = default;
    };
    RunStamp run_stamp() const;

    struct Loaded {
        std::unique_ptr<const LoadedModel> translator;
        std::optional<std::int64_t> step;  // of the checkpoint
    };
    // A training's checkpoint after `step`, by default the newest intact one. `storage`: see LoadedModel.
    Loaded load(Backend& backend, std::optional<std::int64_t> step, const WeightStorage& storage) const;

private:
    ModelSource(Kind kind, std::string path, std::string run)
        : kind_(kind), path_(std::move(path)), run_(std::move(run)) {}
    static ModelSource of_experiment(const std::string& folder);
    std::string in(const char* name) const;
    std::string experiment_folder() const;
    std::vector<std::int64_t> checkpoints() const;
    std::vector<std::int64_t> steps() const;
    Loaded load_checkpoint(Backend& backend, std::optional<std::int64_t> step, const WeightStorage& storage) const;

    Kind kind_;
    std::string path_;
    std::string run_;  // the folder of the training; empty: there is none
};

}  // namespace headscope
