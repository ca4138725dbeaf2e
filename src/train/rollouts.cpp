#include "train/rollouts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "infer/response_scores.h"
#include "support/check.h"
#include "support/random.h"
#include "train/advantages.h"
#include "train/first_model.h"
#include "train/objective.h"
#include "train/references.h"
#include "train/step_options.h"

namespace headscope {
namespace {

constexpr double kSameRatio = 1e-4;  // of probabilities before the first step, which are the old ones

double mean_of(const std::vector<Response>& responses, const std::function<double(const Response&)>& number) {
    double sum = 0.0;
    for (const Response& response : responses) {
        sum += number(response);
    }
    return sum / static_cast<double>(responses.size());
}

// In nats: the sum of log P - log P of the reference over a response.
double divergence_of(const Response& response) {
    double sum = 0.0;
    for (std::size_t t = 0; t < response.tokens(); ++t) {
        sum += response.reference_nll[t] - response.old_nll[t];
    }
    return sum;
}

// The same by another estimate (Schulman's k3), which is never negative: that of P from samples of P, with less
// variance.
double divergence_k3(const Response& response) {
    double sum = 0.0;
    for (std::size_t t = 0; t < response.tokens(); ++t) {
        const double change = response.old_nll[t] - response.reference_nll[t];
        sum += std::expm1(change) - change;
    }
    return sum;
}

std::vector<Example> examples_of(const std::vector<Response>& responses) {
    std::vector<Example> examples;
    examples.reserve(responses.size());
    for (const Response& response : responses) {
        examples.push_back(response.example);
    }
    return examples;
}

// A weight for each label.
void set_weight(Example& example, std::size_t label, double weight) {
    if (example.weights.empty()) {
        example.weights.assign(example.labels.size(), 0.0F);
    }
    const auto at = std::ranges::find_if_not(example.labels, [](std::int32_t id) { return id == kNoTarget; });
    example.weights[static_cast<std::size_t>(at - example.labels.begin()) + label] = static_cast<float>(weight);
}

ModelDirectory directory_of(const Learner& policy, const TrainingData& data) {
    return {.path = {},
            .config = policy.model_config(),
            .source_tokenizer = data.source_tokenizer,
            .target_tokenizer = data.target_tokenizer};
}

}  // namespace

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
    return options;
}

std::int64_t steps_per_epoch(const RolloutOptions& options, std::int64_t prompts) {
    return (prompts + options.prompts - 1) / options.prompts * options.epochs * options.minibatches;
}

Rollouts::Rollouts(Learner& policy, const TrainConfig& config, const TrainingData& data, Log say, Judge judge)
    : policy_(policy),
      config_(config),
      prompts_(data.responses.front()),
      frame_(data.frame),
      budget_(micro_budget(config.training)),
      say_(std::move(say)),
      encoder_(data.target_tokenizer, data.frame, config.data.chat),
      sampler_(policy.backend(), directory_of(policy, data),
               std::shared_ptr<const Parameters>(std::shared_ptr<void>(), &policy.parameters())),  // not owned
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

// The prompts go round, each epoch in an order of its own.
std::vector<std::size_t> Rollouts::prompts_of_rollout() const {
    const std::size_t all = prompts_->store().size();
    std::vector<std::size_t> chosen;
    std::vector<std::size_t> order;
    for (std::int64_t i = 0; i < config_.rollouts.prompts; ++i) {
        const auto number = static_cast<std::uint64_t>(rollout_ * config_.rollouts.prompts + i);
        if (order.empty() || number % all == 0) {
            order.resize(all);
            std::iota(order.begin(), order.end(), std::size_t{0});
            Random(static_cast<std::uint64_t>(config_.training.seed), number / all).shuffle(order);
        }
        chosen.push_back(order[number % all]);
    }
    return chosen;
}

// At temperature 1 from all pieces, so that the probabilities of training are those of sampling.
std::vector<Response> Rollouts::sample() const {
    const RolloutOptions& options = config_.rollouts;
    DecodingOptions decoding = default_decoding_options(Architecture::CausalLm);
    decoding.compute = policy_.options().arithmetic.compute;
    decoding.batch_tokens = budget_.target_tokens;
    decoding.search.beam = 1;
    decoding.search.sample = true;
    decoding.search.min_length = 0;
    decoding.search.max_extra = options.max_tokens;
    decoding.search.ends = encoder_.ends();
    decoding.search.seed =
        mix_bits(mix_bits(static_cast<std::uint64_t>(config_.training.seed)) + static_cast<std::uint64_t>(rollout_));
    std::vector<SourceLine> lines;
    std::vector<Response> responses;
    for (const std::size_t prompt : prompts_of_rollout()) {
        const Example example = prompts_->store().example(prompt);
        for (std::int64_t i = 0; i < options.samples; ++i) {
            lines.push_back({.text = {}, .number = static_cast<std::uint32_t>(lines.size()), .ids = example.target});
            responses.push_back({.prompt = prompt});
        }
    }
    const std::vector<TextResult> found = sampler_.translate(lines, decoding);
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i].problem.empty()) {
            throw Error(fmt::format("prompt {}: {}", responses[i].prompt + 1, found[i].problem));
        }
        responses[i].example = response_example(lines[i].ids, found[i].target_ids);
        responses[i].text = found[i].text;
        responses[i].cut = found[i].end == EndReason::Limit;
    }
    return responses;
}

