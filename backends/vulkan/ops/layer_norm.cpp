// AddLayerNorm and its backward.
//
// Rule: sum, y, mean and rstd are overwritten; each gradient has a Write of its own. sum may be x or residual. A row's
// sums are in F32 over unrounded values; grad_gain and grad_bias sum fixed parts of the rows, then the parts.
#include <algorithm>
#include <bit>
#include <initializer_list>
#include <utility>

#include "backend/compositions.h"
#include "backend/ops/layer_norm.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

namespace {

// How many vec4s of a row each invocation keeps: all of them, if they are few and evenly divided, else 0.
std::uint32_t held_vec4s(const Launch& launch, bool fours, std::uint32_t columns) {
    constexpr std::uint32_t kMost = 16;
    const std::uint32_t lanes = launch.specialisation.local_size;
    const bool even = fours && columns % (8 * lanes) == 0;
    return even && columns / (4 * lanes) <= kMost ? columns / (4 * lanes) : 0;
}

// Packs flags, the first into the lowest bit.
std::uint32_t bits(std::initializer_list<bool> flags) {
    std::uint32_t value = 0;
    std::uint32_t bit = 1;
    for (const bool flag : flags) {
        value += flag ? bit : 0;
        bit *= 2;
    }
    return value;
}

// [batch, length] as [rows]; undefined for the mean of RMS norm.
Tensor of_rows(const Tensor& statistic) {
    return statistic.defined() ? statistic.reshape({statistic.elements()}) : Tensor{};
}

// Rows whose columns a workgroup sums: enough of them to keep its sums few beside what it reads, and more where there
// would be too many parts to add. Up to about 2,000 rows a large GPU has fewer workgroups than it could run.
std::int64_t rows_of_part(std::int64_t rows) {
    constexpr std::int64_t kMostParts = 2048;
    constexpr std::int64_t kLeastRows = 8;
    return std::max(kLeastRows, (rows + kMostParts - 1) / kMostParts);
}

}  // namespace

void VulkanBackend::run(const AddLayerNorm& op) {
    require_types(op);
    const std::int64_t rows = op.x.dim(0) * op.x.dim(1);
    if (op.x.elements() == 0) {
        return;
    }
    const Tensor x = as_rows(op.x);
    const Tensor residual = as_rows(op.residual);
    const Tensor sum = as_rows(op.sum);
    const Tensor y = as_rows(op.y);
    const Tensor mean = of_rows(op.mean);
    const Tensor rstd = of_rows(op.rstd);
    AddLayerNormParams params{};
    params.sequence = u32(op.x.dim(1));
    params.columns = u32(op.x.dim(2));
    params.epsilon = op.epsilon;
    params.dropout = dropout_params(op.dropout);
    for_row_tiles(rows, x.dim(1), [&](std::int64_t first, std::int64_t count) {
        params.first_row = u32(first);
        const Tensor x_part = x.narrow(0, first, count);
        const Tensor residual_part = part_of(residual, first, count);
        const Tensor sum_part = sum.narrow(0, first, count);
        const Tensor y_part = y.narrow(0, first, count);
        const Launch launch = row_launch(Kernel::AddLayerNorm, static_cast<std::uint64_t>(count), params.columns);
        const bool fours =
            vec4_loads(params.columns, {&x_part, &residual_part, &op.gain, &op.bias, &sum_part, &y_part});
        stream_.dispatch(
            launch,
            AddLayerNormConstants{.fours = fours,
                                  .drops = drops(params.dropout),
                                  .held = held_vec4s(launch, fours, params.columns),
                                  .has = bits({op.residual.defined(), op.bias.defined(), op.mean.defined()})},
            params,
            {.x = x_part,
             .residual = residual_part,
             .gain = op.gain,
             .bias = op.bias,
             .step = op.dropout.step,
             .ordinals = op.dropout.ordinals,
             .sum = sum_part,
             .y = y_part,
             .mean = part_of(mean, first, count),
             .rstd = rstd.narrow(0, first, count)});
    });
}

