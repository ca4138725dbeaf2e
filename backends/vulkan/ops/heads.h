// What the kernels of attention have in common: their flags, rows, masks and parameters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "backend/ops/attention.h"
#include "backends/vulkan/vulkan_backend_impl.h"

namespace headscope::vulkan {

// As in heads.glsl and the shaders that include it.
inline constexpr std::uint32_t kWide = 1;
inline constexpr std::uint32_t kDrops = 2;
inline constexpr std::uint32_t kKeepsSums = 4;
inline constexpr std::uint32_t kWantsK = 4;
inline constexpr std::uint32_t kWantsV = 8;
inline constexpr std::uint32_t kLoops = 16;
inline constexpr std::uint32_t kWideOut = 32;
inline constexpr std::uint32_t kLoadsAgain = 64;
inline constexpr std::uint32_t kRanges = 128;
inline constexpr std::uint32_t kNamed = 256;

// Whether all rows, if there are any, consist of aligned vec4s.
inline bool is_wide(const Tensor& tensor) {
    if (!tensor.defined()) {
        return true;
    }
    bool wide = tensor.offset % 4 == 0 && tensor.dim(3) % 4 == 0;
    for (int dim = 0; dim < 3; ++dim) {
        wide = wide && (tensor.dim(dim) <= 1 || tensor.stride(dim) % 4 == 0);
    }
    return wide;
}

inline bool are_wide(std::initializer_list<const Tensor*> tensors) {
    return std::all_of(tensors.begin(), tensors.end(), [](const Tensor* tensor) { return is_wide(*tensor); });
}

// What a kernel may load and store by vec4.
inline std::uint32_t wide_flags(const Options& options, std::initializer_list<const Tensor*> loaded,
                                std::initializer_list<const Tensor*> stored) {
    return options.vector_loads ? (are_wide(loaded) ? kWide : 0) | (are_wide(stored) ? kWideOut : 0) : 0;
}

inline void write_strides(const Tensor& tensor, uint (&to)[3]) {
    for (int dim = 0; tensor.defined() && dim < 3; ++dim) {
        to[dim] = u32(tensor.stride(dim));
    }
}

template <class Params>
void write_dropout(const DropoutRule& rule, Params& params) {
    const DropoutParams dropout = dropout_params(rule);
    params.drop_threshold = dropout.threshold;
    params.drop_seed = dropout.seed;
    params.drop_site = dropout.site;
}

template <class Op>
HeadsConstants heads_constants(const Op& op, std::uint32_t flags) {
    flags |= op.mask.key_ranges.defined() || op.mask.window > 0 ? kRanges : 0;
    return {.depth = u32(op.q.dim(3)),
            .value_depth = u32(op.v.dim(3)),
            .rows = 0,
            .flags = flags,
            .heads_of_group = u32(heads_of_group(op))};
}

// Parameters common to the kernels that multiply queries by keys, forward and backward.
template <class Params, class Op>
Params head_params(const Op& op) {
    Params params{};
    params.heads = u32(op.q.dim(1));
    params.queries = u32(op.q.dim(2));
    write_strides(op.q, params.q_strides);
    write_strides(op.k, params.k_strides);
    write_strides(op.v, params.v_strides);
    params.scale = op.scale;
    if constexpr (requires { params.keys; }) {
        params.keys = u32(op.k.dim(2));
    }
    if constexpr (requires { params.mask; }) {
        params.mask = mask_bits(op.mask);
    }
    if constexpr (requires { params.grad_strides; }) {
        write_strides(op.grad_out, params.grad_strides);
    }
    return params;
}

// Of the forward kernels.
inline AttendParams attend_params(const Attention& op) {
    auto params = head_params<AttendParams>(op);
    write_strides(op.out, params.out_strides);
    write_dropout(op.dropout, params);
    // Of keys in several rows no weight drops out: there it is the number of sentences, the stride of a key in
    // key_rows.
    params.drop_site = op.key_rows.defined() ? u32(op.q.dim(0)) : params.drop_site;
    return params;
}

inline AttendParams::Bindings attend_operands(const Attention& op) {
    return {.q = op.q,
            .key_lengths = op.mask.key_lengths,
            .query_offset = op.mask.query_offset,
            .k = op.k,
            .v = op.v,
            .step = op.dropout.step,
            .ordinals = op.dropout.ordinals,
            .out = op.out,
            .log_sums = op.log_sums,
            .key_ranges = op.mask.key_ranges,
            .key_rows = op.key_rows};
}

}  // namespace headscope::vulkan
