// Measures a learner's weights, and their mean, on held-out text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "data/batcher.h"
#include "data/corpus.h"
#include "infer/loaded_model.h"
#include "train/learner.h"
#include "train/training_data.h"

namespace headscope {

struct Validation {
    ValidationLoss loss = {};             // of the weights
    std::optional<double> mean_nll = {};  // of their mean, if there is one
    std::optional<double> bleu = {};      // of the better of both

    bool mean_is_better() const { return mean_nll && *mean_nll < loss.nll; }
    double best_nll() const { return mean_is_better() ? *mean_nll : loss.nll; }
};

class Validator {
public:
    // Takes the validation text of `data`, which must have some. Translates `data.valid_text`, if there is any, like
    // the model in `model_directory`, which the run will write.
    Validator(Learner& learner, const TrainingOptions& t, TrainingData& data, const std::string& model_directory);

    Validation measure() const;
    double nll() const { return learner_.validate(batcher_).nll; }  // of the weights
    // Of the weights' translations, greedy (paper 6.2) or by mask-predict: 0 to 100, cased, 13a tokens. Lines that
    // cannot be translated count as empty.
    double bleu() const;
    std::size_t bleu_pairs() const { return text_.source.size(); }          // 0: no BLEU
    std::uint64_t fingerprint() const { return examples_->fingerprint(); }  // of the text

private:
    Learner& learner_;
    std::shared_ptr<const ExampleSource> examples_;
    Batcher batcher_;
    ParallelText text_;
    std::optional<LoadedModel> translator_;  // only for BLEU
    DecodingOptions options_;
};

// The decoding options of a model that was trained on sentences of up to `max_length` pieces: longer lines are split.
nlohmann::json default_decoding(std::int64_t max_length, const Languages& languages);
// Writes decoding options as the model's decoding.json, unless it has one.
void write_decoding(const std::string& model_directory, const nlohmann::json& choices);
// The same of the default ones.
void write_decoding_choices(const std::string& model_directory, std::int64_t max_length, const Languages& languages);

}  // namespace headscope
