#include "train/references.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "data/batcher.h"
#include "import/open_model.h"
#include "infer/response_scores.h"
#include "model/model.h"
#include "model/model_directory.h"
#include "support/check.h"
#include "support/counted.h"
#include "train/step_options.h"

namespace headscope {

void require_same_texts(const ModelDirectory& model, const TrainConfig& config, const TrainingData& data,
                        const char* key) {
    const auto fail = [&](const std::string& problem) {
        throw Error(fmt::format("{}: the model of \"{}\" ('{}') {}", config.file, key, model.path, problem));
    };
    if (!traits(model.config.architecture).continues_text) {
        fail("is no causal language model");
    }
    if (model.config.target_vocabulary != data.target_tokenizer->size() ||
        model.target_tokenizer->files() != data.target_tokenizer->files()) {
        fail("has another vocabulary than the training: name the model that the training started from");
    }
    if (model.config.max_length < config.training.max_length) {
        fail(fmt::format("reads texts of {} tokens, fewer than \"training.max_length\" ({}): lower that",
                         model.config.max_length, config.training.max_length));
    }
}

void add_references(Backend& backend, const TrainConfig& config, const TrainingData& data, const Log& say) {
    constexpr std::size_t kAtOnce = 1024;  // examples in memory
    if (!traits(config.task).compares || !traits(config.task).has_reference) {
        return;
    }
    const ModelDirectory opened = open_model(config.data.reference);
    require_same_texts(opened, config, data, "data.reference");
    const Arithmetic arithmetic = arithmetic_of(config, backend);
    const std::shared_ptr<const Parameters> parameters = read_parameters(backend, opened, arithmetic.storage);
    const std::unique_ptr<Model> model = make_model(opened.config, *parameters);
    Context ctx{.backend = backend, .compute = arithmetic.compute};
    for (const std::shared_ptr<ResponseSource>& source : data.responses) {
        const ResponseStore& store = source->store();
        std::vector<float> references;
        references.reserve(store.texts());
        for (std::size_t first = 0; first < store.size(); first += kAtOnce) {
            std::vector<Example> examples;
            for (std::size_t i = first; i < std::min(first + kAtOnce, store.size()); ++i) {
                examples.push_back(store.example(i));
            }
            const BatchBudget budget = micro_budget(config.training);
            for (const Batch& batch : micro_batches(examples, data.frame, budget.padding(), budget)) {
                const std::vector<double> found = log_probabilities(ctx, *model, batch);
                references.insert(references.end(), found.begin(), found.end());
            }
        }
        source->set_references(std::move(references));
    }
    say(fmt::format("reference: {} gave {} their log-probabilities", config.data.reference,
                    counted(data.responses.front()->store().texts(), "response")));
}

}  // namespace headscope
