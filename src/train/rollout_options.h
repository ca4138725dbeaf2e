// The section "rollouts" of a configuration: reinforcement learning on a model's own responses.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

enum class AdvantageForm : std::uint8_t {
    Generalised,  // with a model of values, see generalised_advantages()
    LeaveOneOut   // without one, see leave_one_out()
};

struct RolloutOptions {
    std::int64_t prompts = 64;     // of a rollout
    std::int64_t samples = 1;      // responses to each of them; at least 2 without a model of values
    std::int64_t max_tokens = 32;  // of a response
    std::int64_t epochs = 4;       // over the responses of a rollout
    std::int64_t minibatches = 4;  // of an epoch, each a step
    double kl = 0.05;              // weight of the divergence from the reference, in each token's reward
    double kl_target = 0.0;        // of a response, in nats: the weight follows it; 0: the weight stays
    double clip = 0.2;             // of the ratio of new and old probabilities
    double value_clip = 0.2;
    double gamma = 1.0;
    double lambda = 0.95;
    AdvantageForm advantage = AdvantageForm::Generalised;
    double missing_end_penalty = 1.0;  // off the score of a response that was cut
    double most_kl = 0.0;  // of the new weights from the old ones, in nats a token: more ends the rollout; 0: never
    double least_distinct = 0.1;  // share of responses that differ: fewer end the training; 0: never

    std::int64_t responses() const { return prompts * samples; }
};

// Errors name the file and the key, also for unknown keys.
RolloutOptions parse_rollout_options(const nlohmann::json& json, const std::string& file);
// All of them, as "rollouts.<key>": they decide the weights after a given step.
nlohmann::json identity_of(const RolloutOptions& options);

}  // namespace headscope
