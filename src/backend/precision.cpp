#include "backend/precision.h"

#include "backend/ops.h"
#include "support/check.h"

namespace headscope {

namespace {

// Whether all ops that a model runs on activations support `dtype`; else the first reason why not.
Support storage_support(const Backend& backend, DType dtype) {
    for (std::size_t op = 0; op < kOpNames.size(); ++op) {
        const auto id = static_cast<OpId>(op);
        const bool in_f32 = id == OpId::SquareSum || id == OpId::StepControl;
        if (Support support = backend.support(id, dtype); !in_f32 && support.level == SupportLevel::None) {
            return support;
        }
    }
    return {};
}

}  // namespace

const char* name_of(Precision precision) {
    return kPrecisionNames.at(static_cast<std::size_t>(precision));
}

WeightStorage Arithmetic::weights() const {
    WeightStorage held(storage);
    held.block_bits = block_bits;
    held.packs = compute == Compute::F32;
    held.keeps_blocks = storage == DType::F32 && compute == Compute::F32;
    return held;
}

std::string name_of(const Arithmetic& arithmetic) {
    if (arithmetic.block_bits > 0) {
        return arithmetic.block_bits == 8 ? "Q8 weights" : "Q4 weights";
    }
    if (arithmetic.storage != DType::F32) {
        return std::string(name_of(arithmetic.storage)) + (arithmetic.weights_alone ? " weights" : "");
    }
    return arithmetic.compute == Compute::F32 ? "F32" : std::string(name_of(arithmetic.compute)) + " products";
}

Arithmetic arithmetic_for(const Backend& backend, Precision precision, const std::string& option) {
    if (precision == Precision::F32) {
        return {};
    }
    if (precision == Precision::I8 || precision == Precision::Q8 || precision == Precision::Q4) {
        throw Error(option + ": " + name_of(precision) +
                    " is only for the weights of a model that is not trained: use f32, tf32, bf16 or f16");
    }
    std::string lacks;
    if (precision != Precision::TF32) {
        const DType storage = precision == Precision::BF16 ? DType::BF16 : DType::F16;
        const Support stored = storage_support(backend, storage);
        if (stored.level != SupportLevel::None) {
            return {.storage = storage};
        }
        lacks = std::string("no ") + name_of(storage) + " storage (" + stored.reason + ")";
    }
    if (precision != Precision::F16) {
        const Compute compute = precision == Precision::BF16 ? Compute::BF16 : Compute::TF32;
        const Support products = backend.products(compute);
        if (products.level == SupportLevel::Native) {
            return {.compute = compute};
        }
        lacks += (lacks.empty() ? "no fast " : " and no fast ") + std::string(name_of(compute)) + " products (" +
                 products.reason + ")";
    }
    throw Error(option + ": " + backend.device().id + " has " + lacks + ": use f32, or choose another --device");
}

Arithmetic inference_arithmetic_for(const Backend& backend, Precision precision, const std::string& option) {
    if (precision == Precision::Q8 || precision == Precision::Q4) {
        return {.weights_alone = true, .block_bits = precision == Precision::Q8 ? 8 : 4};
    }
    if (precision == Precision::F32 || precision == Precision::TF32) {
        return arithmetic_for(backend, precision, option);
    }
    const DType dtype = precision == Precision::F16    ? DType::F16
                        : precision == Precision::BF16 ? DType::BF16
                                                       : DType::I8;
    if (dtype != DType::I8 && storage_support(backend, dtype).level != SupportLevel::None) {
        return {.storage = dtype};
    }
    if (const Support support = backend.weights(dtype); support.level == SupportLevel::None) {
        if (precision == Precision::BF16) {
            return arithmetic_for(backend, precision, option);
        }
        throw Error(option + ": " + backend.device().id + " has no " + name_of(dtype) + " weights (" + support.reason +
                    "): use f32, or choose another --device");
    }
    return {.storage = dtype, .weights_alone = true};
}

DType activations_beside(const Backend& backend, DType weights) {
    return backend.support(OpId::Embed, weights).level == SupportLevel::None ? backend.full_dtype() : weights;
}

}  // namespace headscope
