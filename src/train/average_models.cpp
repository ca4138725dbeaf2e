#include "train/average_models.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "infer/ensemble.h"
#include "model/tokenizer_files.h"
#include "support/check.h"
#include "train/averaging.h"
#include "train/checkpoint.h"
#include "train/config_changes.h"
#include "train/run_config.h"
#include "train/validator.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

bool is_checkpoint(const std::string& path) {
    return path.ends_with(".safetensors") && !fs::is_directory(path);
}

// The folder of the training that wrote the checkpoint: RUN/checkpoints/step-N.safetensors, RUN/best.safetensors.
fs::path run_of(const std::string& checkpoint) {
    const fs::path folder = fs::absolute(checkpoint).lexically_normal().parent_path();
    return folder.filename() == "checkpoints" ? folder.parent_path() : folder;
}

// What the run would write as its model, without weights; for messages it has the path of the checkpoint.
ModelDirectory model_of_run(const fs::path& run, const Checkpoint& checkpoint) {
    const std::string file = RunConfig::file_in(run.string());
    if (!fs::exists(file)) {
        throw Error(fmt::format("{} has no {}: a checkpoint is averaged in the folder of its training",
                                checkpoint.path(), file));
    }
    const TrainConfig config = RunConfig::of_run(run.string()).parsed();
    if (checkpoint.state().contains("config")) {
        const ConfigChanges changes =
            compare_configs(checkpoint.state()["config"], config.identity(), {}, Purpose::Finish);
        if (!changes.refused.empty()) {
            throw Error(fmt::format("{} belongs to another configuration than {}: {}", checkpoint.path(), file,
                                    changes.refused));
        }
    }
    ModelDirectory model{.path = checkpoint.path()};
    std::tie(model.source_tokenizer, model.target_tokenizer) = load_tokenizers(run / "tokenizer");
    model.config = config.model_config(*model.source_tokenizer, *model.target_tokenizer);
    if (traits(config.task).reads_pairs) {
        model.decoding =
            std::make_shared<const nlohmann::json>(default_decoding(config.training.max_length, config.data.languages));
    }
    return model;
}

void require_same_shape(const ModelDirectory& one, const ModelDirectory& other) {
    const nlohmann::json first = flat_model_keys(one.config);
    const nlohmann::json second = flat_model_keys(other.config);
    for (const auto& [key, value] : second.items()) {
        if (first.at(key) != value) {
            throw Error(fmt::format("'{}' has \"{}\" {}, but '{}' has {}: only models of one shape have a mean",
                                    other.path, key, value.dump(), one.path, first.at(key).dump()));
        }
    }
    check_can_be_averaged(one, other);
}

void require_once(const std::vector<std::string>& paths) {
    for (auto one = paths.begin(); one != paths.end(); ++one) {
        const auto same = std::find_if(paths.begin(), one, [&](const std::string& earlier) {
            std::error_code ignored;  // of a missing file, which its reader reports
            return fs::equivalent(model_folder(earlier), model_folder(*one), ignored);
        });
        if (same != one) {
            throw Error(fmt::format("'{}' and '{}' are the same: give each once", *same, *one));
        }
    }
}

class Averaging {
public:
    explicit Averaging(Backend& backend) : backend_(backend) {}

    void add(const std::string& path) {
        if (is_checkpoint(path)) {
            const Checkpoint checkpoint = Checkpoint::open(path);
            accept(model_of_run(run_of(path), checkpoint));
            sums_->add(checkpoint);
        } else {
            const ModelDirectory model = open_model(model_folder(path));
            accept(model);
            sums_->add(to_host<float>(backend_, read_parameters(backend_, model, DType::F32)->flat_values()));
        }
    }

    std::int64_t write(const std::string& output) const {
        const Parameters mean(backend_, first_->config, false);
        sums_->store(backend_, mean.flat_values());
        write_model_directory(backend_, output, first_->config, mean, DType::F32, *first_->source_tokenizer,
                              *first_->target_tokenizer, first_->decoding.get());
        return mean.count();
    }

private:
    void accept(const ModelDirectory& model) {
        if (first_) {
            require_same_shape(*first_, model);
            return;
        }
        first_ = model;
        sums_.emplace(Parameters(backend_, model.config, false).total());
    }

    Backend& backend_;
    std::optional<ModelDirectory> first_;
    std::optional<AverageWeights> sums_;
};

}  // namespace

std::int64_t average_models(Backend& backend, const std::vector<std::string>& paths, const std::string& output) {
    require_once(paths);
    Averaging average(backend);
    for (const std::string& path : paths) {
        average.add(path);
    }
    return average.write(output);
}

}  // namespace headscope
