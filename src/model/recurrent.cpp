#include "model/recurrent.h"

#include <fmt/format.h>

#include "backend/ops/elementwise.h"

namespace headscope {

namespace {

bool is_lstm(const ModelConfig& config, AttentionKind stack) {
    return mixer_of(config, stack) == MixerKind::Lstm;
}

Block block_of(const ModelConfig& config, AttentionKind stack, bool both_ways) {
    const char* const cell = is_lstm(config, stack) ? "LSTM" : "GRU";
    return {.kind = BlockKind::Recurrent,
            .title = both_ways ? fmt::format("Bidirectional {}", cell) : cell,
            .detail = both_ways ? fmt::format("2 \u00d7 {}", config.d_model / 2) : std::to_string(config.d_model)};
}

}  // namespace

Recurrent::Recurrent(const ModelConfig& config, const Scope& scope, AttentionSite site)
    : cell_(is_lstm(config, site.kind) ? RecurrentCell::Lstm : RecurrentCell::Gru),
      columns_(config.d_model),
      layer_(site.layer),
      receives_(site.kind == AttentionKind::DecoderSelf && !config.attention.cross) {
    const bool both_ways = config.mixer.bidirectional && site.kind == AttentionKind::EncoderSelf;
    const std::int64_t d = both_ways ? columns_ / 2 : columns_;
    const std::int64_t rows = gates_of(cell_) * d;
    const bool lstm = cell_ == RecurrentCell::Lstm;
    std::vector<Scope::Rows> inputs = {{"input", rows}};
    if (both_ways) {
        inputs.push_back({"reverse_input", rows});
    }
    scope.block(block_of(config, site.kind, both_ways));
    input_weight_ = scope.weight(inputs, config.d_model);
    input_bias_ = scope.bias(inputs, lstm ? Initial::ForgetGate : Initial::Zero);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Scope::Rows state{directions_.empty() ? "state" : "reverse_state", rows};
        const Var weight = scope.weight({state}, d);
        directions_.push_back({weight, lstm ? Var() : scope.bias({state})});
    }
}

Var Recurrent::project(Context& ctx, const Var& x) const {
    return linear_activation(ctx, x, input_weight_, input_bias_, Activation::None);
}

RecurrentState Recurrent::initial(const Memory& memory) const {
    if (!receives_) {
        return {};
    }
    const Shape& shape = memory.states.shape();  // [batch, layers * states, d_model]
    const bool lstm = cell_ == RecurrentCell::Lstm;
    const std::int64_t first = layer_ * (lstm ? 2 : 1) * columns_;
    const Var flat = memory.states.reshape({shape[0], shape[1] * shape[2]});
    return {flat.narrow(1, first, columns_), lstm ? flat.narrow(1, first + columns_, columns_) : Var()};
}

Var Recurrent::operator()(Context& ctx, const Var& x, const MixerInputs& inputs) const {
    const Recurrence result = recurrence(ctx, cell_, project(ctx, x), directions_, initial(inputs.memory), inputs.mask);
    if (inputs.last_states != nullptr) {
        inputs.last_states->push_back(result.last.hidden);
        if (result.last.cells.defined()) {
            inputs.last_states->push_back(result.last.cells);
        }
    }
    return result.y;
}

CachePlan Recurrent::cache_plan() const {
    CachePlan plan{.states = {{.shape = {1, columns_}}}};
    if (cell_ == RecurrentCell::Lstm) {
        plan.states.push_back({.shape = {1, columns_}, .full = true});
    }
    return plan;
}

void Recurrent::start(Context& ctx, const Cache::Layer& cached, const Memory& memory) const {
    const RecurrentState state = initial(memory);
    for (const auto& [from, index] :
         {std::pair{state.hidden, std::size_t{0}}, std::pair{state.cells, std::size_t{1}}}) {
        if (from.defined()) {
            ctx.backend.run(Copy{.x = from.value(), .out = cached.states[index]});
        }
    }
}

Var Recurrent::append(Context& ctx, const Cache& /*cache*/, const Cache::Layer& cached, const Var& x,
                      const MixerInputs& /*inputs*/) const {
    return continue_recurrence(ctx, cell_, project(ctx, x), directions_.front(), cached.states[0],
                               cell_ == RecurrentCell::Lstm ? cached.states[1] : Tensor());
}

}  // namespace headscope
