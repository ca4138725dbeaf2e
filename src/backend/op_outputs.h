// Which operands an op writes, with the names of the fields.
#pragma once

#include <vector>

#include "backend/ops.h"

namespace headscope {

struct NamedTensor {
    const char* name;
    Tensor tensor;  // undefined if an optional output is absent
};

#define HEADSCOPE_DECLARE(Op) std::vector<NamedTensor> outputs_of(const Op& op);
HEADSCOPE_ALL_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE

}  // namespace headscope
