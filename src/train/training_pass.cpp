#include "train/training_pass.h"

#include <fmt/format.h>

#include <algorithm>

#include "autograd/tape.h"

namespace headscope {

namespace {

// Everything that the ops depend on and that is not read from memory.
std::string name_of(std::uint64_t model, bool first, bool drops, const TrainingPass::Rules& rules) {
    const Regularisation& rates = rules.regularisation;
    const std::string dropout = !drops ? "none"
                                       : fmt::format("{},{},{},{},{}", rates.residual, rates.embedding, rates.attention,
                                                     rates.activation, rates.seed);
    return fmt::format("pass of model {} {} dropout {} smoothing {},{} chunk {} compute {}{}", model,
                       first ? "first" : "next", dropout, rules.loss.epsilon, static_cast<int>(rules.loss.smoothing),
                       rules.loss.chunk_rows, name_of(rules.compute), rules.watch != nullptr ? " watched" : "");
}

}  // namespace

LossSums TrainingPass::run(const DeviceBatch& batch, bool first, const Tensor& step, const Rules& rules) const {
    const DType real = backend_.real();
    const LossSums sums{backend_.empty({1}, real), backend_.empty({1}, real)};
    std::vector<Tensor> operands = parameters_.memory();
    operands.insert(operands.end(),
                    {model_.positions(backend_, std::max(batch.source_length, batch.target_length)), batch.source,
                     batch.source_lengths, batch.target_in, batch.target_out, batch.target_lengths, batch.ordinals,
                     batch.source_order, batch.target_order, sums.loss, sums.nll, step, rules.loss.gradient_scale});
    if (rules.watch != nullptr) {
        operands.push_back(rules.watch->squares());
    }
    backend_.replay(name_of(model_.identity(), first, step.defined(), rules), operands,
                    [&] { run_now(batch, first, step, rules, sums); });
    return sums;
}

void TrainingPass::run_now(const DeviceBatch& batch, bool first, const Tensor& step, const Rules& rules,
                           const LossSums& sums) const {
    // Must be inside the replayed body: a replay overwrites the same gradients.
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
