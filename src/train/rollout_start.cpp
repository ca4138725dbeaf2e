// How a rollout begins: responses are sampled and judged, and each of their tokens gets its advantage.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "infer/response_scores.h"
#include "support/check.h"
#include "support/random.h"
#include "train/advantages.h"
#include "train/rollouts.h"

namespace headscope {
namespace {

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

}  // namespace

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

// Samples at temperature 1, from all pieces but those that the search never writes: padding, start and unknown.
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

// Gives all tokens their advantages, whitened.
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

}  // namespace headscope
