// The class behind VulkanDevices::open. Each family of ops has a source file in ops/.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/attention_mask.h"
#include "backend/backend.h"
#include "backend/dropout_rule.h"
#include "backend/replays.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/options.h"
#include "backends/vulkan/products/head_plan.h"
#include "backends/vulkan/products/product_plan.h"
#include "backends/vulkan/products/product_tuning.h"
#include "backends/vulkan/stream/memory.h"
#include "backends/vulkan/stream/pipelines.h"
#include "backends/vulkan/stream/stream.h"
#include "shaders/include/params.h"

namespace headscope::vulkan {

// The work of an attention kernel for each of its rows: products and arrays of `depth` columns with each of `others`
// rows.
struct RowWork {
    std::int64_t products = 0;
    std::int64_t depth = 0;
    std::int64_t others = 0;
    bool wide = false;  // vec4 loads
    std::uint64_t operations() const {
        constexpr std::int64_t kExponential = 32;
        return static_cast<std::uint64_t>((2 * products * depth + kExponential) * (others > 0 ? others : 1));
    }
};

class VulkanBackend final : public Backend {
public:
    VulkanBackend(std::shared_ptr<const Instance> instance, VkPhysicalDevice physical, Probe probed,
                  const Options& options);

    const DeviceInfo& device() const override { return device_.info(); }
    Tensor empty(const Shape& shape, DType dtype) override;
    void upload(const Tensor& to, const void* from, std::size_t bytes) override;
    void download(const Tensor& from, void* to, std::size_t bytes) override;
    void synchronize() override;
    std::shared_ptr<Event> record_event() override;
    Support events() const override;
    bool replays() const override { return options_.replays; }
    void replay(const std::string& key, const std::function<void()>& body) override;
    std::vector<std::string> drain_kernel_names() override { return stream_.drain_kernel_names(); }
    ProductWays* product_ways() override { return &tuning_; }
    MemoryUse memory() const override { return memory_->use(); }
    Support support(OpId op, DType dtype) const override;
    Support products(Compute compute) const override;
    Support weights(DType dtype) const override;
    Support key_rows(std::int64_t depth) const override;

    using Backend::run;
#define HEADSCOPE_DECLARE(Op) void run(const Op& op) override;
    HEADSCOPE_CORE_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE
    void run(const Attention& op) override;
    void run(const AttentionBackward& op) override;
    void run(const Linear& op) override;

private:
    // One workgroup of one subgroup for each row: a reduction needs no barrier.
    Launch row_launch(Kernel kernel, std::uint64_t rows, std::uint64_t columns) const;
    // The same for long rows (a vocabulary), for which a GPU needs more invocations.
    Launch long_row_launch(Kernel kernel, std::uint64_t rows, std::uint64_t columns) const;
    // Each invocation handles four neighbours of a row.
    Launch vec4_launch(Kernel kernel, std::uint64_t rows, std::uint64_t columns,
                       std::uint64_t work_per_element = 4) const;
    Launch launch_of(Kernel kernel) const;
    // The constant `fours`: whether the rows of all these tensors that are present can be loaded by vec4.
    bool vec4_loads(std::uint64_t columns, std::initializer_list<const Tensor*> tensors) const;

    // Whether queue commands fill or copy these tensors: on a CPU they are memcpy, much faster than a shader.
    bool transfers(std::initializer_list<const Tensor*> tensors) const;
    // Error naming the op and the operand unless the device can store each: F32, I32 indices, and F16 and BF16 with
    // 16-bit storage, where the op allows them.
    template <class Op>
    void require_types(const Op& op) const {
        require_types(Op::kName, operands_of(op));
    }
    void require_types(const char* op, const Declarations& operands) const;

    // Calls body(first, count) for ranges of rows of this many elements that fit any binding.
    void for_row_tiles(std::int64_t rows, std::int64_t row_elements,
                       const std::function<void(std::int64_t first, std::int64_t count)>& body) const;
    bool fits_binding(const Tensor& tensor) const;
    bool fits_binding(std::int64_t elements, DType dtype) const;  // contiguous ones
    // Calls body with parts of the tensors, which have one shape, that fit a binding.
    void for_tiles(const std::vector<Tensor>& tensors,
                   const std::function<void(const std::vector<Tensor>& parts)>& body) const;

