#include "model/residual.h"

namespace headscope {

LayerNorm::LayerNorm(const ModelConfig& config, const Scope& scope)
    : epsilon_(config.layer_norm_epsilon), type_(config.norm_type) {
    scope.block({.kind = BlockKind::Norm, .title = "Norm"});
    gain_ = scope.values("gain", {config.d_model}, Initial::One);
    if (type_ == NormType::Layer) {
        bias_ = scope.values("bias", {config.d_model}, Initial::Zero);
    }
}

Normed LayerNorm::operator()(Context& ctx, const Var& x, const Var& residual, const DropoutRule& rule) const {
    return add_layer_norm(ctx, x, residual, gain_, bias_, epsilon_, rule, type_);
}

void Residuals::add_sublayer(const Scope& scope, DropoutSites& sites) {
    norms_.emplace_back(config_, scope.in("norm"));
    sites_.push_back(sites.next());
}

void Residuals::end(const Scope& stack) {
    if (pre()) {
        norms_.emplace_back(config_, stack.in("norm"));
    }
}

Stream Residuals::start(Context& ctx, const Var& embedded) const {
    if (!pre()) {
        return {embedded, embedded};
    }
    const Normed normed = norms_.front()(ctx, embedded, Var(), {});
    return {normed.sum, normed.y};
}

Stream Residuals::after(Context& ctx, std::size_t index, const Stream& stream, const Var& output) const {
    const DropoutRule rule = dropout_rule(ctx, ctx.regularisation.residual, sites_[index]);
    const Normed result = norms_[pre() ? index + 1 : index](ctx, output, stream.residual, rule);
    return {pre() ? result.sum : result.y, result.y};
}

void set_label(const Context& ctx, const std::string& part, const char* rest) {
    if (ctx.label || ctx.tape != nullptr) {
        const std::string label = part + rest;
        if (ctx.label) {
            ctx.label(label);
        }
        if (ctx.tape != nullptr) {
            ctx.tape->set_label(label);
        }
    }
}

}  // namespace headscope
