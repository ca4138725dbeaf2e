#include "model/feed_forward.h"

#include <fmt/format.h>

#include "autograd/hooks.h"
#include "backend/dropout_rule.h"

namespace headscope {

std::string feed_forward_sizes(const ModelConfig& config) {
    return fmt::format("{} \u2192 {}{} \u2192 {}", config.d_model, config.feed_forward.gate ? "2 \u00d7 " : "",
                       fmt::group_digits(config.feed_forward.d_ff), config.d_model);
}

FeedForward::FeedForward(const ModelConfig& config, const Scope& scope, DropoutSites& sites)
    : activation_(config.feed_forward.activation), site_(sites.next()) {
    scope.block({.kind = BlockKind::FeedForward, .title = "Feed Forward", .detail = feed_forward_sizes(config)});
    if (config.feed_forward.gate) {
        gate_weight_ = scope.weight({{"gate", config.feed_forward.d_ff}}, config.d_model);
        gate_bias_ = config.feed_forward.bias ? scope.bias({{"gate", config.feed_forward.d_ff}}) : Var();
    }
    inner_weight_ = scope.weight({{"inner", config.feed_forward.d_ff}}, config.d_model);
    inner_bias_ = config.feed_forward.bias ? scope.bias({{"inner", config.feed_forward.d_ff}}) : Var();
    outer_weight_ = scope.weight({{"outer", config.d_model}}, config.feed_forward.d_ff);
    outer_bias_ = config.feed_forward.bias ? scope.bias({{"outer", config.d_model}}) : Var();
}

Var FeedForward::operator()(Context& ctx, const Var& x) const {
    const DropoutRule rule = dropout_rule(ctx, ctx.regularisation.activation, site_);
    const Var inner = gate_weight_.defined() ? gated(ctx, x, rule)
                                             : linear_activation(ctx, x, inner_weight_, inner_bias_, activation_, rule);
    return linear_activation(ctx, at_site(ctx, "hidden", inner), outer_weight_, outer_bias_, Activation::None);
}

Var FeedForward::gated(Context& ctx, const Var& x, const DropoutRule& rule) const {
    const Var gate = linear_activation(ctx, x, gate_weight_, gate_bias_, activation_);
    const Var inner = linear_activation(ctx, x, inner_weight_, inner_bias_, Activation::None);
    return dropout_spending(ctx, multiply(ctx, gate, inner), rule);
}

}  // namespace headscope
