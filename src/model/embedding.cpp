#include "model/embedding.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "autograd/experts.h"
#include "autograd/hooks.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backend/ops/search.h"
#include "backend/precision.h"
#include "model/frame_of_config.h"
#include "support/check.h"

namespace headscope {

namespace {

void add_block(const ModelConfig& config, const EmbeddingTable& table, const char* title, bool shared) {
    table.scope.block({.kind = BlockKind::Embedding,
                       .title = title,
                       .detail = fmt::format("{}{} \u00d7 {}", shared ? "the same " : "",
                                             fmt::group_digits(table.vocabulary), config.embedding_columns()),
                       .shared = shared});
}

}  // namespace

EmbeddingTable::EmbeddingTable(const ModelConfig& config, const Scope& declared, const char* title, std::int64_t rows)
    : scope(declared), vocabulary(rows) {
    add_block(config, *this, title, false);
    weight = scope.table(rows, config.embedding_columns());
}

EmbeddingTable::EmbeddingTable(const ModelConfig& config, const char* title, const EmbeddingTable& shared)
    : EmbeddingTable(shared) {
    add_block(config, *this, title, true);
}

Embedding::Embedding(const ModelConfig& config, const Scope& stack, AttentionKind self, Var table,
                     std::shared_ptr<Sinusoids> sinusoids, DropoutSites& sites)
    : stack_(stack.name()),
      table_(std::move(table)),
      pictures_(config.input.patches() && self == AttentionKind::EncoderSelf),
      norm_first_(config.embedding.norm == EmbeddingNorm::First && self == AttentionKind::DecoderSelf),
      sinusoids_(sinusoids->fixed() ? std::move(sinusoids) : nullptr),
      by_length_(config.positions.kind == Positions::Normalised && reads_whole(config, self)),
      position_columns_(config.positions.columns),
      scale_(config.embedding.scale && !norm_first_ ? std::sqrt(static_cast<float>(config.d_model)) : 1.0F),
      site_(sites.next()) {
    if (pictures_) {
        const PatchShape shape = patches_of(config)->shape;
        stack.block({.kind = BlockKind::Embedding,
                     .title = "Patches",
                     .detail = fmt::format("{} of {} \u00d7 {} pixels", shape.patches(), shape.patch, shape.patch)});
        const std::int64_t columns = config.embedding_columns();
        table_ = stack.weight({{"patches", columns}}, shape.values());
        // Added like types of tokens: a vector for the class token, and the bias of the projection for the others.
        std::vector<Scope::Rows> types{{"patches", columns}};
        if (config.input.class_token) {
            types.insert(types.begin(), {"class_token", columns});
        }
        types_ = stack.bias(types);
        types_ = types_.defined() ? types_.reshape({std::ssize(types), columns}) : types_;
    }
    const Scope scope = stack.in("positions");
    if (config.positions.kind == Positions::Learned) {
        scope.block({.kind = BlockKind::Positions, .title = "Learned Positions"});
        positions_ = scope.values("weight", {config.max_length, config.position_width()}, Initial::Embedding);
    } else if (sinusoids_) {
        const char* title = config.positions.kind == Positions::Sinusoid ? "Positional Encoding"
                            : config.positions.kind == Positions::Index  ? "Position's Number"
                                                                         : "Position, 0 to 1";
        scope.block({.kind = BlockKind::Positions, .title = title, .without_parameters = true});
    }
    if (config.embedding.token_types > 0) {
        const Scope types = stack.in("token_types");
        types.block({.kind = BlockKind::Embedding,
                     .title = "Token Types",
                     .detail = fmt::format("{} \u00d7 {}", config.embedding.token_types, config.embedding_columns())});
        types_ = types.values("weight", {config.embedding.token_types, config.embedding_columns()}, Initial::Embedding);
    }
    if (config.embedding.norm != EmbeddingNorm::None) {
        norm_.emplace(config, stack.in("embedding_norm"));
    }
}

DType Embedding::dtype(Backend& backend) const {
    return activations_beside(backend, table_.value().dtype);
}

Var Embedding::operator()(Context& ctx, const DeviceTokens& tokens) const {
    return run(ctx, tokens, {}, tokens.ids.dim(1));
}

Var Embedding::at(Context& ctx, const Tensor& ids, const Tensor& first, std::int64_t first_on_host) const {
    return run(ctx, {.ids = ids}, {.first = first}, first_on_host + ids.dim(1));
}

Var Embedding::each_at(Context& ctx, const Tensor& ids, const Tensor& places, std::int64_t end) const {
    return run(ctx, {.ids = ids}, {.places = places}, end);
}

Var Embedding::positions(Context& ctx, const DeviceTokens& tokens, std::int64_t end) const {
    if (positions_.defined() && end > positions_.shape()[0]) {
        throw Error(
            fmt::format("the {} has {} learned positions, but a sequence has {}, pads included: shorten or split "
                        "it, or train with a larger \"max_length\"",
                        stack_, positions_.shape()[0], end));
    }
    if (by_length_) {
        const Tensor all = sinusoids_->by_length(ctx.backend, tokens.lengths, end);
        return Var(all.reshape({tokens.ids.elements(), sinusoids_->columns()}));
    }
    return sinusoids_ ? Var(sinusoids_->table(ctx.backend, end)) : positions_;
}

Var Embedding::with_types(Context& ctx, const DeviceTokens& tokens, const Var& positions, std::int64_t end) const {
    Tensor types = tokens.types;
    if (!types.defined()) {
        types = ctx.backend.empty({1, end}, DType::I32);
        ctx.backend.run(Fill{.out = types, .value = 0.0F});
    }
    return embed(ctx, {.ids = types, .order = tokens.type_order, .table = types_, .positions = positions})
        .reshape({types.elements(), types_.shape()[1]});
}

// A convolution whose windows do not overlap is one product.
Var Embedding::of_patches(Context& ctx, const Tensor& patches) const {
    HEADSCOPE_CHECK(patches.defined(), "the model reads pictures, and the batch has none");
    return linear(ctx, converted(ctx, Var(patches), dtype(ctx.backend)), table_);
}

Var Embedding::run(Context& ctx, const DeviceTokens& tokens, const Place& place, std::int64_t end) const {
    const Shape& shape = tokens.ids.shape;
    // Positions with a row for each of `count` tokens are those of one long text, or of several such.
    const auto embed_tokens = [&](EmbedOperands operands, bool by_token) {
        const std::int64_t count = by_token ? operands.positions.shape()[0] : shape[1];
        operands.ids = operands.ids.reshape({shape.elements() / count, count});
        return embed(ctx, operands).reshape({shape[0], shape[1], operands.table.shape()[1]});
    };
    Var placed = positions(ctx, tokens, end);
    const bool each = place.places.defined() && placed.defined();
    if (each) {
        const Tensor table = placed.value();
        const Tensor own = ctx.backend.empty({place.places.dim(0), table.dim(1)}, table.dtype);
        ctx.backend.run(GatherRows{.x = table, .index = place.places, .out = own});
        placed = Var(own);
    }
    // What is added to the tokens, by itself.
    const auto alone = [&](const Var& added, std::int64_t columns, DType dtype, bool by_token) {
        const Tensor none = ctx.backend.empty(shape, DType::I32);
        ctx.backend.run(Fill{.out = none, .value = static_cast<float>(Embed::kNoToken)});
        const Tensor zero = ctx.backend.empty({1, columns}, dtype);
        ctx.backend.run(Fill{.out = zero, .value = 0.0F});
        return embed_tokens({.ids = none, .table = Var(zero), .positions = added, .first = place.first}, by_token);
    };
    const bool together = position_columns_ == 0 && !norm_first_;
    Var added = together ? placed : Var();
    if (types_.defined()) {
        added = with_types(ctx, tokens, added, end);
    }
    const bool by_token = types_.defined() || ((by_length_ || each) && together);
    const bool apart = added.defined() && (pictures_ || wants_site(ctx, "tokens"));
    Var embedded = pictures_ ? of_patches(ctx, tokens.patches)
                             : embed_tokens({.ids = tokens.ids,
                                             .order = tokens.order,
                                             .table = table_,
                                             .positions = apart ? Var() : added,
                                             .first = place.first,
                                             .scale = scale_},
                                            by_token && !apart);
    embedded = at_site(ctx, "tokens", embedded);
    const DType dtype = embedded.value().dtype;
    if (apart) {
        embedded = add_spending(ctx, alone(added, embedded.shape()[2], dtype, by_token), embedded);
    }
    if (position_columns_ > 0) {
        embedded = concatenate(ctx, embedded, alone(placed, position_columns_, dtype, by_length_ || each));
    }
    Var normed = norm_ ? (*norm_)(ctx, embedded, Var(), {}, tokens.lengths).y : embedded;
    if (norm_first_ && placed.defined()) {
        normed = add_spending(ctx, alone(placed, placed.shape()[1], dtype, by_length_ || each), normed);
    }
    return at_site(ctx, "", dropout_spending(ctx, normed, dropout_rule(ctx, ctx.regularisation.embedding, site_)));
}

}  // namespace headscope
