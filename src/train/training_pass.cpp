#include "train/training_pass.h"

#include <algorithm>

#include "autograd/tape.h"

namespace headscope {

LossSums TrainingPass::run(const DeviceBatch& batch, bool first, const Tensor& step, const Rules& rules) const {
    const DType real = backend_.real();
    const LossSums sums{backend_.empty({1}, real), backend_.empty({1}, real)};
    model_.prepare(backend_, std::max(batch.source_length, batch.target_length));
    backend_.replay("training pass", [&] { run_now(batch, first, step, rules, sums); });
    return sums;
}

void TrainingPass::run_now(const DeviceBatch& batch, bool first, const Tensor& step, const Rules& rules,
                           const LossSums& sums) const {
    // Inside the body, which is called several times: each call must find the gradients unwritten.
    if (first) {
        parameters_.forget_gradients();
    }
    Tape tape;
    if (rules.watch != nullptr) {
        rules.watch->begin();
        tape.on_final_gradient = [&rules](const Var& parameter) { rules.watch->final_gradient(parameter); };
    }
    Context ctx{.backend = backend_, .tape = &tape, .compute = rules.compute, .label = rules.label};
    if (step.defined()) {
        ctx.regularisation = rules.regularisation;
        ctx.regularisation.step = step;
        ctx.regularisation.ordinals = batch.ordinals;
    }
    const LossSums found = model_.loss(ctx, batch, rules.loss);
    backend_.run(Copy{.x = found.loss, .out = sums.loss});
    backend_.run(Copy{.x = found.nll, .out = sums.nll});
}

}  // namespace headscope