void Rollouts::judge(std::vector<Response>& responses) {
    const std::vector<double> scores = judge_(responses);
    for (std::size_t i = 0; i < responses.size(); ++i) {
        if (!std::isfinite(scores[i])) {
            throw Error(fmt::format("the reward of \"{}\", a response to prompt {}, is {}: the reward model is broken",
                                    responses[i].text, responses[i].prompt + 1, scores[i]));
        }
        responses[i].score = scores[i];
    }
    if (rollout_ == 0) {
        shift_ = mean_of(responses, [](const Response& one) { return one.score; });
        if (values_) {
            shift_values(shift_);
        }
    }
    for (Response& response : responses) {
        response.score -= shift_ + (response.cut ? config_.rollouts.missing_end_penalty : 0.0);
    }
}

// Advantages of all tokens, whitened.
void Rollouts::weigh(std::vector<Response>& responses) {
    const RolloutOptions& options = config_.rollouts;
    std::vector<std::vector<double>> advantages;
    if (options.advantage == AdvantageForm::LeaveOneOut) {
        std::vector<double> rewards;
        for (const Response& response : responses) {
            rewards.push_back(response.score - kl_weight_ * divergence_of(response));
        }
        const std::vector<double> found = leave_one_out(rewards, static_cast<std::size_t>(options.samples));
        for (std::size_t i = 0; i < responses.size(); ++i) {
            advantages.emplace_back(responses[i].tokens(), found[i]);
        }
    } else {
        for (Response& response : responses) {
            std::vector<double> rewards;
            for (std::size_t t = 0; t < response.tokens(); ++t) {
                rewards.push_back(-kl_weight_ * (response.reference_nll[t] - response.old_nll[t]));
            }
            rewards.back() += response.score;
            TokenAdvantages found = generalised_advantages(rewards, response.values, options.gamma, options.lambda);
            response.returns = std::move(found.returns);
            advantages.push_back(std::move(found.advantages));
        }
    }
    whiten(advantages);
    for (std::size_t i = 0; i < responses.size(); ++i) {
        responses[i].advantages = std::move(advantages[i]);
    }
}

void Rollouts::begin() {
    std::vector<Response> responses = sample();
    judge(responses);
    const std::vector<Example> examples = examples_of(responses);
    Context ctx = context();
    const auto take = [&](const Model& model, bool scores, std::vector<double> Response::*numbers) {
        std::vector<std::vector<double>> found = scores ? label_scores(ctx, model, examples, frame_, budget_)
                                                        : label_losses(ctx, model, examples, frame_, budget_);
        for (std::size_t i = 0; i < responses.size(); ++i) {
            responses[i].*numbers = std::move(found[i]);
        }
    };
    take(policy_.model(), false, &Response::old_nll);
    take(*reference_.model, false, &Response::reference_nll);
    if (values_) {
        take(values_->model(), true, &Response::values);
    }
    weigh(responses);
    responses_ = std::move(responses);
    ++rollout_;
    measure();
    queue();
}

void Rollouts::measure() {
    std::set<std::string> texts;
    for (const Response& response : responses_) {
        texts.insert(response.text);
    }
    const double distinct = static_cast<double>(texts.size()) / static_cast<double>(responses_.size());
    const double kl = mean_of(responses_, divergence_of);
    measures_ = {{"reward", mean_of(responses_, [](const Response& one) { return one.score; })},
                 {"kl", kl},
                 {"kl_k3", mean_of(responses_, divergence_k3)},
                 {"kl_weight", kl_weight_},
                 {"length", mean_of(responses_, [](const Response& one) { return static_cast<double>(one.tokens()); })},
                 {"cut", mean_of(responses_, [](const Response& one) { return one.cut ? 1.0 : 0.0; })},
                 {"distinct", distinct}};
    if (distinct < config_.rollouts.least_distinct) {
        throw Error(
            fmt::format("{:.0f} % of the {} responses of a rollout differ, fewer than "
                        "\"rollouts.least_distinct\" ({:.0f} %): the model has collapsed. The newest "
                        "checkpoint, if there is one, is from before; raise \"rollouts.kl\" or lower the learning rate",
                        100.0 * distinct, responses_.size(), 100.0 * config_.rollouts.least_distinct));
    }
    if (config_.rollouts.kl_target > 0.0) {
        kl_weight_ = adapted_weight(kl_weight_, kl, config_.rollouts.kl_target);
    }
}

void Rollouts::queue() {
    const RolloutOptions& options = config_.rollouts;
    const auto all = static_cast<std::size_t>(options.responses());
    const auto parts = static_cast<std::size_t>(options.minibatches);
    for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        std::vector<std::size_t> order(all);
        std::iota(order.begin(), order.end(), std::size_t{0});
        Random(mix_bits(static_cast<std::uint64_t>(config_.training.seed)),
               static_cast<std::uint64_t>(rollout_ * options.epochs + epoch))
            .shuffle(order);
        for (std::size_t part = 0; part < parts; ++part) {
            waiting_.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(all * part / parts),
                                  order.begin() + static_cast<std::ptrdiff_t>(all * (part + 1) / parts));
        }
    }
    first_ = true;
    clipped_ = weighed_ = 0.0;
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
