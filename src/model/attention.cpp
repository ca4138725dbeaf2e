#include "model/attention.h"

namespace headscope {

MultiHeadAttention::MultiHeadAttention(const ModelConfig& config, const Parameters& parameters,
                                       const std::string& prefix, AttentionSite site, DropoutSites& sites)
    : site_(site),
      heads_(config.heads),
      key_columns_(config.heads * config.d_k),
      value_columns_(config.heads * config.d_v),
      output_weight_(parameters.at(prefix + ".output.weight")),
      dropout_site_(sites.next()) {
    const bool cross = site.kind == AttentionKind::Cross;
    queries_weight_ = parameters.packed(prefix + ".q.weight", cross ? 1 : 3);
    if (cross) {
        memory_weight_ = parameters.packed(prefix + ".k.weight", 2);
    }
    if (config.attention_bias) {
        queries_bias_ = parameters.packed(prefix + ".q.bias", cross ? 1 : 3);
        if (cross) {
            memory_bias_ = parameters.packed(prefix + ".k.bias", 2);
        }
        output_bias_ = parameters.at(prefix + ".output.bias");
    }
}

Var MultiHeadAttention::project(Context& ctx, const Var& x, const Var& weight, const Var& bias) const {
    return linear_activation(ctx, x, weight, bias, Activation::None);
}

MultiHeadAttention::Projected MultiHeadAttention::project_self(Context& ctx, const Var& x) const {
    const Var packed = project(ctx, x, queries_weight_, queries_bias_);  // [batch, length, 2 h d_k + h d_v]
    const bool one_width = key_columns_ == value_columns_;
    return {packed.narrow(2, 0, key_columns_).heads(heads_),
            {packed.narrow(2, key_columns_, key_columns_).heads(heads_),
             packed.narrow(2, 2 * key_columns_, value_columns_).heads(heads_)},
            one_width ? packed.narrow(2, key_columns_, 2 * key_columns_).heads(2 * heads_) : Var()};
}

Var MultiHeadAttention::project_queries(Context& ctx, const Var& x) const {
    return project(ctx, x, queries_weight_, queries_bias_).heads(heads_);
}

Var MultiHeadAttention::project_memory(Context& ctx, const Var& memory) const {
    return project(ctx, memory, memory_weight_, memory_bias_);
}

KeysAndValues MultiHeadAttention::split_memory(const Var& packed) const {
    return {packed.narrow(2, 0, key_columns_).heads(heads_),
            packed.narrow(2, key_columns_, value_columns_).heads(heads_)};
}

Var MultiHeadAttention::attend_and_project(Context& ctx, const Var& queries, const KeysAndValues& to,
                                           const AttentionMask& mask) const {
    const DropoutRule rule = dropout_rule(ctx, ctx.regularisation.attention, dropout_site_);
    const Var attended = attend(ctx, site_, queries, to.keys, to.values, mask, rule);  // [batch, queries, h d_v]
    return project(ctx, attended, output_weight_, output_bias_);
}

Var MultiHeadAttention::self(Context& ctx, const Var& x, const AttentionMask& mask) const {
    const Projected projected = project_self(ctx, x);
    return attend_and_project(ctx, projected.queries, projected.to, mask);
}

Var MultiHeadAttention::cross(Context& ctx, const Var& x, const Var& memory, const AttentionMask& mask) const {
    const Var queries = project_queries(ctx, x);
    return attend_and_project(ctx, queries, split_memory(project_memory(ctx, memory)), mask);
}

}  // namespace headscope
