// Training on the score itself (Ranzato et al., 2016; Wu et al., 2016, section 5): a source of steps that samples
// translations of some sources, scores them and weighs each by how much better it is than the others of its source. A
// step is then an ordinary one, whose loss is the weighted sum of negative log-likelihoods: its gradient is an unbiased
// estimate of that of the expected score, negated.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/batcher.h"
#include "data/step_source.h"
#include "infer/loaded_model.h"
#include "train/learner.h"
#include "train/train_config.h"
#include "train/training_data.h"

namespace headscope {

class SampledTranslations final : public StepSource {
public:
    // From 0 to 100, of a translation and its reference.
    using Score = std::function<double(const std::string& translation, const std::string& reference)>;

    // `learner` is what the steps move; it outlives this. Without `score` it is that of the configuration.
    SampledTranslations(Learner& learner, const TrainConfig& config, const TrainingData& data, Score score = {});

    TrainingStep next() override;
    nlohmann::json state() const override;
    void set_state(const nlohmann::json& state) override;
    double epochs_done() const override { return pairs_->epochs_done(); }
    std::int64_t about_steps_per_epoch() const override { return pairs_->about_steps_per_epoch(); }
    std::map<std::string, double> measures() const override { return measures_; }

private:
    std::vector<LinePart> sample(const std::vector<Example>& pairs) const;
    void measure(const std::vector<LinePart>& samples, const std::vector<double>& scores);

    TrainConfig config_;
    Frame frame_;
    std::shared_ptr<const Tokenizer> target_tokenizer_;
    Compute compute_;
    std::unique_ptr<Batcher> pairs_;
    LoadedModel sampler_;  // on the learner's weights
    Score score_;

    std::int64_t steps_ = 0;  // sampled
    std::map<std::string, double> measures_;
};

}  // namespace headscope
