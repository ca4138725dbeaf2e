// Fill, Copy, AddScaled, Dropout.
//
// Rule: out is overwritten; copy, multiply and dropout add to it with Write::Accumulate, without reading it otherwise.
// add_scaled, multiply and dropout work in place. Each element is computed in F32 and rounded once, so the order of
// work cannot show.
#include <algorithm>
#include <array>
#include <bit>

#include "backend/ops/elementwise.h"
#include "backends/vulkan/vulkan_backend_impl.h"
#include "support/check.h"
#include "tensor/dtype.h"

namespace headscope::vulkan {

namespace {

constexpr std::array<DType, 3> kConverted{DType::F16, DType::BF16, DType::F32};  // as convert.comp numbers them

bool is_converted(DType dtype) {
    return std::find(kConverted.begin(), kConverted.end(), dtype) != kConverted.end();
}

std::uint32_t number_of(DType dtype) {
    HEADSCOPE_CHECK(is_converted(dtype), "convert.comp knows no such type");
    return static_cast<std::uint32_t>(std::find(kConverted.begin(), kConverted.end(), dtype) - kConverted.begin());
}

// A shape and the strides of several views, with dimensions merged where all views allow it: fewer divisions in the
// shader.
template <std::size_t N>
struct Merged {
    std::array<std::int64_t, kMaxRank> shape{1, 1, 1, 1};
    std::array<Strides, N> strides{};

    explicit Merged(const std::array<const Tensor*, N>& views) {
        std::size_t next = kMaxRank;  // one past the dimension being filled
        for (int dim = views[0]->rank() - 1; dim >= 0; --dim) {
            const std::int64_t size = views[0]->dim(dim);
            if (size == 1) {
                continue;
            }
            bool merges = next < kMaxRank;
            for (std::size_t view = 0; merges && view < N; ++view) {
                merges = views[view]->stride(dim) == strides[view][next] * shape[next];
            }
            if (merges) {
                shape[next] *= size;
                continue;
            }
            --next;
            // The innermost stride is 1 by contract; if that dimension has size 1, a place is kept for it.
            if (next == kMaxRank - 1 && dim != views[0]->rank() - 1) {
                --next;
            }
            shape[next] = size;
            for (std::size_t view = 0; view < N; ++view) {
                strides[view][next] = views[view]->stride(dim);
            }
        }
    }

    std::uint64_t columns() const { return static_cast<std::uint64_t>(shape[kMaxRank - 1]); }
    std::uint64_t rows() const { return static_cast<std::uint64_t>(shape[0] * shape[1] * shape[2]); }

    // The columns if every row is aligned to four elements when the first is, else 1, which is no multiple of four.
    std::uint64_t vec4_columns() const {
        const bool aligned = std::all_of(strides.begin(), strides.end(), [this](const Strides& view) {
            bool fours = true;
            for (std::size_t dim = 0; dim + 1 < kMaxRank; ++dim) {
                fours = fours && (shape[dim] == 1 || view[dim] % 4 == 0);
            }
            return fours;
        });
        return aligned ? columns() : 1;
    }

    std::uint64_t fours() const { return rows() * ((columns() + 3) / 4); }

    // How many of the innermost dimensions strided.glsl has to visit.
    std::uint32_t dimensions() const { return rows() == 1 ? 1 : shape[0] * shape[1] == 1 ? 2 : 4; }

