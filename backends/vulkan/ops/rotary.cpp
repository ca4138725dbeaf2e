// Rotate.
//
// Rule: out is overwritten; turning works in place. Each pair is computed in F32 and rounded once, so the order of work
// cannot show.
#include <utility>

#include "backend/ops/elementwise.h"
#include "backend/ops/rotary.h"
#include "backends/vulkan/ops/heads.h"
#include "support/check.h"

namespace headscope::vulkan {

void VulkanBackend::run(const Rotate& op) {
    require_types(op);
    const std::int64_t turned = 2 * op.turns.dim(2);
    const std::int64_t rest = op.x.dim(3) - turned;
    const bool in_place = op.x.buffer == op.out.buffer && op.x.offset == op.out.offset;
    if (rest > 0 && !in_place) {
        run(Copy{.x = op.x.narrow(3, turned, rest), .out = op.out.narrow(3, turned, rest)});
    }
    if (turned > 0 && op.x.elements() > 0) {
        rotate_tiles(op, 0);
    }
}

// `first_position`: that of the tile in the whole.
void VulkanBackend::rotate_tiles(const Rotate& op, std::int64_t first_position) {
    if (!fits_binding(op.x) || !fits_binding(op.out)) {
        int dim = 0;
        while (dim < 2 && op.x.dim(dim) == 1) {
            ++dim;
        }
        const std::int64_t size = op.x.dim(dim);
        HEADSCOPE_CHECK(size > 1, "one row of " + op.x.to_string() + " is larger than a binding");
        for (const auto& [start, count] :
             {std::pair{std::int64_t{0}, size / 2}, std::pair{size / 2, size - size / 2}}) {
            Rotate half = op;
            half.x = op.x.narrow(dim, start, count);
            half.out = op.out.narrow(dim, start, count);
            rotate_tiles(half, dim == 2 ? first_position + start : first_position);
        }
        return;
    }
    const std::int64_t pairs = op.turns.dim(2);
    const Tensor turns = op.turns.reshape({op.turns.dim(0), 2 * pairs});
    const std::int64_t rows = op.x.elements() / op.x.dim(3);
    RotateParams params{};
    params.fours = u32(rows * ((pairs + 3) / 4));
    for (int dim = 0; dim < 3; ++dim) {
        params.shape[dim] = u32(op.x.dim(dim));
    }
    params.shape[3] = u32(pairs);
    write_strides(op.x, params.x_strides);
    write_strides(op.out, params.out_strides);
    params.positions = u32(turns.dim(0));
    params.first_position = u32(first_position);
    params.has_first = op.first.defined() ? 1 : 0;
    params.sign = op.inverse ? -1.0F : 1.0F;
    const auto with_turns = [&](std::int64_t first, std::int64_t count) {
        const Tensor part = turns.narrow(0, first, count);
        params.turns_first = u32(first);
        params.turns_rows = u32(count);
        const bool aligned = pairs % 4 == 0 && are_wide({&op.x, &op.out});
        stream_.dispatch(
            vec4_launch(Kernel::Rotate, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(pairs)),
            RotateConstants{
                .fours = vec4_loads(aligned ? 4 : 1, {&part}), .dimensions = 4, .neighbours = op.neighbours},
            params, {.x = op.x, .turns = part, .first = op.first, .out = op.out});
    };
    if (turns.dim(0) == 0) {
        with_turns(0, 0);  // every position is past the table
    } else {
        for_row_tiles(turns.dim(0), turns.dim(1), with_turns);
    }
}

}  // namespace headscope::vulkan
