#include "model/embedding.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "backend/precision.h"
#include "support/check.h"

namespace headscope {

namespace {

void add_block(const ModelConfig& config, const EmbeddingTable& table, const char* title, bool shared) {
    table.scope.block({.kind = BlockKind::Embedding,
                       .title = title,
                       .detail = fmt::format("{}{} \u00d7 {}", shared ? "the same " : "",
                                             fmt::group_digits(table.vocabulary), config.d_model),
                       .shared = shared});
}

}  // namespace

EmbeddingTable::EmbeddingTable(const ModelConfig& config, const Scope& declared, const char* title, std::int64_t rows)
    : scope(declared), vocabulary(rows) {
    add_block(config, *this, title, false);
    weight = scope.table(rows, config.d_model);
}

EmbeddingTable::EmbeddingTable(const ModelConfig& config, const char* title, const EmbeddingTable& shared)
    : EmbeddingTable(shared) {
    add_block(config, *this, title, true);
}

Embedding::Embedding(const ModelConfig& config, const Scope& stack, Var table, std::shared_ptr<Sinusoids> sinusoids,
                     DropoutSites& sites)
    : stack_(stack.name()),
      table_(std::move(table)),
      sinusoids_(config.positions == Positions::Sinusoid ? std::move(sinusoids) : nullptr),
      scale_(config.scale_embedding ? std::sqrt(static_cast<float>(config.d_model)) : 1.0F),
      site_(sites.next()) {
    const Scope scope = stack.in("positions");
    if (config.positions == Positions::Learned) {
        scope.block({.kind = BlockKind::Positions, .title = "Learned Positions"});
        positions_ = scope.values("weight", {config.max_length, config.d_model}, Initial::Embedding);
    } else if (config.positions == Positions::Sinusoid) {
        scope.block({.kind = BlockKind::Positions, .title = "Positional Encoding", .without_parameters = true});
    }
    if (config.token_types > 0) {
        const Scope types = stack.in("token_types");
        types.block({.kind = BlockKind::Embedding,
                     .title = "Token Types",
                     .detail = fmt::format("{} \u00d7 {}", config.token_types, config.d_model)});
        types_ = types.values("weight", {config.token_types, config.d_model}, Initial::Embedding);
    }
    if (config.embedding_norm) {
        norm_.emplace(config, stack.in("embedding_norm"));
    }
}

DType Embedding::dtype(Backend& backend) const {
    return activations_beside(backend, table_.value().dtype);
}

Var Embedding::operator()(Context& ctx, const Tokens& tokens) const {
    return run(ctx, tokens, Tensor(), tokens.ids.dim(1));
}

Var Embedding::at(Context& ctx, const Tensor& ids, const Tensor& first, std::int64_t first_on_host) const {
    return run(ctx, {.ids = ids}, first, first_on_host + ids.dim(1));
}

Var Embedding::added(Context& ctx, const Tokens& tokens, std::int64_t end) const {
    if (positions_.defined() && end > positions_.shape()[0]) {
        throw Error(
            fmt::format("the {} has {} learned positions, but a sequence has {}, pads included: shorten or split "
                        "it, or train with a larger \"max_length\"",
                        stack_, positions_.shape()[0], end));
    }
    const Var positions = sinusoids_ ? Var(sinusoids_->table(ctx.backend, end)) : positions_;
    if (!types_.defined()) {
        return positions;
    }
    Tensor types = tokens.types;
    if (!types.defined()) {
        types = ctx.backend.empty({1, end}, DType::I32);
        ctx.backend.run(Fill{.out = types, .value = 0.0F});
    }
    return embed(ctx, {.ids = types, .order = tokens.type_order, .table = types_, .positions = positions})
        .reshape({types.elements(), types_.shape()[1]});
}

Var Embedding::run(Context& ctx, const Tokens& tokens, const Tensor& first, std::int64_t end) const {
    EmbedOperands operands{.ids = tokens.ids,
                           .order = tokens.order,
                           .table = table_,
                           .positions = added(ctx, tokens, end),
                           .first = first,
                           .scale = scale_};
    const Shape& shape = tokens.ids.shape;
    if (types_.defined()) {  // a row of `positions` for each column of the ids
        const std::int64_t columns = operands.positions.shape()[0];
        operands.ids = tokens.ids.reshape({shape.elements() / columns, columns});
    }
    const Var embedded = embed(ctx, operands).reshape({shape[0], shape[1], table_.shape()[1]});
    const Var normed = norm_ ? (*norm_)(ctx, embedded, Var(), {}).y : embedded;
    return dropout_spending(ctx, normed, dropout_rule(ctx, ctx.regularisation.embedding, site_));
}

}  // namespace headscope
