// Where a model that is to be looked at comes from: a model directory, or a training, running or over, with its
// checkpoints.
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

    // `path`: a model directory, or the folder of a run of `headscope train`, which without checkpoints is the model
    // that it wrote. Error says what was expected there.
    // Nothing is kept open: what follows reads what is there at that moment, and says what is missing.
    static ModelSource at(const std::string& path);

    Kind kind() const { return kind_; }
    const std::string& path() const { return path_; }

    // Of a training.
    TrainingRun run() const;
    // Costs next to nothing: while it stays the same, so does run().
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
    // A training's checkpoint after `step`, or without one the newest that is whole. `storage` as Translator's.
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