void VulkanBackend::run(const AddLayerNormBackward& op) {
    require_types(op);
    const bool has_rows = op.sum.elements() != 0 && (op.grad_x.defined() || op.grad_residual.defined());
    const LayerNormPlan plan = plan_layer_norm(op);
    if (!has_rows || !plan.sums) {
        layer_norm_gain(op);
    }
    if (has_rows) {
        layer_norm_rows(op, plan);
    }
    sum_columns(*this, op.grad_x, op.grad_x_sums, op.write_x_sums);
}

VulkanBackend::LayerNormPlan VulkanBackend::plan_layer_norm(const AddLayerNormBackward& op) const {
    LayerNormPlan plan;
    const std::uint32_t columns = u32(op.sum.dim(2));
    plan.launch = row_launch(Kernel::AddLayerNormBackward, 0, columns);
    std::uint32_t& lanes = plan.launch.specialisation.local_size;
    plan.fours = vec4_loads(columns, {&op.sum, &op.gain, &op.grad_y, &op.grad_sum_out, &op.grad_x, &op.grad_residual});
    const auto held_by = [&](std::uint32_t most_columns) {
        lanes = std::clamp(std::bit_floor(columns / most_columns), lanes, std::max(lanes, 256U));
        return held_vec4s(plan.launch, plan.fours, columns);
    };
    // Columns of an invocation, which has a gradient, a normal value and two sums of each. On Intel with 16 Mesa 22.3
    // spills 9 to 15 registers of a row of 512 (./do check intel).
    const Capabilities& found = device_.capabilities();
    const bool chooses = options_.row_lanes == 0 && !found.software;
    plan.held = held_by(!chooses ? columns + 1 : found.subgroup_sizes.share_registers() ? 8 : 16);
    constexpr std::uint32_t kMostHeldWithSums = 8;  // vec4s in each of four arrays: 128 registers
    // llvmpipe takes twice as long to compile the kernel that does both.
    plan.sums = plan.held != 0 && plan.held <= kMostHeldWithSums && op.grad_y.defined() &&
                (!found.software || options_.row_lanes != 0);
    return plan;
}

// grad_gain and grad_bias: column sums in two levels, as in sum_rows.
void VulkanBackend::layer_norm_gain(const AddLayerNormBackward& op) {
    const std::int64_t columns = op.sum.dim(2);
    const std::int64_t rows = op.sum.dim(0) * op.sum.dim(1);
    if (columns == 0) {
        return;
    }
    if (rows == 0 || !op.grad_y.defined()) {
        const Tensor nothing = as_rows(op.sum).narrow(0, 0, 0);
        sum_rows(nothing, op.grad_gain, op.write_gain);
        if (op.grad_bias.defined()) {
            sum_rows(nothing, op.grad_bias, op.write_bias);
        }
        return;
    }
    const Tensor sum = as_rows(op.sum);
    const Tensor mean = of_rows(op.mean);
    const Tensor rstd = of_rows(op.rstd);
    const Tensor grad_y = as_rows(op.grad_y);
    const bool has_bias = op.grad_bias.defined();
    Write write_gain = op.write_gain;
    Write write_bias = op.write_bias;
    for_row_tiles(rows, columns, [&](std::int64_t first, std::int64_t count) {
        const Tensor sum_part = sum.narrow(0, first, count);
        const Tensor grad_y_part = grad_y.narrow(0, first, count);
        const std::int64_t parts = row_parts(count, columns);
        const bool direct = parts == 1;
        const Tensor gain = direct ? op.grad_gain : empty({parts, columns}, DType::F32);
        const Tensor bias = direct || !has_bias ? op.grad_bias : empty({parts, columns}, DType::F32);
        LayerNormGainParams params{};
        params.rows = u32(count);
        params.columns = u32(columns);
        params.rows_per_part = u32((count + parts - 1) / parts);
        params.parts = u32(parts);
        params.accumulate_gain = direct && write_gain == Write::Accumulate ? 1 : 0;
        params.accumulate_bias = direct && write_bias == Write::Accumulate ? 1 : 0;
        stream_.dispatch(
            vec4_launch(Kernel::LayerNormGain, static_cast<std::uint64_t>(parts), params.columns,
                        4 * params.rows_per_part),
            LayerNormGainConstants{.fours = vec4_loads(params.columns, {&sum_part, &grad_y_part, &gain, &bias}),
                                   .has_mean = mean.defined(),
                                   .has_bias = has_bias},
            params,
            {.sum = sum_part,
             .mean = part_of(mean, first, count),
             .rstd = rstd.narrow(0, first, count),
             .grad_y = grad_y_part,
             .grad_gain = gain,
             .grad_bias = bias});
        if (!direct) {
            sum_rows(gain, op.grad_gain, write_gain);
            if (has_bias) {
                sum_rows(bias, op.grad_bias, write_bias);
            }
        }
        write_gain = Write::Accumulate;
        write_bias = Write::Accumulate;
    });
}

