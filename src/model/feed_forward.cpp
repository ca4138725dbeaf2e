#include "model/feed_forward.h"

namespace headscope {

FeedForward::FeedForward(const ModelConfig& config, const Parameters& parameters, const std::string& prefix,
                         DropoutSites& sites)
    : inner_weight_(parameters.at(prefix + ".inner.weight")),
      inner_bias_(parameters.at(prefix + ".inner.bias")),
      outer_weight_(parameters.at(prefix + ".outer.weight")),
      outer_bias_(parameters.at(prefix + ".outer.bias")),
      activation_(config.activation),
      site_(sites.next()) {}

Var FeedForward::operator()(Context& ctx, const Var& x) const {
    const DropoutRule rule = dropout_rule(ctx, ctx.regularisation.activation, site_);
    const Var inner = linear_activation(ctx, x, inner_weight_, inner_bias_, activation_, rule);
    return linear_activation(ctx, inner, outer_weight_, outer_bias_, Activation::None);
}

}  // namespace headscope
