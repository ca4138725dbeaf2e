// RecurrentStep and its backward.
//
// Rule: every output is overwritten. next_hidden may be hidden, next_state state, the gates of an LSTM x, and both
// gradients of the step before those of the step after. Each element is computed in F32 and rounded once, and depends
// on no other column, so the order of work cannot show.
#include <algorithm>
#include <initializer_list>

#include "backend/ops/recurrent.h"
#include "backends/vulkan/vulkan_backend_impl.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

std::uint32_t row_step(const Tensor& tensor) {
    return tensor.defined() ? u32(tensor.stride(0)) : 0;
}

std::uint32_t positions_of(const RecurrentPosition& at) {
    return at.documents.defined() ? u32(at.documents.dim(1)) : 0;
}

// As kHasDocuments and kFromEnd.
std::uint32_t document_bits(const RecurrentPosition& at) {
    return (at.documents.defined() ? 32U : 0U) | (at.from_end ? 64U : 0U);
}

// Whether the rows of all these matrices, those that are present, can be loaded by vec4.
bool steps_by_fours(std::initializer_list<const Tensor*> tensors) {
    return std::all_of(tensors.begin(), tensors.end(), [](const Tensor* tensor) {
        return !tensor->defined() || tensor->rank() != 2 || tensor->stride(0) % 4 == 0;
    });
}

// The same op on a range of its rows.
RecurrentStep rows_of(const RecurrentStep& op, std::int64_t first, std::int64_t count) {
    RecurrentStep part = op;
    for (Tensor* tensor : {&part.x, &part.h, &part.hidden, &part.state, &part.at.lengths, &part.at.documents,
                           &part.next_hidden, &part.next_state, &part.y, &part.gates}) {
        *tensor = part_of(*tensor, first, count);
    }
    return part;
}

RecurrentStepBackward rows_of(const RecurrentStepBackward& op, std::int64_t first, std::int64_t count) {
    RecurrentStepBackward part = op;
    for (Tensor* tensor : {&part.gates, &part.hidden, &part.state, &part.at.lengths, &part.at.documents, &part.grad_y,
                           &part.grad_next_hidden, &part.grad_next_state, &part.grad_x, &part.grad_h, &part.grad_hidden,
                           &part.grad_state}) {
        *tensor = part_of(*tensor, first, count);
    }
    return part;
}

}  // namespace

void VulkanBackend::run(const RecurrentStep& op) {
    require_types(op);
    const std::int64_t rows = op.next_hidden.dim(0);
    const bool gru = op.cell == RecurrentCell::Gru;
    if (op.next_hidden.elements() == 0) {
        return;
    }
    if (!fit_bindings({&op.x, &op.h, &op.hidden, &op.state, &op.next_hidden, &op.next_state, &op.y, &op.gates})) {
        HEADSCOPE_CHECK(rows > 1, "one row of a recurrent step is larger than a binding");
        run(rows_of(op, 0, rows / 2));
        run(rows_of(op, rows / 2, rows - rows / 2));
        return;
    }
    RecurrentStepParams params{};
    params.rows = u32(rows);
    params.columns = u32(op.next_hidden.dim(1));
    params.position = u32(op.at.position);
    params.positions = positions_of(op.at);
    params.x_row = row_step(op.x);
    params.h_row = row_step(op.h);
    params.hidden_row = row_step(op.hidden);
    params.state_row = row_step(op.state);
    params.next_hidden_row = row_step(op.next_hidden);
    params.next_state_row = row_step(op.next_state);
    params.y_row = row_step(op.y);
    params.gates_row = row_step(op.gates);
    const std::initializer_list<const Tensor*> matrices{
        &op.x, &op.h, &op.bias, &op.hidden, &op.state, &op.next_hidden, &op.next_state, &op.y, &op.gates};
    stream_.dispatch(vec4_launch(Kernel::RecurrentStep, params.rows, params.columns, 32),
                     RecurrentStepConstants{.fours = steps_by_fours(matrices) && vec4_loads(params.columns, matrices),
                                            .gru = gru,
                                            .has = (op.bias.defined() ? 1U : 0U) | (op.h.defined() ? 2U : 0U) |
                                                   (op.at.lengths.defined() ? 4U : 0U) | (op.y.defined() ? 8U : 0U) |
                                                   (op.gates.defined() ? 16U : 0U) | document_bits(op.at)},
                     params,
                     {.x = op.x,
                      .h = op.h,
                      .bias = op.bias,
                      .hidden = op.hidden,
                      .state = op.state,
                      .lengths = op.at.lengths,
                      .documents = op.at.documents,
                      .next_hidden = op.next_hidden,
                      .next_state = op.next_state,
                      .y = op.y,
                      .gates = op.gates});
}

void VulkanBackend::run(const RecurrentStepBackward& op) {
    require_types(op);
    const std::int64_t rows = op.grad_hidden.dim(0);
    if (op.grad_hidden.elements() == 0) {
        return;
    }
    const std::initializer_list<const Tensor*> matrices{
        &op.gates,           &op.hidden, &op.state,  &op.grad_y,      &op.grad_next_hidden,
        &op.grad_next_state, &op.grad_x, &op.grad_h, &op.grad_hidden, &op.grad_state};
    if (!fit_bindings(matrices)) {
        HEADSCOPE_CHECK(rows > 1, "one row of a recurrent step is larger than a binding");
        run(rows_of(op, 0, rows / 2));
        run(rows_of(op, rows / 2, rows - rows / 2));
        return;
    }
    RecurrentStepBackwardParams params{};
    params.rows = u32(rows);
    params.columns = u32(op.grad_hidden.dim(1));
    params.position = u32(op.at.position);
    params.positions = positions_of(op.at);
    params.gates_row = row_step(op.gates);
    params.hidden_row = row_step(op.hidden);
    params.state_row = row_step(op.state);
    params.grad_y_row = row_step(op.grad_y);
    params.grad_next_hidden_row = row_step(op.grad_next_hidden);
    params.grad_next_state_row = row_step(op.grad_next_state);
    params.grad_x_row = row_step(op.grad_x);
    params.grad_h_row = row_step(op.grad_h);
    params.grad_hidden_row = row_step(op.grad_hidden);
    params.grad_state_row = row_step(op.grad_state);
    stream_.dispatch(vec4_launch(Kernel::RecurrentStepBackward, params.rows, params.columns, 32),
                     RecurrentStepBackwardConstants{
                         .fours = steps_by_fours(matrices) && vec4_loads(params.columns, matrices),
                         .gru = op.cell == RecurrentCell::Gru,
                         .has = (op.grad_y.defined() ? 1U : 0U) | (op.grad_next_hidden.defined() ? 2U : 0U) |
                                (op.grad_next_state.defined() ? 4U : 0U) | (op.at.lengths.defined() ? 8U : 0U) |
                                document_bits(op.at)},
                     params,
                     {.gates = op.gates,
                      .hidden = op.hidden,
                      .state = op.state,
                      .lengths = op.at.lengths,
                      .documents = op.at.documents,
                      .grad_y = op.grad_y,
                      .grad_next_hidden = op.grad_next_hidden,
                      .grad_next_state = op.grad_next_state,
                      .grad_x = op.grad_x,
                      .grad_h = op.grad_h,
                      .grad_hidden = op.grad_hidden,
                      .grad_state = op.grad_state});
}

}  // namespace headscope::vulkan
