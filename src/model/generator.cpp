#include "model/generator.h"

#include <fmt/format.h>

#include "backend/ops/elementwise.h"
#include "backend/ops/search.h"
#include "data/batch.h"
#include "model/family.h"
#include "model/projection.h"
#include "model/residual.h"
#include "model/stack.h"
#include "support/check.h"

namespace headscope {

void require_left_to_right(const ModelConfig& config) {
    if (config.generation == Generation::MaskPredict) {
        throw Error(
            "the model fills in masks (\"generation\" is \"mask_predict\"): this needs one that writes from left to "
            "right");
    }
}

const Generator& as_generator(const Model& model) {
    if (const auto* generator = dynamic_cast<const Generator*>(&model)) {
        return *generator;
    }
    require_left_to_right(model.config());
    const FamilyTraits& family = traits(model.config().architecture);
    throw Error(fmt::format("a {} writes no text: use headscope {}", family.name, family.command));
}

Tensor Generator::step(Context& ctx, Cache& cache, const Tensor& ids) const {
    HEADSCOPE_CHECK(ctx.tape == nullptr, "decoding with a cache records no tape");
    cache.make_room(ctx.backend, 1);
    const Var hidden = writer().append(ctx, cache, ids);
    const Tensor result = logits(ctx, hidden).value().reshape({cache.rows, config_.target_vocabulary});
    cache.advance(ctx.backend, 1);
    return result;
}

// A step's ops depend on its cache, its operands, and what the model does not keep the same.
Dependencies Generator::dependencies_of_step(const Context& ctx, const Cache& cache,
                                             std::initializer_list<Tensor> operands) const {
    Dependencies all;
    cache.add_to(all);
    for (const Tensor& operand : operands) {
        all.add(operand);
    }
    all.add(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(this)));
    all.add(static_cast<std::int64_t>(ctx.compute));
    positions_->add_to(all);
    all.add(cache.longest() < config_.max_length ? 1 : 0);  // past the last learned position a step is an error
    return all;
}

void Generator::step_top_k(Context& ctx, Cache& cache, const Tensor& ids, const Tensor& log_probabilities,
                           const Tensor& tokens, const Tensor& kept) const {
    HEADSCOPE_CHECK(ctx.tape == nullptr, "decoding with a cache records no tape");
    cache.make_room(ctx.backend, 1);
    const bool by_clusters =
        !kept.defined() && ctx.hooks == nullptr && projection().ranks_clusters(ctx.backend, tokens.dim(1));
    const auto run = [&] {
        const Var hidden = writer().append(ctx, cache, ids);
        if (by_clusters) {
            set_label(ctx, "projection", "");
            projection().likeliest(ctx, projection().transform(ctx, hidden), log_probabilities, tokens);
            return;
        }
        const Tensor all = logits(ctx, hidden).value().reshape({cache.rows, config_.target_vocabulary});
        ctx.backend.run(LogSoftmaxTopK{.logits = all, .values = log_probabilities, .indices = tokens});
        if (kept.defined()) {
            ctx.backend.run(Copy{.x = all, .out = kept});
        }
    };
    if (ctx.observer == nullptr) {
        prepare(ctx.backend, padded_length(cache.length + 1));
    }
    if (ctx.observer != nullptr || by_clusters) {
        run();
    } else {
        // Steps run the same ops until the number of cached tokens reaches the next multiple of 8.
        ctx.backend.replay_again("decoding step", cache.step,
                                 dependencies_of_step(ctx, cache, {ids, log_probabilities, tokens, kept}), run);
    }
    cache.advance(ctx.backend, 1);
}

void Generator::read(Context& ctx, Cache& cache, const Tensor& ids) const {
    HEADSCOPE_CHECK(ctx.tape == nullptr, "decoding with a cache records no tape");
    cache.make_room(ctx.backend, ids.dim(1));
    writer().append(ctx, cache, ids);
    cache.advance(ctx.backend, ids.dim(1));
}

}  // namespace headscope
