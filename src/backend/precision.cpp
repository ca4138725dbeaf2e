#include "backend/precision.h"

#include "support/check.h"

namespace headscope {

namespace {

// Whether every op that a model runs on activations takes them in `dtype`; else the first reason why not.
Support storage_support(const Backend& backend, DType dtype) {
    for (const char* op : {
#define HEADSCOPE_NAME(Op) Op::kName,
             HEADSCOPE_ALL_OPS(HEADSCOPE_NAME)
#undef HEADSCOPE_NAME
         }) {
        const std::string name = op;
        const bool in_f32 = name == SquareSum::kName || name == StepControl::kName;
        if (Support support = backend.support(name, dtype); !in_f32 && support.level == SupportLevel::None) {
            return support;
        }
    }
    return {};
}

}  // namespace

const char* name_of(Precision precision) {
    return kPrecisionNames.at(static_cast<std::size_t>(precision));
}

std::string name_of(const Arithmetic& arithmetic) {
    if (arithmetic.storage != DType::F32) {
        return name_of(arithmetic.storage);
    }
    return arithmetic.compute == Compute::F32 ? "F32" : std::string(name_of(arithmetic.compute)) + " products";
}

Arithmetic arithmetic_for(const Backend& backend, Precision precision, const std::string& option) {
    if (precision == Precision::F32) {
        return {};
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
    throw Error(option + ": " + backend.device().id + " has " + lacks + ": say f32, or choose another --device");
}

}  // namespace headscope