void VulkanBackend::layer_norm_rows(const AddLayerNormBackward& op, const LayerNormPlan& plan) {
    const std::int64_t rows = op.sum.dim(0) * op.sum.dim(1);
    const std::int64_t columns = op.sum.dim(2);
    const Tensor sum = as_rows(op.sum);
    const Tensor mean = of_rows(op.mean);
    const Tensor rstd = of_rows(op.rstd);
    const Tensor grad_y = as_rows(op.grad_y);
    const Tensor grad_sum_out = as_rows(op.grad_sum_out);
    const Tensor grad_x = as_rows(op.grad_x);
    const Tensor grad_residual = as_rows(op.grad_residual);
    AddLayerNormBackwardParams params{};
    params.sequence = u32(op.sum.dim(1));
    params.columns = u32(columns);
    const std::uint32_t has =
        bits({op.grad_y.defined(), op.grad_sum_out.defined(), op.grad_x.defined(), op.grad_residual.defined(),
              op.write_x == Write::Accumulate, op.write_residual == Write::Accumulate, op.mean.defined(), plan.sums,
              plan.sums && op.grad_bias.defined()});
    params.dropout = dropout_params(op.dropout);
    Write write_gain = op.write_gain;
    Write write_bias = op.write_bias;
    for_row_tiles(rows, columns, [&](std::int64_t first, std::int64_t count) {
        const std::int64_t part = plan.sums ? rows_of_part(count) : 1;
        const std::int64_t parts = (count + part - 1) / part;
        const Tensor gain_parts = plan.sums ? empty({parts, columns}, DType::F32) : Tensor{};
        const Tensor bias_parts = plan.sums && op.grad_bias.defined() ? empty({parts, columns}, DType::F32) : Tensor{};
        params.first_row = u32(first);
        params.rows = u32(count);
        params.rows_per_part = u32(part);
        Launch launch = plan.launch;
        launch.groups = static_cast<std::uint64_t>(parts);
        launch.work_per_group *= static_cast<std::uint64_t>(part);
        stream_.dispatch(launch,
                         AddLayerNormBackwardConstants{
                             .fours = plan.fours, .drops = drops(params.dropout), .held = plan.held, .has = has},
                         params,
                         {.sum = sum.narrow(0, first, count),
                          .gain = op.gain,
                          .mean = part_of(mean, first, count),
                          .rstd = rstd.narrow(0, first, count),
                          .grad_y = part_of(grad_y, first, count),
                          .grad_sum_out = part_of(grad_sum_out, first, count),
                          .step = op.dropout.step,
                          .ordinals = op.dropout.ordinals,
                          .grad_x = part_of(grad_x, first, count),
                          .grad_residual = part_of(grad_residual, first, count),
                          .gain_parts = gain_parts,
                          .bias_parts = bias_parts});
        if (plan.sums) {
            sum_rows(gain_parts, op.grad_gain, std::exchange(write_gain, Write::Accumulate));
        }
        if (bias_parts.defined()) {
            sum_rows(bias_parts, op.grad_bias, std::exchange(write_bias, Write::Accumulate));
        }
    });
}

}  // namespace headscope::vulkan