    // The shape, and each view's strides in order.
    template <class Params, class... To>
    void write(Params& params, To&... to) const {
        params.fours = u32(static_cast<std::int64_t>(fours()));
        for (std::size_t dim = 0; dim < shape.size(); ++dim) {
            params.shape[dim] = u32(shape[dim]);
        }
        std::size_t view = 0;
        (write_strides(view++, to), ...);
    }

private:
    void write_strides(std::size_t view, uint (&to)[3]) const {
        for (std::size_t dim = 0; dim < 3; ++dim) {
            to[dim] = u32(strides[view][dim]);
        }
    }
};

}  // namespace

bool VulkanBackend::transfers(std::initializer_list<const Tensor*> tensors) const {
    return options_.transfers && device_.capabilities().software &&
           std::all_of(tensors.begin(), tensors.end(),
                       [](const Tensor* tensor) { return tensor->contiguous() && size_of(tensor->dtype) == 4; }) &&
           std::adjacent_find(tensors.begin(), tensors.end(), [](const Tensor* one, const Tensor* other) {
               return one->buffer == other->buffer;
           }) == tensors.end();
}

void VulkanBackend::run(const Fill& op) {
    if (op.out.elements() == 0) {
        return;
    }
    FillParams params{};
    if (op.out.dtype == DType::I32) {
        params.bits = std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(op.value));
    } else {
        require_types(op);
        params.bits = bits_of(op.value, op.out.dtype);
    }
    if (transfers({&op.out})) {
        stream_.fill(op.out, params.bits);
        return;
    }
    for_tiles({op.out}, [&](const std::vector<Tensor>& parts) {
        const Merged<1> merged({&parts[0]});
        merged.write(params, params.out_strides);
        stream_.dispatch(
            vec4_launch(Kernel::Fill, merged.rows(), merged.columns()),
            FillConstants{.fours = vec4_loads(merged.vec4_columns(), {&parts[0]}), .dimensions = merged.dimensions()},
            params, {.out = parts[0]});
    });
}

void VulkanBackend::run(const Copy& op) {
    if (op.out.elements() == 0) {
        return;
    }
    if (op.x.dtype != DType::F32 || op.out.dtype != DType::F32) {
        convert(op);
        return;
    }
    if (op.write == Write::Overwrite && transfers({&op.x, &op.out})) {
        stream_.copy(op.x, op.out);
        return;
    }
    CopyParams params{};
    for_tiles({op.x, op.out}, [&](const std::vector<Tensor>& parts) {
        const Merged<2> merged({&parts[0], &parts[1]});
        merged.write(params, params.x_strides, params.out_strides);
        stream_.dispatch(vec4_launch(Kernel::Copy, merged.rows(), merged.columns()),
                         CopyConstants{.fours = vec4_loads(merged.vec4_columns(), {&parts[0], &parts[1]}),
                                       .dimensions = merged.dimensions(),
                                       .accumulates = op.write == Write::Accumulate},
                         params, {.x = parts[0], .out = parts[1]});
    });
}

void VulkanBackend::convert(const Copy& op) {
    CopyParams params{};
    for (const Tensor* tensor : {&op.x, &op.out}) {
        if (!is_converted(tensor->dtype)) {
            throw Error("the vulkan backend copies F32, F16 and BF16, given " + tensor->to_string());
        }
    }
    if (!device_.capabilities().storage16) {
        throw Error(device_.info().name + " has no 16-bit storage buffers, which copying " + op.x.to_string() + " to " +
                    op.out.to_string() + " needs");
    }
    for_tiles({op.x, op.out}, [&](const std::vector<Tensor>& parts) {
        const Merged<2> merged({&parts[0], &parts[1]});
        merged.write(params, params.x_strides, params.out_strides);
        Launch launch = vec4_launch(Kernel::Convert, merged.rows(), merged.columns());
        launch.specialisation.texels = launch.specialisation.texels && op.x.dtype == DType::F32;
        stream_.dispatch(launch,
                         ConvertConstants{.fours = vec4_loads(merged.vec4_columns(), {&parts[0], &parts[1]}),
                                          .dimensions = merged.dimensions(),
                                          .accumulates = op.write == Write::Accumulate,
                                          .x_type = number_of(op.x.dtype),
                                          .out_type = number_of(op.out.dtype)},
                         params, {.x = parts[0], .out = parts[1]});
    });
}

Tensor VulkanBackend::widened(const Tensor& tensor) {
    Tensor wide = empty(tensor.shape, DType::F32);
    run(Copy{.x = tensor, .out = wide});
    return wide;
}

void VulkanBackend::run(const AddScaled& op) {
    if (op.out.elements() == 0) {
        return;
    }
    require_types(op);
    AddScaledParams params{};
    params.alpha = op.alpha;
    params.beta = op.beta;
    const bool has_b = op.b.defined();
    for_tiles({op.a, has_b ? op.b : op.a, op.out}, [&](const std::vector<Tensor>& parts) {
        const Merged<3> merged({&parts[0], &parts[1], &parts[2]});
        merged.write(params, params.a_strides, params.b_strides, params.out_strides);
        stream_.dispatch(
            vec4_launch(Kernel::AddScaled, merged.rows(), merged.columns()),
            AddScaledConstants{.fours = vec4_loads(merged.vec4_columns(), {&parts[0], &parts[1], &parts[2]}),
                               .dimensions = merged.dimensions(),
                               .has_b = has_b},
            params, {.a = parts[0], .b = has_b ? parts[1] : Tensor{}, .out = parts[2]});
    });
}

