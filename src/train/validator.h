// Measures a learner's weights, and their mean, on held-out text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/batcher.h"
#include "train/learner.h"
#include "train/training_data.h"
#include "train/validation_bleu.h"

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
    // Takes the validation text of `data`, which must not be empty. BLEU is that of translations as `model_directory`,
    // which the run will write, makes them.
    Validator(Learner& learner, const TrainingOptions& t, TrainingData& data, const std::string& model_directory);

    Validation measure() const;
    double nll() const { return learner_.validate(batcher_).nll; }  // of the weights
    const std::optional<ValidationBleu>& bleu() const { return bleu_; }
    std::uint64_t fingerprint() const { return pairs_->fingerprint(); }  // of the text

private:
    Learner& learner_;
    std::shared_ptr<const ExampleSource> pairs_;
    Batcher batcher_;
    std::optional<ValidationBleu> bleu_;
};

// How the model that a run writes to `directory` will decode. An existing decoding.json is kept; without one, lines
// longer than any that the model was trained with are split.
DecodingChoices run_decoding_choices(const std::string& directory, std::int64_t max_length);
void write_decoding_choices(const std::string& directory, std::int64_t max_length);

}  // namespace headscope
