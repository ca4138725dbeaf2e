#include "train/rollouts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "infer/response_scores.h"
#include "support/check.h"
#include "train/advantages.h"
#include "train/first_model.h"
#include "train/model_in_training.h"
#include "train/objective.h"
#include "train/references.h"
#include "train/step_options.h"

namespace headscope {
namespace {

constexpr double kSameRatio = 1e-4;  // of probabilities before the first step, which are the old ones

// A weight for each label.
void set_weight(Example& example, std::size_t label, double weight) {
    if (example.weights.empty()) {
        example.weights.assign(example.labels.size(), 0.0F);
    }
    const auto at = std::ranges::find_if_not(example.labels, [](std::int32_t id) { return id == kNoTarget; });
    example.weights[static_cast<std::size_t>(at - example.labels.begin()) + label] = static_cast<float>(weight);
}

}  // namespace

std::vector<Example> examples_of(const std::vector<Response>& responses) {
    std::vector<Example> examples;
    examples.reserve(responses.size());
    for (const Response& response : responses) {
        examples.push_back(response.example);
    }
    return examples;
}

FrozenModel read_frozen_model(Backend& backend, const TrainConfig& config, const TrainingData& data, const char* key,
                              const std::string& directory) {
    const ModelDirectory opened = open_model(directory);
    require_same_texts(opened, config, data, key);
    FrozenModel frozen{.config = opened.config,
                       .parameters = read_parameters(backend, opened, arithmetic_of(config, backend).storage)};
    frozen.model = make_model(opened.config, *frozen.parameters);
    return frozen;
}

LearnerOptions value_options(const TrainingOptions& training, const Arithmetic& arithmetic) {
    LearnerOptions options = learner_options(training, arithmetic);
    options.objective = weighted_scores_objective();
    options.ema_decay = 0.0;
    options.watch_gradients = false;
    options.history = 1;
    options.shards = 1;
    return options;
}

std::int64_t steps_per_epoch(const RolloutOptions& options, std::int64_t prompts) {
    return (prompts + options.prompts - 1) / options.prompts * options.epochs * options.minibatches;
}

Rollouts::Rollouts(Learner& policy, const TrainConfig& config, const TrainingData& data, Judge judge)
    : policy_(policy),
      config_(config),
      prompts_(data.responses.front()),
      frame_(data.frame),
      budget_(micro_budget(config.training)),
      encoder_(data.target_tokenizer, data.frame, config.data.chat),
      sampler_(model_in_training(policy, data)),
      reference_(read_frozen_model(policy.backend(), config, data, "data.reference", config.data.reference)),
      judge_(std::move(judge)),
      kl_weight_(config.rollouts.kl) {
    const bool has_values = config.rollouts.advantage == AdvantageForm::Generalised;
    if (!judge_ || has_values) {
        reward_ = read_frozen_model(policy.backend(), config, data, "data.reward", config.data.reward);
        if (reward_.config.output.head != OutputHead::Scalar) {
            throw Error(
                fmt::format("{}: the model of \"data.reward\" ('{}') gives no scores: name one that was "
                            "trained with --task reward",
                            config.file, config.data.reward));
        }
    }
    if (!judge_) {
        judge_ = [this](const std::vector<Response>& responses) {
            Context ctx = context();
            std::vector<double> scores;
            for (const std::vector<double>& found :
                 score_responses(ctx, *reward_.model, examples_of(responses), frame_, budget_.target_tokens)) {
                scores.push_back(found.front());
            }
            return scores;
        };
    }
    if (has_values) {
        values_ = std::make_unique<Learner>(policy.backend(), reward_.config,
                                            value_options(config.training, policy.options().arithmetic));
        start_values();
    }
}

void Rollouts::start_values() {
    load_first_model(*values_, config_, config_.data.reward);
    values_->begin_optimizer();
}

// A value is to be near a score less the shift from the beginning.
void Rollouts::shift_values(double by) {
    const Parameters& parameters = values_->parameters();
    std::vector<float> bias = parameters.values_of("output.scalar.bias");
    bias.front() -= static_cast<float>(by);
    parameters.store("output.scalar.bias", bias);
    parameters.refresh_working();
}

Context Rollouts::context() const {
    return {.backend = policy_.backend(), .compute = policy_.options().arithmetic.compute};
}

TrainingStep Rollouts::next() {
    if (waiting_.empty()) {
        begin();
    }
    const std::vector<std::size_t> minibatch = std::move(waiting_.front());
    waiting_.pop_front();
    TrainingStep step;
    weigh_policy(minibatch, std::exchange(first_, false), step);
    if (values_) {
        learn_values(minibatch);
    }
    if (config_.rollouts.most_kl > 0.0 && measures_["moved"] > config_.rollouts.most_kl) {
        waiting_.clear();  // this step is the last one of the rollout
    }
    return step;
}

// The examples of a step, whose tokens have the derivatives of their losses as weights.
void Rollouts::weigh_policy(const std::vector<std::size_t>& minibatch, bool first, TrainingStep& step) {
    const RolloutOptions& options = config_.rollouts;
    for (const std::size_t i : minibatch) {
        step.examples.push_back(responses_[i].example);
    }
    Context ctx = context();
    const std::vector<std::vector<double>> now = label_losses(ctx, policy_.model(), step.examples, frame_, budget_);
    double tokens = 0.0;
    double moved = 0.0;
    for (std::size_t i = 0; i < minibatch.size(); ++i) {
        const Response& response = responses_[minibatch[i]];
        for (std::size_t t = 0; t < response.tokens(); ++t) {
            const double change = response.old_nll[t] - now[i][t];
            if (first && std::abs(std::expm1(change)) > kSameRatio) {
                throw Error(
                    fmt::format("before the first step on the response \"{}\" its token {} has {:.6f} times "
                                "the probability that was computed after sampling: the device is not reliable",
                                response.text, t + 1, std::exp(change)));
            }
            moved += std::expm1(change) - change;
            const ClippedLoss loss = policy_loss(now[i][t], response.old_nll[t], response.advantages[t], options.clip);
            set_weight(step.examples[i], t, loss.gradient);
            clipped_ += loss.clipped ? 1.0 : 0.0;
            tokens += 1.0;
        }
    }
    weighed_ += tokens;
    measures_["clipped"] = clipped_ / weighed_;
    measures_["moved"] = moved / tokens;
    step.divisor = tokens;
}

void Rollouts::learn_values(const std::vector<std::size_t>& minibatch) {
    std::vector<Example> examples;
    for (const std::size_t i : minibatch) {
        examples.push_back(responses_[i].example);
    }
    Context ctx = context();
    const std::vector<std::vector<double>> now = label_scores(ctx, values_->model(), examples, frame_, budget_);
    double tokens = 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < minibatch.size(); ++i) {
        const Response& response = responses_[minibatch[i]];
        for (std::size_t t = 0; t < response.tokens(); ++t) {
            const ClippedLoss loss =
                value_loss(now[i][t], response.values[t], response.returns[t], config_.rollouts.value_clip);
            set_weight(examples[i], t, loss.gradient);
            sum += loss.loss;
            tokens += 1.0;
        }
    }
    measures_["value_loss"] = sum / tokens;
    ++value_steps_;
    values_->step(
        micro_batches(examples, frame_, step_budget(config_.training).padding(), part_budget(config_.training)),
        value_steps_, rate_, tokens);
    value_updates_ = values_->take_history().back().updates;
}

