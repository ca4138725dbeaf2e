#include "train/model_source.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "io/strict_json.h"
#include "model/tokenizer_files.h"
#include "support/check.h"
#include "train/averaging.h"
#include "train/checkpoint.h"
#include "train/experiment_reader.h"
#include "train/log_reader.h"
#include "train/train_config.h"
#include "train/training_state.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckpoints = "checkpoints";
constexpr const char* kTokenizers = "tokenizer";
constexpr const char* kLog = "log.jsonl";
constexpr const char* kIdentity = "experiment.json";

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

bool has_checkpoint(const fs::path& run) {
    const fs::path folder = run / kCheckpoints;
    return is_there(folder) && !CheckpointFolder(folder.string()).steps().empty();
}

// What a file that is not there has by default.
ModelSource::FileStamp stamp_of(const fs::path& file) {
    ModelSource::FileStamp stamp;
    std::error_code none;
    if (const std::uintmax_t size = fs::file_size(file, none); !none) {
        stamp.size = size;
    }
    if (const fs::file_time_type written = fs::last_write_time(file, none); !none) {
        stamp.written = written;
    }
    return stamp;
}

// From a checkpoint; the vocabulary sizes come from the tokenizers.
ModelConfig config_of(const Checkpoint& checkpoint, const ModelDirectory& tokenizers) {
    const nlohmann::json& state = checkpoint.state();
    const auto config = state.find("config");
    if (config == state.end() || !config->is_object() || !config->contains("model")) {
        throw Error(
            fmt::format("{} does not describe its model: it is not a checkpoint of a training", checkpoint.path()));
    }
    const TaskTraits* task = find_task(config->value("task", ""));  // runs that translate do not name it
    const TrainConfig run{.file = checkpoint.path(),
                          .task = (task != nullptr ? *task : tasks().front()).task,
                          .model = flat_model_keys((*config)["model"], checkpoint.path(), "model"),
                          .data = {},
                          .tokenizer = {},
                          .training = {}};
    return run.model_config(*tokenizers.source_tokenizer, *tokenizers.target_tokenizer);
}

// A 16-bit working copy is made from the master weights, which exist only with gradients.
std::shared_ptr<const Parameters> parameters_of(Backend& backend, const Checkpoint& checkpoint,
                                                const ModelConfig& config, const WeightStorage& storage) {
    const bool quantised = storage.dtype == DType::I8 || storage.block_bits > 0;
    const DType read = quantised ? DType::F32 : storage.dtype;
    auto parameters = std::make_shared<Parameters>(backend, config, read != DType::F32, read);
    if (checkpoint.parameters().dtype == backend.full_dtype()) {
        checkpoint.read(backend, {.parameters = parameters->flat_values()});
    } else {
        average_checkpoints(backend, {checkpoint}, parameters->flat_values());  // converts the single file
    }
    parameters->refresh_working();
    if (!quantised) {
        return parameters;
    }
    auto held = std::make_shared<Parameters>(backend, config, false, storage);
    for (const ParameterSpec& spec : held->table()) {
        held->store(spec.name, parameters->values_of(spec.name));
    }
    return held;
}

}  // namespace

ModelSource ModelSource::at(const std::string& path) {
    const FolderKind kind = folder_kind(path);
    if (kind == FolderKind::Training) {
        return {kind, path, path};
    }
    const std::string model = model_folder(path);
    if (folder_kind(model) == FolderKind::Model || format_of(model) != ModelFormat::None) {
        return {FolderKind::Model, model, model != path && is_there(fs::path(path) / kLog) ? path : ""};
    }
    if (has_experiment_table(path)) {
        return of_experiment(path);
    }
    throw Error(fmt::format(
        "'{}' {}: expected a model directory (with config.json), a training run (with {}/) or an experiment (with {})",
        path, is_there(path) ? "holds no model" : "does not exist", kCheckpoints,
        fs::path(experiment_table_file("")).string()));
}

ModelSource ModelSource::of_experiment(const std::string& folder) {
    for (const ExperimentRow& row : read_experiment_table(folder).rows) {
        for (const std::vector<int>& seeds : {row.seeds, row.unfinished}) {
            for (const int seed : seeds) {
                const std::string trial = (fs::path(folder) / trial_name(row.name, seed)).string();
                if (folder_kind(model_folder(trial)) == FolderKind::Model || has_checkpoint(trial)) {
                    return at(trial);
                }
            }
        }
    }
    throw Error(fmt::format("no trial in '{}' has a model or a checkpoint yet: open it again later", folder));
}

std::string ModelSource::in(const char* name) const {
    return (fs::path(run_) / name).string();
}

// Other programs may keep a table.json beside their trainings.
std::string ModelSource::experiment_folder() const {
    const fs::path run = fs::absolute(run_).lexically_normal();
    const std::string folder = (run.has_filename() ? run : run.parent_path()).parent_path().string();
    const std::string identity = (fs::path(folder) / kIdentity).string();
    if (!has_experiment_table(folder) || !is_there(identity)) {
        return "";
    }
    return read_json_file(identity).contains("experiment") && has_rows_to_show(folder) ? folder : "";
}

std::optional<ExperimentTable> ModelSource::experiment() const {
    const std::string folder = experiment_folder();
    return folder.empty() ? std::nullopt : std::optional(read_experiment_table(folder));
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
    HEADSCOPE_CHECK(has_run(), "a model directory has no training");
    RunStamp stamp;
    stamp.checkpoints = checkpoints();
    stamp.log = stamp_of(in(kLog));
    if (const std::string folder = experiment_folder(); !folder.empty()) {
        stamp.table = stamp_of(experiment_table_file(folder));
        stamp.trials = stamp_of(folder).written;
    }
    return stamp;
}

TrainingRun ModelSource::run() const {
    HEADSCOPE_CHECK(has_run(), "a model directory has no training");
    return {read_training_log(in(kLog)), checkpoints()};
}

// None of a finished training that keeps only its model.
std::vector<std::int64_t> ModelSource::checkpoints() const {
    const bool gone = !is_there(in(kCheckpoints)) && folder_kind(model_folder(run_)) == FolderKind::Model;
    return kind_ == Kind::Training && !gone ? steps() : std::vector<std::int64_t>();
}

ModelSource::Loaded ModelSource::load(Backend& backend, std::optional<std::int64_t> step,
                                      const WeightStorage& storage) const {
    if (kind_ == Kind::Training) {
        return load_checkpoint(backend, step, storage);
    }
    if (step) {
        throw Error(fmt::format("'{}' is a model and has no checkpoint after step {}: open the folder of its training",
                                path_, *step));
    }
    return {std::make_unique<const LoadedModel>(backend, path_, storage), std::nullopt};
}

ModelSource::Loaded ModelSource::load_checkpoint(Backend& backend, std::optional<std::int64_t> step,
                                                 const WeightStorage& storage) const {
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
    std::tie(model.source_tokenizer, model.target_tokenizer) = load_tokenizers(in(kTokenizers));
    model.config = config_of(found.front(), model);
    const std::int64_t after = parse_training_state(found.front().state(), found.front().path()).step;
    std::shared_ptr<const Parameters> parameters = parameters_of(backend, found.front(), model.config, storage);
    return {std::make_unique<const LoadedModel>(backend, std::move(model), std::move(parameters)), after};
}

}  // namespace headscope
