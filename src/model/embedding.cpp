#include "model/embedding.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

namespace {

std::string table_name(const ModelConfig& config, const std::string& stack) {
    if (config.tying == Tying::All) {
        return "embedding.weight";
    }
    return stack == "encoder" ? "source_embedding.weight" : "target_embedding.weight";
}

}  // namespace

Embedding::Embedding(const ModelConfig& config, const Parameters& parameters, const std::string& stack,
                     std::shared_ptr<Sinusoids> sinusoids, DropoutSites& sites)
    : stack_(stack),
      table_(parameters.at(table_name(config, stack))),
      sinusoids_(std::move(sinusoids)),
      scale_(config.scale_embedding ? std::sqrt(static_cast<float>(config.d_model)) : 1.0F),
      site_(sites.next()) {
    if (config.positions == Positions::Learned) {
        positions_ = parameters.at(stack + ".positions.weight");
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
                fmt::format("a sequence of {} positions, pads counted, went into the {}, whose learned positions are "
                            "{}: shorten or "
                            "split it, or train with a larger \"max_length\"",
                            end, stack_, positions_.shape()[0]));
        }
        operands.positions = positions_;
    } else {
        operands.positions = Var(sinusoids_->table(ctx.backend, end));
    }
    const Var embedded = embed(ctx, operands);
    return dropout_spending(ctx, embedded, dropout_rule(ctx, ctx.regularisation.embedding, site_));
}

}  // namespace headscope
