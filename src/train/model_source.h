// Where the viewer gets a model from: a model directory, or the checkpoints of a training, running or finished.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/training_log.h"
#include "infer/translator.h"
#include "model/model_directory.h"

namespace headscope {

class ModelSource {
public:
    using Kind = FolderKind;

    // `path`: a model directory, or the folder of a run of `headscope train`; without checkpoints that means the model
    // it wrote. Error for anything else.
    // Keeps no file open: the functions below read the current files, and throw an Error for missing ones.
    static ModelSource at(const std::string& path);

    Kind kind() const { return kind_; }
    const std::string& path() const { return path_; }

    // For a training.
    TrainingRun run() const;
    // Cheap; run() changes only if this does.
    struct RunStamp {
        std::vector<std::int64_t> checkpoints;
        std::uintmax_t log_size = 0;
        std::filesystem::file_time_type log_written{};
        bool operator==(const RunStamp&) const = default;
    };
    RunStamp run_stamp() const;

    struct Loaded {
        std::unique_ptr<const Translator> translator;
        std::optional<std::int64_t> step;  // of the checkpoint
    };
    // A training's checkpoint after `step`, by default the newest intact one. `storage`: see Translator.
    Loaded load(Backend& backend, std::optional<std::int64_t> step, DType storage) const;

private:
    ModelSource(Kind kind, std::string path) : kind_(kind), path_(std::move(path)) {}
    std::string in(const char* name) const;
    std::vector<std::int64_t> steps() const;
    Loaded load_checkpoint(Backend& backend, std::optional<std::int64_t> step, DType storage) const;

    Kind kind_;
    std::string path_;
};

}  // namespace headscope
