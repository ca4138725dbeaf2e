#include "train/model_in_training.h"

#include <memory>

namespace headscope {

LoadedModel model_in_training(const Learner& learner, const TrainingData& data) {
    return {learner.backend(),
            ModelDirectory{.path = {},
                           .config = learner.model_config(),
                           .source_tokenizer = data.source_tokenizer,
                           .target_tokenizer = data.target_tokenizer},
            std::shared_ptr<const Parameters>(std::shared_ptr<void>(), &learner.parameters())};  // not owned
}

}  // namespace headscope
