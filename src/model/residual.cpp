#include "model/residual.h"

namespace headscope {

LayerNorm::LayerNorm(const ModelConfig& config, const Parameters& parameters, const std::string& prefix)
    : gain_(parameters.at(prefix + ".gain")),
      bias_(parameters.at(prefix + ".bias")),
      epsilon_(config.layer_norm_epsilon) {}

Normed LayerNorm::operator()(Context& ctx, const Var& x, const Var& residual, const DropoutRule& rule) const {
    return add_layer_norm(ctx, x, residual, gain_, bias_, epsilon_, rule);
}

AddAndNorm::AddAndNorm(const ModelConfig& config, const Parameters& parameters, const std::string& norm,
                       DropoutSites& sites)
    : norm_(config, parameters, norm), pre_(config.norm == NormPlacement::Pre), site_(sites.next()) {}

Stream AddAndNorm::operator()(Context& ctx, const Stream& stream, const Var& sublayer) const {
    const DropoutRule rule = dropout_rule(ctx, ctx.regularisation.residual, site_);
    const Normed result = norm_(ctx, sublayer, stream.residual, rule);
    return {pre_ ? result.sum : result.y, result.y};
}

std::string norm_after(const ModelConfig& config, const std::vector<std::string>& norms, std::size_t index,
                       const std::string& stack) {
    if (config.norm == NormPlacement::Post) {
        return norms[index];
    }
    return index + 1 < norms.size() ? norms[index + 1] : stack + ".norm";
}

Stream start_stream(Context& ctx, const Var& embedded, const std::optional<LayerNorm>& first_norm) {
    if (!first_norm) {
        return {embedded, embedded};
    }
    const Normed normed = (*first_norm)(ctx, embedded, Var(), {});
    return {normed.sum, normed.y};
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
