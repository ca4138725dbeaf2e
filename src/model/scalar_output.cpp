#include "model/scalar_output.h"

#include <fmt/format.h>

#include "autograd/experts.h"
#include "autograd/functions.h"

namespace headscope {

ScalarOutput::ScalarOutput(const ModelConfig& config, const Scope& model) {
    const Scope scope = model.in("output").for_each(&MultiplyAdds::sentence);
    scope.block({.kind = BlockKind::Linear, .title = "Score", .detail = fmt::format("{} \u2192 1", config.d_model)});
    weight_ = scope.full_weight({"scalar", 1}, config.d_model, Initial::Zero);
    bias_ = scope.bias({{"scalar", 1}});
}

Var ScalarOutput::operator()(Context& ctx, const Var& states) const {
    Context full = ctx;
    full.compute = Compute::F32;
    const Var scores = linear(full, converted(ctx, states, ctx.backend.full_dtype()), weight_);
    return bias_activation(ctx, scores, bias_, Activation::None);
}

}  // namespace headscope