nlohmann::json Rollouts::state() const {
    return {{"rollout", rollout_},
            {"value_steps", value_steps_},
            {"value_updates", value_updates_},
            {"kl_weight", kl_weight_},
            {"shift", shift_}};
}

void Rollouts::set_state(const nlohmann::json& state) {
    try {
        rollout_ = state.at("rollout").get<std::int64_t>();
        value_steps_ = state.at("value_steps").get<std::int64_t>();
        value_updates_ = state.at("value_updates").get<std::int64_t>();
        kl_weight_ = state.at("kl_weight").get<double>();
        shift_ = state.at("shift").get<double>();
    } catch (const nlohmann::json::exception& error) {
        throw Error(fmt::format("the position in the rollouts is incomplete: {}", error.what()));
    }
    waiting_.clear();
    responses_.clear();
    if (values_ && rollout_ == 0) {
        start_values();
    }
}

double Rollouts::epochs_done() const {
    const RolloutOptions& options = config_.rollouts;
    const double steps =
        static_cast<double>(rollout_ * options.epochs * options.minibatches) - static_cast<double>(waiting_.size());
    return steps / static_cast<double>(about_steps_per_epoch());
}

std::int64_t Rollouts::about_steps_per_epoch() const {
    return steps_per_epoch(config_.rollouts, static_cast<std::int64_t>(prompts_->store().size()));
}

std::map<std::string, Tensor> Rollouts::tensors() {
    if (!values_) {
        return {};
    }
    return {{"value.parameters", values_->parameters().flat_values()},
            {"value.adam.m", values_->optimizer().first_moment()},
            {"value.adam.v", values_->optimizer().second_moment()}};
}

void Rollouts::tensors_read() {
    if (values_) {
        values_->parameters().refresh_working();
        values_->set_updates(value_updates_);
    }
}

}  // namespace headscope
