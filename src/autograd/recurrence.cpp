#include "autograd/recurrence.h"

#include <utility>

#include "autograd/weight_product.h"
#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "backend/ops/recurrent.h"
#include "support/check.h"

namespace headscope {

namespace {

// What all steps of one direction share, and what the backward keeps of them.
struct Direction {
    RecurrentCell cell = RecurrentCell::Lstm;
    RecurrentWeights weights = {};
    std::int64_t d = 0;
    std::int64_t number = 0;
    std::int64_t length = 0;
    bool from_end = false;
    bool starts_at_zero = true;
    Tensor lengths = {}, documents = {};
    // Before each position, [batch, length, d]; undefined without a tape.
    Tensor hidden = {}, cells = {};
    // [batch, d] each: what was last written.
    Tensor last_hidden = {}, last_cells = {};
    Tensor gates = {};  // [batch, length, 4 d]

    bool lstm() const { return cell == RecurrentCell::Lstm; }
    std::int64_t position(std::int64_t step) const { return from_end ? length - 1 - step : step; }
    RecurrentPosition at(std::int64_t position) const { return {position, from_end, lengths, documents}; }
};

// One position of [batch, length, columns] as [batch, columns]; undefined if x is.
Tensor at_position(const Tensor& x, std::int64_t position) {
    if (!x.defined()) {
        return {};
    }
    Tensor row = x.narrow(1, position, 1);
    row.shape = {x.dim(0), x.dim(2)};
    row.strides = {x.stride(0), 1};
    return row;
}

// [batch, length, columns], with free strides between rows, as [batch * length, columns].
Tensor as_rows(const Tensor& x) {
    Tensor rows = x;
    rows.shape = {x.dim(0) * x.dim(1), x.dim(2)};
    rows.strides = {x.stride(1), 1};
    return rows;
}

// A direction's share of the last dimension.
Tensor share_of(const Tensor& x, const Direction& way, std::int64_t columns) {
    return x.defined() ? x.narrow(x.rank() - 1, way.number * columns, columns) : Tensor();
}

// What `history` holds at a step: without one, what is overwritten by each.
Tensor before(const Direction& way, const Tensor& history, const Tensor& last, std::int64_t step) {
    return history.defined() && step < way.length ? at_position(history, way.position(step)) : last;
}

void set_first(Backend& backend, const Tensor& at, const Var& value, const Direction& way) {
    if (value.defined()) {
        backend.run(Copy{.x = share_of(value.value(), way, way.d), .out = at});
    } else {
        backend.run(Fill{.out = at, .value = 0.0F});
    }
}

void run_forward(Context& ctx, const Direction& way, const Tensor& inputs, const Tensor& y) {
    const std::int64_t wide = gates_of(way.cell) * way.d;
    const Tensor product = ctx.backend.empty({inputs.dim(0), wide}, inputs.dtype);
    const Tensor x = share_of(inputs, way, wide);
    const Tensor out = share_of(y, way, way.d);
    for (std::int64_t step = 0; step < way.length; ++step) {
        const std::int64_t position = way.position(step);
        const Tensor hidden = before(way, way.hidden, way.last_hidden, step);
        const bool has_product = step > 0 || !way.starts_at_zero;
        if (has_product) {
            multiply(ctx, {.x = hidden, .weight = way.weights.weight, .out = product});
        }
        ctx.backend.run(RecurrentStep{.cell = way.cell,
                                      .x = at_position(x, position),
                                      .h = has_product ? product : Tensor(),
                                      .bias = way.weights.bias.defined() ? way.weights.bias.value() : Tensor(),
                                      .hidden = hidden,
                                      .state = before(way, way.cells, way.last_cells, step),
                                      .next_hidden = before(way, way.hidden, way.last_hidden, step + 1),
                                      .next_state = before(way, way.cells, way.last_cells, step + 1),
                                      .y = at_position(out, position),
                                      .gates = at_position(way.gates, position),
                                      .at = way.at(position)});
    }
}

struct Gradients {
    Tensor y, last_hidden, last_cells;  // may be undefined
    Tensor inputs;                      // [batch, length, directions * gates * d]
};

// Adds the gradient of the first step's state to that of the initial one.
void pass_on(Backend& backend, const Tensor& gradient, const GradientTarget& initial, const Direction& way) {
    if (initial.tensor.defined()) {
        backend.run(Copy{.x = gradient, .out = share_of(initial.tensor, way, way.d), .write = initial.write});
    }
}

void add_weight_gradients(Backend& backend, const Direction& way, const Tensor& grad_products, Compute compute) {
    if (way.weights.weight.requires_grad()) {
        const GradientTarget to = way.weights.weight.gradient_target(backend);
        backend.run(Matmul{.a = as_rows(grad_products),
                           .b = as_rows(way.hidden),
                           .out = to.tensor,
                           .transpose_a = true,
                           .beta = to.write == Write::Accumulate ? 1.0F : 0.0F,
                           .compute = compute});
    }
    if (way.weights.bias.defined() && way.weights.bias.requires_grad()) {
        const GradientTarget to = way.weights.bias.gradient_target(backend);
        backend.run(SumRows{.x = as_rows(grad_products), .out = to.tensor, .write = to.write});
    }
}

// Backward through time.
void run_backward(Backend& backend, const Direction& way, const Gradients& grads, const GradientTarget& initial_hidden,
                  const GradientTarget& initial_cells, Compute compute) {
    const std::int64_t batch = way.hidden.dim(0);
    const std::int64_t wide = gates_of(way.cell) * way.d;
    const DType dtype = way.hidden.dtype;
    const Tensor grad_x = share_of(grads.inputs, way, wide);
    const Tensor grad_h = way.lstm() ? grad_x : backend.empty({batch, way.length, wide}, dtype);
    const Tensor grad_y = share_of(grads.y, way, way.d);
    const Tensor hidden = backend.empty({batch, way.d}, dtype);
    const Tensor cells = way.lstm() ? backend.empty({batch, way.d}, way.cells.dtype) : Tensor();
    const Tensor weight = numbers_of(backend, way.weights.weight);
    for (std::int64_t step = way.length; step-- > 0;) {
        const std::int64_t position = way.position(step);
        const bool is_last = step + 1 == way.length;
        backend.run(
            RecurrentStepBackward{.cell = way.cell,
                                  .gates = at_position(way.gates, position),
                                  .hidden = at_position(way.hidden, position),
                                  .state = at_position(way.cells, position),
                                  .grad_y = at_position(grad_y, position),
                                  .grad_next_hidden = is_last ? share_of(grads.last_hidden, way, way.d) : hidden,
                                  .grad_next_state = is_last ? share_of(grads.last_cells, way, way.d) : cells,
                                  .grad_x = at_position(grad_x, position),
                                  .grad_h = way.lstm() ? Tensor() : at_position(grad_h, position),
                                  .grad_hidden = hidden,
                                  .grad_state = cells,
                                  .at = way.at(position)});
        if (step > 0 || initial_hidden.tensor.defined()) {
            backend.run(Matmul{
                .a = at_position(grad_h, position), .b = weight, .out = hidden, .beta = 1.0F, .compute = compute});
        }
    }
    pass_on(backend, hidden, initial_hidden, way);
    pass_on(backend, cells, initial_cells, way);
    add_weight_gradients(backend, way, grad_h, compute);
}

GradientTarget target_of(Backend& backend, const Var& var) {
    return var.requires_grad() ? var.gradient_target(backend) : GradientTarget{};
}

Tensor gradient_of(const Var& var) {
    return var.has_gradient() ? var.gradient() : Tensor();
}

// The memory of a direction: with `kept` that of every step.
Direction prepare(Context& ctx, Direction way, const Tensor& inputs, const Recurrence& result, bool kept) {
    const std::int64_t batch = inputs.dim(0);
    way.last_hidden = share_of(result.last.hidden.value(), way, way.d);
    if (way.lstm()) {
        way.last_cells = share_of(result.last.cells.value(), way, way.d);
    }
    if (kept) {
        const Shape history{batch, way.length, way.d};
        way.hidden = ctx.backend.empty(history, inputs.dtype);
        way.cells = way.lstm() ? ctx.backend.empty(history, ctx.backend.full_dtype()) : Tensor();
        way.gates = way.lstm() ? share_of(inputs, way, 4 * way.d)
                               : ctx.backend.empty({batch, way.length, 4 * way.d}, inputs.dtype);
    }
    return way;
}

}  // namespace

Recurrence recurrence(Context& ctx, RecurrentCell cell, const Var& inputs,
                      const std::vector<RecurrentWeights>& directions, const RecurrentState& initial,
                      const AttentionMask& texts) {
    const Tensor& x = inputs.value();
    const std::int64_t d = directions.front().weight.shape()[1];
    const std::int64_t both = std::ssize(directions) * d;
    const bool lstm = cell == RecurrentCell::Lstm;
    HEADSCOPE_CHECK(x.rank() == 3 && x.dim(1) > 0 && x.dim(2) == gates_of(cell) * both,
                    "the inputs of a recurrence have other gates: " + x.to_string());
    const bool recorded = ctx.tape != nullptr;
    Recurrence result{Var(ctx.backend.empty({x.dim(0), x.dim(1), both}, x.dtype), recorded),
                      {Var(ctx.backend.empty({x.dim(0), both}, x.dtype), recorded),
                       lstm ? Var(ctx.backend.empty({x.dim(0), both}, ctx.backend.full_dtype()), recorded) : Var()}};
    std::vector<Direction> ways;
    std::vector<Var> parameters;
    for (const RecurrentWeights& weights : directions) {
        const Direction way = prepare(ctx,
                                      {.cell = cell,
                                       .weights = weights,
                                       .d = d,
                                       .number = std::ssize(ways),
                                       .length = x.dim(1),
                                       .from_end = !ways.empty(),
                                       .starts_at_zero = !initial.hidden.defined(),
                                       .lengths = texts.key_lengths,
                                       .documents = texts.key_ranges},
                                      x, result, recorded);
        set_first(ctx.backend, before(way, way.hidden, way.last_hidden, 0), initial.hidden, way);
        if (lstm) {
            set_first(ctx.backend, before(way, way.cells, way.last_cells, 0), initial.cells, way);
        }
        run_forward(ctx, way, x, result.y.value());
        ways.push_back(way);
        parameters.insert(parameters.end(), {weights.weight, weights.bias});
    }
    if (recorded) {
        auto backward = [inputs = inputs.without_value(), initial_hidden = initial.hidden.without_value(),
                         initial_cells = initial.cells.without_value(), ways = std::move(ways),
                         y = result.y.without_value(), last_hidden = result.last.hidden.without_value(),
                         last_cells = result.last.cells.without_value(), compute = ctx.compute](Backend& backend) {
            const GradientTarget to = target_of(backend, inputs);
            HEADSCOPE_CHECK(to.write == Write::Overwrite, "the inputs of a recurrence are for it alone");
            const Tensor grad_inputs =
                to.tensor.defined() ? to.tensor : backend.empty(inputs.shape(), ways.front().hidden.dtype);
            const Gradients grads{gradient_of(y), gradient_of(last_hidden), gradient_of(last_cells), grad_inputs};
            const GradientTarget to_hidden = target_of(backend, initial_hidden);
            const GradientTarget to_cells = target_of(backend, initial_cells);
            for (const Direction& way : ways) {
                run_backward(backend, way, grads, to_hidden, to_cells, compute);
            }
        };
        ctx.tape->record("recurrence", parameters, std::move(backward));
    }
    return result;
}

Var continue_recurrence(Context& ctx, RecurrentCell cell, const Var& inputs, const RecurrentWeights& weights,
                        const Tensor& hidden, const Tensor& cells) {
    HEADSCOPE_CHECK(ctx.tape == nullptr, "a state that is overwritten has no gradient");
    const Tensor& x = inputs.value();
    const Tensor y = ctx.backend.empty({x.dim(0), x.dim(1), hidden.dim(1)}, x.dtype);
    run_forward(ctx,
                {.cell = cell,
                 .weights = weights,
                 .d = hidden.dim(1),
                 .length = x.dim(1),
                 .starts_at_zero = false,
                 .last_hidden = hidden,
                 .last_cells = cells},
                x, y);
    return Var(y);
}

Var join(Context& ctx, const std::vector<Var>& parts) {
    std::int64_t columns = 0;
    for (const Var& part : parts) {
        columns += part.shape()[1];
    }
    const Tensor out = ctx.backend.empty({parts.front().shape()[0], columns}, parts.front().value().dtype);
    Var joined(out, ctx.tape != nullptr);
    std::int64_t first = 0;
    for (const Var& part : parts) {
        ctx.backend.run(Copy{.x = part.value(), .out = out.narrow(1, first, part.shape()[1])});
        first += part.shape()[1];
    }
    if (ctx.tape != nullptr) {
        std::vector<Var> targets;
        for (const Var& part : parts) {
            targets.push_back(part.without_value());
        }
        ctx.tape->record("join", {}, [targets = std::move(targets), y = joined.without_value()](Backend& backend) {
            std::int64_t begin = 0;
            for (const Var& target : targets) {
                const std::int64_t size = target.shape()[1];
                if (target.requires_grad()) {
                    const GradientTarget to = target.gradient_target(backend);
                    backend.run(Copy{.x = y.gradient().narrow(1, begin, size), .out = to.tensor, .write = to.write});
                }
                begin += size;
            }
        });
    }
    return joined;
}

}  // namespace headscope