void VulkanBackend::run(const Multiply& op) {
    if (op.out.elements() == 0) {
        return;
    }
    require_types(op);
    MultiplyParams params{};
    for_tiles({op.a, op.b, op.out}, [&](const std::vector<Tensor>& parts) {
        const Merged<3> merged({&parts[0], &parts[1], &parts[2]});
        merged.write(params, params.a_strides, params.b_strides, params.out_strides);
        stream_.dispatch(
            vec4_launch(Kernel::Multiply, merged.rows(), merged.columns()),
            MultiplyConstants{.fours = vec4_loads(merged.vec4_columns(), {&parts[0], &parts[1], &parts[2]}),
                              .dimensions = merged.dimensions(),
                              .accumulates = op.write == Write::Accumulate},
            params, {.a = parts[0], .b = parts[1], .out = parts[2]});
    });
}

void VulkanBackend::run(const Dropout& op) {
    require_types(op);
    if (op.y.elements() == 0) {
        return;
    }
    if (op.rule.rate == 0.0F) {
        run(Copy{op.x, op.y, op.write});
        return;
    }
    dropout_tiles(op, {0, 0, 0});
}

// `first`: the tile's first batch, head and position in the whole.
void VulkanBackend::dropout_tiles(const Dropout& op, const std::array<std::int64_t, 3>& first) {
    if (!fits_binding(op.x) || !fits_binding(op.y)) {
        const int planes = op.x.rank() - 1;
        int dim = 0;
        while (dim < planes - 1 && op.x.dim(dim) == 1) {
            ++dim;
        }
        const std::int64_t size = op.x.dim(dim);
        HEADSCOPE_CHECK(size > 1, "one row of " + op.x.to_string() + " is larger than a binding");
        // The index of a dimension in batch, head, position: rank 3 has no heads.
        const std::size_t axis = dim == 0 ? 0 : dim == planes - 1 ? 2 : 1;
        for (const auto& [start, count] :
             {std::pair{std::int64_t{0}, size / 2}, std::pair{size / 2, size - size / 2}}) {
            Dropout half = op;
            half.x = op.x.narrow(dim, start, count);
            half.y = op.y.narrow(dim, start, count);
            std::array<std::int64_t, 3> place = first;
            place[axis] += start;
            dropout_tiles(half, place);
        }
        return;
    }
    const bool heads = op.x.rank() == 4;
    DropoutKernelParams params{};
    params.heads = heads ? u32(op.x.dim(1)) : 1;
    params.positions = u32(op.x.dim(-2));
    params.columns = u32(op.x.dim(-1));
    params.first_batch = u32(first[0]);
    params.first_head = u32(first[1]);
    params.first_position = u32(first[2]);
    const auto strides = [&](const Tensor& tensor, uint(&to)[3]) {
        to[0] = u32(tensor.stride(0));
        to[1] = heads ? u32(tensor.stride(1)) : 0;
        to[2] = u32(tensor.stride(-2));
    };
    strides(op.x, params.x_strides);
    strides(op.y, params.y_strides);
    params.dropout = dropout_params(op.rule);
    const auto rows = static_cast<std::uint64_t>(op.x.elements() / op.x.dim(-1));
    const auto fours = [&](const Tensor& tensor) {
        return tensor.stride(0) % 4 == 0 && tensor.stride(-2) % 4 == 0 && (!heads || tensor.stride(1) % 4 == 0);
    };
    stream_.dispatch(
        row_launch(Kernel::Dropout, rows, params.columns),
        DropoutConstants{.fours = vec4_loads(fours(op.x) && fours(op.y) ? params.columns : 1, {&op.x, &op.y}),
                         .accumulates = op.write == Write::Accumulate},
        params, {.x = op.x, .step = op.rule.step, .ordinals = op.rule.ordinals, .y = op.y});
}

}  // namespace headscope::vulkan
