#include "model/residual.h"

#include <utility>

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
    const NormConfig& norm = config_.norm;
    Sublayer added{.norm = {}, .output_norm = {}, .site = sites.next(), .waits = waits_next()};
    const bool is_second = norm.parallel != ParallelLayers::None && !added.waits;
    if (!is_second || norm.parallel != ParallelLayers::OneNorm) {
        added.norm.emplace(config_, scope.in("norm"));
    }
    if (norm.placement == NormPlacement::Sandwich) {
        added.output_norm.emplace(config_, scope.in("output_norm"));
    }
    sublayers_.push_back(std::move(added));
}

// Of two parallel sub-layers, the first waits for the second.
bool Residuals::waits_next() const {
    return config_.norm.parallel != ParallelLayers::None && sublayers_.size() % 2 == 0;
}

void Residuals::end(const Scope& stack) {
    if (config_.norm.of_stack()) {
        stack_norm_.emplace(config_, stack.in("norm"));
    }
}

const LayerNorm* Residuals::norm_before(std::size_t sublayer) const {
    if (sublayer == sublayers_.size()) {
        return stack_norm_ ? &*stack_norm_ : nullptr;
    }
    const std::optional<LayerNorm>& norm = sublayers_[sublayer].norm;
    return config_.norm.of_inputs() && norm ? &*norm : nullptr;
}

Stream Residuals::read_by(Context& ctx, std::size_t sublayer, const Var& residual, const Tensor& lengths) const {
    const LayerNorm* norm = norm_before(sublayer);
    if (norm == nullptr) {
        return {residual, residual, lengths};
    }
    const Normed normed = (*norm)(ctx, residual, Var(), {}, lengths);
    return {normed.sum, normed.y, lengths};
}

Stream Residuals::start(Context& ctx, const Var& embedded, const Tensor& lengths) const {
    return read_by(ctx, 0, embedded, lengths);
}

Stream Residuals::wait(Context& ctx, std::size_t index, const Stream& stream, const Var& output,
                       const DropoutRule& rule) const {
    Stream next = sublayers_[index + 1].norm ? read_by(ctx, index + 1, stream.residual, stream.lengths) : stream;
    next.waiting = dropout_spending(ctx, output, rule);
    return next;
}

Stream Residuals::after(Context& ctx, std::size_t index, const Stream& stream, const Var& output) const {
    const Sublayer& own = sublayers_[index];
    const DropoutRule rule = dropout_rule(ctx, ctx.regularisation.residual, own.site);
    if (own.waits) {
        return wait(ctx, index, stream, output, rule);
    }
    if (config_.norm.placement == NormPlacement::Post) {
        const Var y = (*own.norm)(ctx, output, stream.residual, rule, stream.lengths).y;
        return {y, y, stream.lengths};
    }
    Var added = output;
    if (config_.norm.of_outputs()) {
        const LayerNorm& norm = own.output_norm ? *own.output_norm : *own.norm;
        added = norm(ctx, output, Var(), {}, stream.lengths).y;
    }
    const Var residual =
        stream.waiting.defined() ? add_spending(ctx, stream.waiting, stream.residual) : stream.residual;
    if (const LayerNorm* next = norm_before(index + 1)) {
        const Normed result = (*next)(ctx, added, residual, rule, stream.lengths);
        return {result.sum, result.y, stream.lengths};
    }
    const Var sum = add_spending(ctx, dropout_spending(ctx, added, rule), residual);
    return {sum, sum, stream.lengths};
}

Var Residuals::last_norm(Context& ctx, const Var& residual) const {
    return read_by(ctx, sublayers_.size(), residual, Tensor()).normed;
}

Stream Residuals::at_site(Context& ctx, const std::string& layer, const char* name, std::size_t next,
                          const Stream& stream) const {
    if (ctx.hooks == nullptr || stream.waiting.defined()) {
        return stream;
    }
    const Var residual = headscope::at_site(ctx, layer, name, stream.residual);
    return residual.identity() == stream.residual.identity() ? stream : read_by(ctx, next, residual, stream.lengths);
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
