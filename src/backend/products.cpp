// The default support for rounded products and narrow weights, which have no layout of their own.
#include "backend/backend.h"

namespace headscope {

const char* name_of(Compute compute) {
    switch (compute) {
        case Compute::F32: return "F32";
        case Compute::TF32: return "TF32";
        case Compute::BF16: return "BF16";
        case Compute::F16: return "F16";
    }
    return "?";
}

Support Backend::products(Compute compute) const {
    if (compute == Compute::F32) {
        return {};
    }
    return {SupportLevel::None, std::string("it multiplies F32 operands without rounding them to ") + name_of(compute)};
}

Support Backend::weights(DType dtype) const {
    return {SupportLevel::None, std::string("it cannot multiply F32 activations by weights in ") + name_of(dtype)};
}

Tensor Backend::borrow(const Tensor& /*lent*/) {
    return {};
}

Tensor Backend::pack(const Tensor& weight) {
    return weight;
}

}  // namespace headscope
