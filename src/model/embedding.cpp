#include "model/embedding.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

EmbeddingTables::EmbeddingTables(const ModelConfig& config, const Scope& model)
    : target_scope(model.in(config.tying == Tying::All ? "embedding" : "target_embedding")) {
    const auto block = [&](const Scope& scope, const char* title, std::int64_t vocabulary, bool shared) {
        scope.block({.kind = BlockKind::Embedding,
                     .title = title,
                     .detail = fmt::format("{}{} \u00d7 {}", shared ? "the same " : "", fmt::group_digits(vocabulary),
                                           config.d_model),
                     .shared = shared});
    };
    const bool shared = config.tying == Tying::All;
    const Scope source_scope = shared ? target_scope : model.in("source_embedding");
    block(source_scope, "Input Embedding", config.source_vocabulary, false);
    source = source_scope.table(config.source_vocabulary, config.d_model);
    block(target_scope, "Output Embedding", config.target_vocabulary, shared);
    target = shared ? source : target_scope.table(config.target_vocabulary, config.d_model);
}

Embedding::Embedding(const ModelConfig& config, const Scope& stack, Var table, std::shared_ptr<Sinusoids> sinusoids,
                     DropoutSites& sites)
    : stack_(stack.name()),
      table_(std::move(table)),
      sinusoids_(std::move(sinusoids)),
      scale_(config.scale_embedding ? std::sqrt(static_cast<float>(config.d_model)) : 1.0F),
      site_(sites.next()) {
    const Scope scope = stack.in("positions");
    if (config.positions == Positions::Learned) {
        scope.block({.kind = BlockKind::Positions, .title = "Learned Positions"});
        positions_ = scope.values("weight", {config.max_length, config.d_model}, Initial::Embedding);
    } else {
        scope.block({.kind = BlockKind::Positions, .title = "Positional Encoding", .without_parameters = true});
    }
}

Var Embedding::operator()(Context& ctx, const Tensor& ids, const Tensor& order) const {
    return run(ctx, {.ids = ids, .order = order, .table = table_, .scale = scale_}, ids.dim(1));
}

Var Embedding::at(Context& ctx, const Tensor& ids, const Tensor& first, std::int64_t first_on_host) const {
    return run(ctx, {.ids = ids, .table = table_, .first = first, .scale = scale_}, first_on_host + ids.dim(1));
}

Var Embedding::run(Context& ctx, EmbedOperands operands, std::int64_t end) const {
    if (positions_.defined()) {
        if (end > positions_.shape()[0]) {
            throw Error(
                fmt::format("the {} has {} learned positions, but a sequence has {}, pads included: shorten or split "
                            "it, or train with a larger \"max_length\"",
                            stack_, positions_.shape()[0], end));
        }
        operands.positions = positions_;
    } else {
        operands.positions = Var(sinusoids_->table(ctx.backend, end));
    }
    const Var embedded = embed(ctx, operands);
    return dropout_spending(ctx, embedded, dropout_rule(ctx, ctx.regularisation.embedding, site_));
}

}  // namespace headscope
