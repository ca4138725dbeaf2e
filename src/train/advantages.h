// The arithmetic of reinforcement learning on responses, in double on the host, over lists of unequal length: there are
// no masked positions. The same bits on every device that gives the same log-probabilities.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headscope {

// Of each token of one response.
struct TokenAdvantages {
    std::vector<double> advantages;
    std::vector<double> returns;  // advantage + value
};

// Generalised advantage estimation (Schulman et al., 2016): A_t = d_t + gamma lambda A_(t+1) with d_t = r_t +
// gamma V_(t+1) - V_t, where nothing follows the last token. As many values as rewards.
TokenAdvantages generalised_advantages(std::span<const double> rewards, std::span<const double> values, double gamma,
                                       double lambda);

// Of each response its reward less the mean reward of the other responses to its prompt (Ahmadian et al., 2024). The
// responses of a prompt, `group` of them and at least 2, follow each other.
std::vector<double> leave_one_out(std::span<const double> rewards, std::size_t group);

// Shifts and scales all numbers together to mean 0 and variance 1; equal numbers become 0.
void whiten(std::span<std::vector<double>> numbers);

// One token's part of a loss: what it is, its derivative, and whether the clip holds it.
struct ClippedLoss {
    double loss = 0.0;
    double gradient = 0.0;  // by the negative log-likelihood, or by the value
    bool clipped = false;
};
// -min(ratio A, clip(ratio, 1 - clip, 1 + clip) A) with ratio = exp(old_nll - nll) (Schulman et al., 2017).
ClippedLoss policy_loss(double nll, double old_nll, double advantage, double clip);
// Half the larger of (V - R)^2 and (V' - R)^2, where V' is V within `clip` of what it was before.
ClippedLoss value_loss(double value, double old_value, double result, double clip);

// The weight of the divergence after a rollout with this divergence (Ziegler et al., 2019): it grows by a tenth of how
// far the divergence is above its target, in shares of the target, but of at most a fifth.
double adapted_weight(double weight, double divergence, double target);

}  // namespace headscope
