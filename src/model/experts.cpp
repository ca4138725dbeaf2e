#include "model/experts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "autograd/experts.h"
#include "backend/dropout_rule.h"
#include "model/feed_forward.h"

namespace headscope {

Experts::Experts(const ModelConfig& config, const Scope& scope, DropoutSites& sites)
    : count_(config.feed_forward.experts.count),
      of_a_token_(config.feed_forward.experts.per_token),
      capacity_(config.feed_forward.experts.capacity),
      activation_(config.feed_forward.activation),
      site_(sites.next()) {
    scope.block({.kind = BlockKind::FeedForward,
                 .title = fmt::format("{} Experts, {} per Token", count_, of_a_token_),
                 .detail = feed_forward_sizes(config)});
    router_ = scope.full_weight({"router", count_}, config.d_model);
    const Scope each = scope.with_parts(of_a_token_);
    const auto layer = [&](const char* name, std::int64_t rows, std::int64_t columns, Var& weight, Var& bias) {
        std::vector<Scope::Rows> parts;
        for (std::int64_t e = 0; e < count_; ++e) {
            parts.push_back({fmt::format("experts.{}.{}", e, name), rows});
        }
        weight = each.weight(parts, columns);
        bias = config.feed_forward.bias ? each.bias(parts) : Var();
    };
    if (config.feed_forward.gate) {
        layer("gate", config.feed_forward.d_ff, config.d_model, gate_weight_, gate_bias_);
    }
    layer("inner", config.feed_forward.d_ff, config.d_model, inner_weight_, inner_bias_);
    layer("outer", config.d_model, config.feed_forward.d_ff, outer_weight_, outer_bias_);
}

// The limit of a training pass: its positions, padding among them, are what the host knows of a batch.
std::int64_t Experts::slots_of_each(const Context& ctx, std::int64_t tokens) const {
    if (!ctx.regularisation.step.defined() || capacity_ == 0.0) {
        return tokens;  // as many as could choose it
    }
    constexpr double kRounding = 1e-6;  // of a factor such as 1.1 in 32 bits
    const double share = capacity_ * static_cast<double>(tokens * of_a_token_) / static_cast<double>(count_);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(share * (1.0 - kRounding))), 1, tokens);
}

Var Experts::inner(Context& ctx, const Var& x, const DropoutRule& rule) const {
    const Var value = expert_linear(ctx, x, inner_weight_, inner_bias_);
    // To dropout each slot is a sentence.
    const auto by_slot = [&](const Var& of) { return of.reshape({x.shape()[0] * x.shape()[1], 1, of.shape()[2]}); };
    if (!gate_weight_.defined()) {
        return bias_activation(ctx, by_slot(value), Var(), activation_, rule).reshape(value.shape());
    }
    const Var gate = bias_activation(ctx, expert_linear(ctx, x, gate_weight_, gate_bias_), Var(), activation_);
    return dropout_spending(ctx, by_slot(multiply(ctx, gate, value)), rule).reshape(value.shape());
}

Var Experts::operator()(Context& ctx, const Var& x, const Tensor& lengths) const {
    Context full = ctx;
    full.compute = Compute::F32;
    const Var logits = linear(full, converted(ctx, x, ctx.backend.full_dtype()), router_);
    const Routes routes = route(
        ctx, logits,
        {.choices = of_a_token_, .capacity = slots_of_each(ctx, x.shape()[0] * x.shape()[1]), .lengths = lengths});
    DropoutRule rule = dropout_rule(ctx, ctx.regularisation.activation, site_);
    rule.ordinals = rule.rate == 0.0F ? Tensor() : routes.keys;
    const Var hidden = inner(ctx, take_tokens(ctx, x, routes), rule);
    return mix_experts(ctx, expert_linear(ctx, hidden, outer_weight_, outer_bias_), routes, x.shape());
}

}  // namespace headscope
