#include "train/model_source.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "model/tokenizer_files.h"
#include "support/check.h"
#include "train/averaging.h"
#include "train/checkpoint.h"
#include "train/log_reader.h"
#include "train/train_config.h"
#include "train/training_state.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckpoints = "checkpoints";
constexpr const char* kTokenizers = "tokenizer";
constexpr const char* kLog = "log.jsonl";

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

// The tokenizers of a run, written by prepare_training_data().
void open_tokenizers(const fs::path& folder, ModelDirectory& model) {
    const TokenizersPaths paths = tokenizers_in(folder);
    model.source_tokenizer = paths.source.open();
    model.target_tokenizer = paths.shared() ? model.source_tokenizer : paths.target.open();
}

// From a checkpoint; the vocabulary sizes come from the tokenizers.
ModelConfig config_of(const Checkpoint& checkpoint, const ModelDirectory& tokenizers) {
    const nlohmann::json& state = checkpoint.state();
    const auto config = state.find("config");
    if (config == state.end() || !config->is_object() || !config->contains("model")) {
        throw Error(
            fmt::format("{} does not describe its model: it is not a checkpoint of a training", checkpoint.path()));
    }
    const bool masked = config->value("task", "") == name_of(Task::Masked);  // only then does the model have a mask
    const TrainConfig run{.file = checkpoint.path(),
                          .task = masked ? Task::Masked : Task::Translate,
                          .model = (*config)["model"],
                          .data = {},
                          .tokenizer = {},
                          .training = {}};
    return run.model_config(*tokenizers.source_tokenizer, *tokenizers.target_tokenizer);
}

// A 16-bit working copy is made from the master weights, which exist only with gradients.
std::shared_ptr<const Parameters> parameters_of(Backend& backend, const Checkpoint& checkpoint,
                                                const ModelConfig& config, DType storage) {
    auto parameters = std::make_shared<Parameters>(backend, config, storage != DType::F32, storage);
    if (checkpoint.parameters().dtype == backend.real()) {
        checkpoint.read(backend, {.parameters = parameters->flat_values()});
    } else {
        average_checkpoints(backend, {checkpoint}, parameters->flat_values());  // converts the single file
    }
    parameters->refresh_working();
    return parameters;
}

}  // namespace

ModelSource ModelSource::at(const std::string& path) {
    const FolderKind kind = folder_kind(path);
    if (kind == FolderKind::Training) {
        return {kind, path};
    }
    const std::string model = model_folder(path);
    if (folder_kind(model) == FolderKind::Model || format_of(model) != ModelFormat::None) {
        return {FolderKind::Model, model};
    }
    throw Error(fmt::format("'{}' {}: expected a model directory (with config.json) or a training run (with {}/)", path,
                            is_there(path) ? "holds no model" : "does not exist", kCheckpoints));
}

std::string ModelSource::in(const char* name) const {
    return (fs::path(path_) / name).string();
}

std::vector<std::int64_t> ModelSource::steps() const {
    if (!is_there(in(kCheckpoints))) {  // CheckpointFolder would create it
        throw Error(fmt::format("'{}' is gone: the training was moved or removed", in(kCheckpoints)));
    }
    try {
        return CheckpointFolder(in(kCheckpoints)).steps();
    } catch (const fs::filesystem_error& problem) {  // such as a concurrent removal
        throw Error(fmt::format("cannot list '{}': {}", in(kCheckpoints), problem.code().message()));
    }
}

ModelSource::RunStamp ModelSource::run_stamp() const {
    HEADSCOPE_CHECK(kind_ == Kind::Training, "a model directory has no training");
    RunStamp stamp{.checkpoints = steps()};
    std::error_code none;  // without a log both keep their defaults
    if (const std::uintmax_t size = fs::file_size(in(kLog), none); !none) {
        stamp.log_size = size;
    }
    if (const fs::file_time_type written = fs::last_write_time(in(kLog), none); !none) {
        stamp.log_written = written;
    }
    return stamp;
}

TrainingRun ModelSource::run() const {
    HEADSCOPE_CHECK(kind_ == Kind::Training, "a model directory has no training");
    return {read_training_log(in(kLog)), steps()};
}

ModelSource::Loaded ModelSource::load(Backend& backend, std::optional<std::int64_t> step, DType storage) const {
    if (kind_ == Kind::Training) {
        return load_checkpoint(backend, step, storage);
    }
    if (step) {
        throw Error(fmt::format("'{}' is a model and has no checkpoint after step {}: open the folder of its training",
                                path_, *step));
    }
    return {std::make_unique<const Translator>(backend, path_, storage), std::nullopt};
}

ModelSource::Loaded ModelSource::load_checkpoint(Backend& backend, std::optional<std::int64_t> step,
                                                 DType storage) const {
    const std::vector<std::int64_t> known = steps();
    const CheckpointFolder folder(in(kCheckpoints));
    std::vector<Checkpoint> found;
    if (step) {
        if (std::find(known.begin(), known.end(), *step) == known.end()) {
            throw Error(fmt::format("'{}' has no checkpoint after step {}; there are {}", path_, *step,
                                    known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
        }
        found.push_back(Checkpoint::open(folder.file_of(*step)));
    } else {
        std::string why;
        found = folder.newest_whole(1, std::numeric_limits<std::int64_t>::max(),
                                    [&](const std::string& skipped) { why += ": " + skipped; });
        if (found.empty()) {
            throw Error(fmt::format("'{}' holds no intact checkpoint yet{}", path_, why));
        }
    }
    ModelDirectory model;
    model.path = found.front().path();
    open_tokenizers(in(kTokenizers), model);
    model.config = config_of(found.front(), model);
    const std::int64_t after = parse_training_state(found.front().state(), found.front().path()).step;
    std::shared_ptr<const Parameters> parameters = parameters_of(backend, found.front(), model.config, storage);
    return {std::make_unique<const Translator>(backend, std::move(model), std::move(parameters)), after};
}

}  // namespace headscope
