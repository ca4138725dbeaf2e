// Proximal policy optimisation (Schulman et al., 2017; Ouyang et al., 2022): a source of steps that samples responses,
// scores them and weighs each of their tokens. A step is then an ordinary one, whose loss is the weighted sum of
// negative log-likelihoods: its gradient is that of the clipped surrogate at the weights before the step.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/response_encoder.h"
#include "data/response_source.h"
#include "data/step_source.h"
#include "infer/loaded_model.h"
#include "train/learner.h"
#include "train/rollout_options.h"
#include "train/train_config.h"
#include "train/training_data.h"

namespace headscope {

// A model that only computes: the reference, or the reward model.
struct FrozenModel {
    ModelConfig config = {};
    std::shared_ptr<const Parameters> parameters = {};
    std::unique_ptr<const Model> model = {};
};
// Error that names the key of the configuration if the model does not fit the training.
FrozenModel read_frozen_model(Backend& backend, const TrainConfig& config, const TrainingData& data, const char* key,
                              const std::string& directory);

// A response to judge: its prompt's number and the whole text with labels on the response.
struct Response {
    std::size_t prompt = 0;
    Example example = {};
    std::string text = {};
    bool cut = false;  // it did not end
    double score = 0.0;
    std::vector<double> old_nll = {}, reference_nll = {};  // of each token of the response
    std::vector<double> values = {}, advantages = {}, returns = {};

    std::size_t tokens() const { return old_nll.size(); }
};

// The options of the learner of values: those of the policy without a mean of the weights.
LearnerOptions value_options(const TrainingOptions& training, const Arithmetic& arithmetic);

// The steps of rollouts that take each of `prompts` prompts once.
std::int64_t steps_per_epoch(const RolloutOptions& options, std::int64_t prompts);

std::vector<Example> examples_of(const std::vector<Response>& responses);

class Rollouts final : public StepSource {
public:
    // Scores of responses, in order; tests judge by a rule.
    using Judge = std::function<std::vector<double>(const std::vector<Response>&)>;

    // `policy` is what the steps move; it outlives this. Without `judge` the reward model of the configuration judges.
    Rollouts(Learner& policy, const TrainConfig& config, const TrainingData& data, Judge judge = {});

    TrainingStep next() override;
    nlohmann::json state() const override;
    void set_state(const nlohmann::json& state) override;
    double epochs_done() const override;
    void use_rate(double rate) override { rate_ = rate; }
    std::int64_t about_steps_per_epoch() const override;
    bool between() const override { return waiting_.empty(); }
    std::map<std::string, Tensor> tensors() override;
    void tensors_read() override;
    std::map<std::string, double> measures() const override { return measures_; }

private:
    void begin();
    std::vector<std::size_t> prompts_of_rollout() const;
    std::vector<Response> sample() const;
    void judge(std::vector<Response>& responses);
    void weigh(std::vector<Response>& responses);
    void measure();
    void queue();
    void start_values();
    void shift_values(double by);
    void weigh_policy(const std::vector<std::size_t>& minibatch, bool first, TrainingStep& step);
    void learn_values(const std::vector<std::size_t>& minibatch);
    Context context() const;

    Learner& policy_;
    TrainConfig config_;
    std::shared_ptr<const ResponseSource> prompts_;
    Frame frame_;
    BatchBudget budget_;
    ResponseEncoder encoder_;
    LoadedModel sampler_;  // on the policy's weights
    FrozenModel reference_, reward_;
    Judge judge_;
    std::unique_ptr<Learner> values_;  // starts as the reward model; null without a model of values

    std::int64_t rollout_ = 0;                          // rollouts made
    std::int64_t value_steps_ = 0, value_updates_ = 0;  // steps that were not skipped
    double rate_ = 0.0;
    double kl_weight_ = 0.0;
    double shift_ = 0.0;  // the mean score before the first step, which becomes 0
    std::vector<Response> responses_;
    std::deque<std::vector<std::size_t>> waiting_;  // minibatches of them
    bool first_ = false;                            // no step was taken on them
    std::map<std::string, double> measures_;
    double clipped_ = 0.0, weighed_ = 0.0;  // tokens, since the rollout began
};

}  // namespace headscope
