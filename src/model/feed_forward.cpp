#include "model/feed_forward.h"

#include <fmt/format.h>

namespace headscope {

FeedForward::FeedForward(const ModelConfig& config, const Scope& scope, DropoutSites& sites)
    : activation_(config.activation), site_(sites.next()) {
    scope.block({.kind = BlockKind::FeedForward,
                 .title = "Feed Forward",
                 .detail = fmt::format("{} \u2192 {} \u2192 {}", config.d_model, fmt::group_digits(config.d_ff),
                                       config.d_model)});
    inner_weight_ = scope.weight({{"inner", config.d_ff}}, config.d_model);
    inner_bias_ = config.feed_forward_bias ? scope.bias({{"inner", config.d_ff}}) : Var();
    outer_weight_ = scope.weight({{"outer", config.d_model}}, config.d_ff);
    outer_bias_ = config.feed_forward_bias ? scope.bias({{"outer", config.d_model}}) : Var();
}

Var FeedForward::operator()(Context& ctx, const Var& x) const {
    const DropoutRule rule = dropout_rule(ctx, ctx.regularisation.activation, site_);
    const Var inner = linear_activation(ctx, x, inner_weight_, inner_bias_, activation_, rule);
    return linear_activation(ctx, inner, outer_weight_, outer_bias_, Activation::None);
}

}  // namespace headscope
