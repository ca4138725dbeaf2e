#include "model/residual.h"

#include "autograd/hooks.h"
#include "backend/dropout_rule.h"

namespace headscope {

LayerNorm::LayerNorm(const ModelConfig& config, const Scope& scope)
    : epsilon_(config.norm.epsilon), type_(config.norm.type) {
    scope.block({.kind = BlockKind::Norm,
                 .title = type_ == NormType::Batch  ? "Batch Norm"
                          : type_ == NormType::None ? "Identity"
                                                    : "Norm"});
    const Shape columns{config.d_model};
    if (type_ != NormType::None) {
        gain_ = scope.values("gain", columns, Initial::One);
    }
    if (type_ == NormType::Layer || type_ == NormType::Batch) {
        bias_ = scope.values("bias", columns, Initial::Zero);
    }
    if (type_ == NormType::Batch) {
        running_mean_ = scope.buffer("running_mean", columns, Initial::Zero);
        running_variance_ = scope.buffer("running_variance", columns, Initial::One);
    }
}

Normed LayerNorm::operator()(Context& ctx, const Var& x, const Var& residual, const DropoutRule& rule,
                             const Tensor& lengths) const {
    if (type_ == NormType::Layer || type_ == NormType::Rms) {
        return add_layer_norm(ctx, x, residual, gain_, bias_, epsilon_, rule, type_);
    }
    const Var dropped = dropout_spending(ctx, x, rule);
    const Var sum = residual.defined() ? add_spending(ctx, dropped, residual) : dropped;
    return {sum, type_ == NormType::None ? sum
                                         : batch_norm(ctx, sum,
                                                      {.gain = gain_,
                                                       .bias = bias_,
                                                       .running_mean = running_mean_,
                                                       .running_variance = running_variance_,
                                                       .lengths = lengths,
                                                       .epsilon = epsilon_,
                                                       .measures = ctx.regularisation.step.defined()})};
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

Stream Residuals::start(Context& ctx, const Var& embedded, const Tensor& lengths) const {
    if (!pre()) {
        return {embedded, embedded, lengths};
    }
    const Normed normed = norms_.front()(ctx, embedded, Var(), {}, lengths);
    return {normed.sum, normed.y, lengths};
}

Stream Residuals::after(Context& ctx, std::size_t index, const Stream& stream, const Var& output) const {
    const DropoutRule rule = dropout_rule(ctx, ctx.regularisation.residual, sites_[index]);
    const Normed result = norms_[pre() ? index + 1 : index](ctx, output, stream.residual, rule, stream.lengths);
    return {pre() ? result.sum : result.y, result.y, stream.lengths};
}

Var Residuals::last_norm(Context& ctx, const Var& residual) const {
    return pre() ? norms_.back()(ctx, residual, Var(), {}, Tensor()).y : residual;
}

Stream Residuals::at_site(Context& ctx, const std::string& layer, const char* name, std::size_t next,
                          const Stream& stream) const {
    if (ctx.hooks == nullptr) {
        return stream;
    }
    const Var residual = headscope::at_site(ctx, layer, name, stream.residual);
    if (residual.identity() == stream.residual.identity()) {
        return stream;
    }
    if (!pre()) {
        return {residual, residual, stream.lengths};
    }
    const Normed normed = norms_[next](ctx, residual, Var(), {}, stream.lengths);
    return {normed.sum, normed.y, stream.lengths};
}

void set_label(const Context& ctx, const std::string& part, const char* rest) {
    if (ctx.label || ctx.tape != nullptr || ctx.hooks != nullptr) {
        const std::string label = part + rest;
        if (ctx.hooks != nullptr) {
            ctx.hooks->enter(label);
        }
        if (ctx.label) {
            ctx.label(label);
        }
        if (ctx.tape != nullptr) {
            ctx.tape->set_label(label);
        }
    }
}

}  // namespace headscope
