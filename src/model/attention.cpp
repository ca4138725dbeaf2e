#include "model/attention.h"

#include <fmt/format.h>

#include "autograd/hooks.h"
#include "backend/dropout_rule.h"
#include "backend/ops/elementwise.h"
#include "model/rotary.h"

namespace headscope {

namespace {

bool later_hidden(const ModelConfig& config, AttentionKind kind) {
    return kind == AttentionKind::DecoderSelf && !reads_whole(config, kind);
}

Block block_of(const ModelConfig& config, AttentionSite site) {
    const AttentionKind kind = site.kind;
    const bool self = kind != AttentionKind::Cross;
    const std::int64_t window = self ? window_of(config, kind, site.layer) : 0;
    return {
        .kind = BlockKind::Attention,
        .title = later_hidden(config, kind) ? "Masked Multi-Head Attention" : "Multi-Head Attention",
        .detail = fmt::format(
            "{} heads of {}{}{}{}{}{}", config.attention.heads, config.attention.d_k,
            config.attention.d_k == config.attention.d_v ? "" : fmt::format(", {}", config.attention.d_v),
            config.attention.groups() == config.attention.heads
                ? ""
                : fmt::format(", in {} group{}", config.attention.groups(), config.attention.groups() == 1 ? "" : "s"),
            config.attention.score == AttentionScore::Additive ? ", additive" : "",
            self && is_turned(config, site.layer) ? ", rotary" : "", window > 0 ? fmt::format(", r = {}", window) : ""),
        .attention = kind};
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const ModelConfig& config, const Scope& scope, AttentionSite site,
                                       DropoutSites& sites)
    : site_(site),
      scale_(config.attention.product_scale()),
      heads_(config.attention.heads),
      groups_(config.attention.groups()),
      query_columns_(heads_ * config.attention.d_k),
      key_columns_(groups_ * config.attention.d_k),
      value_columns_(groups_ * config.attention.d_v),
      dropout_site_(sites.next()) {
    const bool cross = site.kind == AttentionKind::Cross;
    const Scope memory = scope.for_each(&MultiplyAdds::source_token);
    const std::vector<Scope::Rows> q = {{"q", query_columns_}};
    const std::vector<Scope::Rows> kv = {{"k", key_columns_}, {"v", value_columns_}};
    const std::vector<Scope::Rows> qkv = {q[0], kv[0], kv[1]};
    scope.block(block_of(config, site));
    queries_weight_ = scope.weight(cross ? q : qkv, config.d_model, Initial::AttentionInput);
    if (cross) {
        memory_weight_ = memory.weight(kv, config.d_model, Initial::AttentionInput);
    }
    if (config.attention.bias) {
        queries_bias_ = scope.bias(cross ? q : qkv);
        memory_bias_ = cross ? memory.bias(kv) : Var();
    }
    output_weight_ = scope.weight({{"output", config.d_model}}, heads_ * config.attention.d_v);
    if (config.attention.bias && config.attention.output_bias) {
        output_bias_ = scope.bias({{"output", config.d_model}});
    }
    if (config.attention.score == AttentionScore::Additive) {
        score_gain_ = scope.values("score.gain", {config.attention.heads, config.attention.d_k}, Initial::Glorot);
    }
    if (!cross && config.attention.query_key_norm != QueryKeyNorm::None) {
        const bool by_head = config.attention.query_key_norm == QueryKeyNorm::Head;
        norms_ = {
            .queries = scope.values("q_norm.gain", {by_head ? config.attention.d_k : query_columns_}, Initial::One),
            .keys = scope.values("k_norm.gain", {by_head ? config.attention.d_k : key_columns_}, Initial::One),
            .epsilon = config.norm.epsilon};
    }
    scope.multiply_adds(cross                                     ? &MultiplyAdds::cross_pair
                        : site.kind == AttentionKind::EncoderSelf ? &MultiplyAdds::source_pair
                        : later_hidden(config, site.kind)         ? &MultiplyAdds::causal_pair
                                                                  : &MultiplyAdds::target_pair,
                        heads_ * (config.attention.d_k + config.attention.d_v));
}

Var MultiHeadAttention::project(Context& ctx, const Var& x, const Var& weight, const Var& bias) const {
    return linear_activation(ctx, x, weight, bias, Activation::None);
}

Var MultiHeadAttention::normed(Context& ctx, const Var& x, const Var& gain, std::int64_t heads,
                               const Turns& turns) const {
    const Shape& shape = x.shape();
    const std::int64_t columns = gain.shape()[0];
    const Var rows = copy_of(ctx, x).reshape({shape[0], shape[1] * shape[2] / columns, columns});
    const Var y = add_layer_norm(ctx, rows, Var(), gain, Var(), norms_.epsilon, {}, NormType::Rms).y;
    const Var apart = y.reshape(shape).heads(heads);
    rotate(ctx, apart, turns);
    return apart;
}

MultiHeadAttention::Projected MultiHeadAttention::project_self(Context& ctx, const Var& x, const Turns& turns) const {
    const Var packed = project(ctx, x, queries_weight_, queries_bias_);  // [batch, length, columns of q, k and v]
    const Var values = packed.narrow(2, query_columns_ + key_columns_, value_columns_).heads(groups_);
    if (norms_.queries.defined()) {
        return {normed(ctx, packed.narrow(2, 0, query_columns_), norms_.queries, heads_, turns),
                {normed(ctx, packed.narrow(2, query_columns_, key_columns_), norms_.keys, groups_, turns), values},
                Var()};
    }
    rotate(ctx, packed.narrow(2, 0, query_columns_ + key_columns_).heads(heads_ + groups_), turns);
    const bool one_width = key_columns_ == value_columns_;
    return {packed.narrow(2, 0, query_columns_).heads(heads_),
            {packed.narrow(2, query_columns_, key_columns_).heads(groups_), values},
            one_width ? packed.narrow(2, query_columns_, 2 * key_columns_).heads(2 * groups_) : Var()};
}

Var MultiHeadAttention::project_queries(Context& ctx, const Var& x) const {
    return project(ctx, x, queries_weight_, queries_bias_).heads(heads_);
}

Var MultiHeadAttention::project_memory(Context& ctx, const Var& memory) const {
    return project(ctx, memory, memory_weight_, memory_bias_);
}

KeysAndValues MultiHeadAttention::split_memory(const Var& packed) const {
    return {packed.narrow(2, 0, key_columns_).heads(groups_),
            packed.narrow(2, key_columns_, value_columns_).heads(groups_)};
}

Var MultiHeadAttention::attend_and_project(Context& ctx, const Var& queries, const KeysAndValues& to,
                                           const AttentionMask& mask, const Var& by_distance) const {
    const DropoutRule rule = dropout_rule(ctx, ctx.regularisation.attention, dropout_site_);
    const Scoring scoring{.scale = scale_, .gain = score_gain_, .by_distance = by_distance, .key_rows = to.rows};
    const Var q = at_site(ctx, "q", queries);
    const Var k = at_site(ctx, "k", to.keys);
    const Var v = at_site(ctx, "v", to.values);
    const Var attended = attend(ctx, site_, q, k, v, mask, rule, scoring);
    return project(ctx, heads_at_site(ctx, attended), output_weight_, output_bias_);
}

// The heads' outputs next to each other, [batch, queries, heads * d_v], after hooks have seen them apart.
Var MultiHeadAttention::heads_at_site(Context& ctx, const Var& attended) const {
    if (ctx.hooks == nullptr) {
        return attended;
    }
    const Var apart = attended.heads(heads_);
    const Var z = at_site(ctx, "z", apart);
    if (z.identity() == apart.identity()) {
        return attended;
    }
    const Tensor joined = ctx.backend.empty(attended.shape(), attended.value().dtype);
    ctx.backend.run(Copy{.x = z.value(), .out = joined.heads(heads_)});
    return Var(joined);
}

Var MultiHeadAttention::self(Context& ctx, const Var& x, const AttentionMask& mask, const Var& by_distance,
                             const Turns& turns) const {
    const Projected projected = project_self(ctx, x, turns);
    return attend_and_project(ctx, projected.queries, projected.to, mask, by_distance);
}

Var MultiHeadAttention::cross(Context& ctx, const Var& x, const Var& memory, const AttentionMask& mask) const {
    const Var queries = project_queries(ctx, x);
    return attend_and_project(ctx, queries, split_memory(project_memory(ctx, memory)), mask);
}

}  // namespace headscope