    // Column sums in two levels: over parts of the rows in parallel, then over the parts. Always in the same order.
    void sum_rows(const Tensor& x, const Tensor& out, Write write);
    std::int64_t row_parts(std::int64_t rows, std::int64_t columns) const;
    void convert(const Copy& op);
    Tensor widened(const Tensor& tensor);  // a copy in F32
    void dropout_tiles(const Dropout& op, const std::array<std::int64_t, 3>& first);
    void rotate_tiles(const Rotate& op, std::int64_t first_position);
    void multiply_few_by_blocks(const BlockLinear& op);
    void multiply_by_blocks(const BlockLinear& op);
    // What a linear layer's product does in addition. Activations: None or Relu.
    struct Epilogue {
        Tensor bias = {};
        Activation activation = Activation::None;
        std::uint32_t bits() const;
    };
    ProductShape shape_of(const Matmul& op, const MatmulParams& params, const Epilogue& epilogue) const;
    void multiply(const Matmul& op, const Epilogue& epilogue);
    void multiply_by(const Matmul& op, const ProductChoice& choice, const Epilogue& epilogue);
    void multiply_in_parts(const Matmul& op, const ProductChoice& choice, const Epilogue& epilogue);
    std::int64_t deepest_in_registers() const;
    // `with_backward`: for AttentionBackward, or followed by it.
    template <class Op>
    bool fuses(const Op& op, bool with_backward) const;
    // How the device's matrices compute attention or its backward; null if they do not.
    template <class Op>
    std::optional<HeadPlan> plan_by_matrices(const Op& op) const;
    void attend_by_rows(const Attention& op);
    bool fit_bindings(std::initializer_list<const Tensor*> tensors) const;
    Launch head_launch(Kernel kernel, const Tensor& rows, const RowWork& work, HeadsConstants constants) const;
    Launch few_launch(const Attention& op, const RowWork& work, const HeadsConstants& constants) const;
    std::uint32_t head_flags(bool wide, bool drops) const;
    void attend(const Attention& op);
    void attend_by_matrices(const Attention& op, const HeadPlan& plan);
    void attend_backward(const AttentionBackward& op);
    void attend_backward_by_matrices(const AttentionBackward& op, const HeadPlan& plan);
    Tensor attend_backward_rows(const AttentionBackward& op);
    // The kernel of the backward's rows. `sums`: it also takes the sums of columns, which are grad_gain and grad_bias.
    struct LayerNormPlan {
        Launch launch;
        bool fours = false;
        std::uint32_t held = 0;
        bool sums = false;
    };
    LayerNormPlan plan_layer_norm(const AddLayerNormBackward& op) const;
    void layer_norm_gain(const AddLayerNormBackward& op);
    void layer_norm_rows(const AddLayerNormBackward& op, const LayerNormPlan& plan);
    Launch loss_launch(std::uint64_t rows, std::uint32_t classes) const;

    bool make_room();  // Memory::make_room
    void trim();

    const Options options_;
    const Device device_;
    const ProductDevice product_device_;
    ProductTuning tuning_;
    const std::shared_ptr<Memory> memory_;
    Pipelines pipelines_;
    Stream stream_;
    Replays<Recording> replays_;
};

std::uint32_t u32(std::int64_t value);  // CheckFailure outside [0, 2^32)

inline bool is_narrow(DType dtype) {
    return dtype == DType::F16 || dtype == DType::BF16;
}
// A value as a kernel's word of F32, F16 or BF16.
std::uint32_t bits_of(float value, DType dtype);

DropoutParams dropout_params(const DropoutRule& rule);
std::uint32_t mask_bits(const AttentionMask& mask);  // mask.glsl
// The constant kDrops of kernels that may drop.
inline std::uint32_t drops(const DropoutParams& params) {
    return params.threshold != 0 ? 1 : 0;
}

// Rows of a contiguous tensor as [rows, columns], with its last dimension as columns. Undefined if the tensor is.
Tensor as_rows(const Tensor& tensor);
// Entries [first, first + count) of dimension 0. Undefined if the tensor is.
Tensor part_of(const Tensor& tensor, std::int64_t first, std::int64_t count);

}  // namespace headscope::vulkan
