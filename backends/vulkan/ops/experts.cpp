// RouteTokens and its backward, TakeTokens and MixExperts.
//
// Rule: all is overwritten but grad_logits and mix_experts' out, which are added to with Write::Accumulate. Nothing is
// in place. Places are given in the tokens' order, and a token's choices are added in theirs.
#include "backend/ops/experts.h"
#include "backends/vulkan/vulkan_backend_impl.h"
#include "support/check.h"

namespace headscope::vulkan {

void VulkanBackend::run(const RouteTokens& op) {
    require_types(op);
    HEADSCOPE_CHECK(fit_bindings({&op.logits, &op.weights}),
                    "the logits of a router and the weights of its slots must fit a binding, found " +
                        op.logits.to_string() + " and " + op.weights.to_string());
    const std::int64_t tokens = op.logits.dim(0) * op.logits.dim(1);
    RouteTokensParams route{};
    route.tokens = u32(tokens);
    route.experts = u32(op.logits.dim(2));
    route.choices = u32(op.chosen.dim(2));
    if (tokens > 0) {
        const std::uint64_t work = std::uint64_t{route.experts} * (route.choices + 8U);
        stream_.dispatch(vec4_launch(Kernel::RouteTokens, route.tokens, 1, work), route,
                         {.logits = op.logits, .probabilities = op.probabilities, .chosen = op.chosen});
    }
    PlaceTokensParams place{};
    place.tokens = route.tokens;
    place.sequence = u32(op.logits.dim(1));
    place.experts = route.experts;
    place.choices = route.choices;
    place.capacity = u32(op.sources.dim(1));
    stream_.dispatch(long_row_launch(Kernel::PlaceTokens, place.experts, std::uint64_t{place.tokens} * place.choices),
                     PlaceTokensConstants{.has_lengths = op.lengths.defined(), .has_keys = op.keys.defined()}, place,
                     {.probabilities = op.probabilities,
                      .chosen = op.chosen,
                      .lengths = op.lengths,
                      .ordinals = op.ordinals,
                      .slots = op.slots,
                      .sources = op.sources,
                      .weights = op.weights,
                      .keys = op.keys,
                      .shares = op.shares,
                      .sums = op.sums});
}

void VulkanBackend::run(const RouteTokensBackward& op) {
    require_types(op);
    RouteTokensBackwardParams params{};
    params.tokens = u32(op.probabilities.dim(0) * op.probabilities.dim(1));
    params.sequence = u32(op.probabilities.dim(1));
    params.experts = u32(op.probabilities.dim(2));
    params.choices = u32(op.chosen.dim(2));
    if (params.tokens == 0) {
        return;
    }
    const std::uint64_t work = std::uint64_t{params.experts} * params.choices * 4;
    stream_.dispatch(vec4_launch(Kernel::RouteTokensBackward, params.tokens, 1, work),
                     RouteTokensBackwardConstants{.has_lengths = op.lengths.defined(),
                                                  .has_sums = op.grad_sums.defined(),
                                                  .accumulates = op.write == Write::Accumulate},
                     params,
                     {.probabilities = op.probabilities,
                      .lengths = op.lengths,
                      .chosen = op.chosen,
                      .slots = op.slots,
                      .grad_weights = op.grad_weights,
                      .grad_sums = op.grad_sums,
                      .grad_logits = op.grad_logits});
}

void VulkanBackend::run(const TakeTokens& op) {
    require_types(op);
    TakeTokensParams params{};
    params.columns = u32(op.x.dim(1));
    const auto with_x = [&](std::int64_t first_token, std::int64_t tokens) {
        const Tensor x = op.x.narrow(0, first_token, tokens);
        params.first_token = u32(first_token);
        params.tokens = u32(tokens);
        for_row_tiles(op.out.dim(0), op.out.dim(1), [&](std::int64_t first, std::int64_t count) {
            const Tensor out = op.out.narrow(0, first, count);
            const Tensor others = part_of(op.others, first, count);
            stream_.dispatch(row_launch(Kernel::TakeTokens, static_cast<std::uint64_t>(count), params.columns),
                             TakeTokensConstants{.fours = vec4_loads(params.columns, {&x, &others, &out}),
                                                 .has_weights = op.weights.defined(),
                                                 .has_others = op.others.defined(),
                                                 .keeps = first_token > 0},
                             params,
                             {.x = x,
                              .sources = op.sources.narrow(0, first, count),
                              .weights = part_of(op.weights, first, count),
                              .others = others,
                              .to = out,
                              .dots = part_of(op.dots, first, count)});
        });
    };
    if (op.x.dim(0) == 0) {
        with_x(0, 0);
    } else {
        for_row_tiles(op.x.dim(0), op.x.dim(1), with_x);
    }
}

void VulkanBackend::run(const MixExperts& op) {
    require_types(op);
    if (op.out.elements() == 0) {
        return;
    }
    MixExpertsParams params{};
    params.columns = u32(op.out.dim(1));
    params.choices = u32(op.slots.dim(1));
    const auto with_x = [&](std::int64_t first_slot, std::int64_t slots) {
        const Tensor x = op.x.narrow(0, first_slot, slots);
        params.first_slot = u32(first_slot);
        params.count = u32(slots);
        for_row_tiles(op.out.dim(0), op.out.dim(1), [&](std::int64_t first, std::int64_t count) {
            const Tensor out = op.out.narrow(0, first, count);
            params.tokens = u32(count);
            stream_.dispatch(vec4_launch(Kernel::MixExperts, params.tokens, params.columns, params.choices),
                             MixExpertsConstants{.fours = vec4_loads(params.columns, {&x, &out}),
                                                 .has_weights = op.weights.defined(),
                                                 .accumulates = op.write == Write::Accumulate || first_slot > 0},
                             params,
                             {.x = x,
                              .slots = op.slots.narrow(0, first, count),
                              .weights = part_of(op.weights, first_slot, slots),
                              .to = out});
        });
    };
    if (op.x.dim(0) == 0) {
        with_x(0, 0);
    } else {
        for_row_tiles(op.x.dim(0), op.x.dim(1), with_x);
    }
}

}  // namespace headscope::vulkan
