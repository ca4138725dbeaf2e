// The contract of every op as code: its operands as declared, and rules for its scalars. A CheckFailure names the op,
// what was expected and what was found. The decorator runs it for every op on every backend.
#pragma once

#include "backend/ops_fwd.h"

namespace headscope {

#define HEADSCOPE_DECLARE(Op) void validate(const Op& op);
HEADSCOPE_ALL_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE

}  // namespace headscope
