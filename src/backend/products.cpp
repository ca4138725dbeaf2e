// What products of F32 operands may be rounded to and their weights stored in, and who has that.
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
    return {SupportLevel::None, std::string("it multiplies F32 operands as they are, not in ") + name_of(compute)};
}

Support Backend::weights(DType dtype) const {
    return {SupportLevel::None, std::string("it multiplies F32 activations by no weights in ") + name_of(dtype)};
}

}  // namespace headscope
