// Every op of the contract, by family.
#pragma once

#include <array>

#include "backend/ops/additive.h"
#include "backend/ops/attention.h"
#include "backend/ops/batch_norm.h"
#include "backend/ops/bias.h"
#include "backend/ops/blocks.h"
#include "backend/ops/convolution.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backend/ops/experts.h"
#include "backend/ops/layer_norm.h"
#include "backend/ops/loss.h"
#include "backend/ops/matmul.h"
#include "backend/ops/optimizer.h"
#include "backend/ops/recurrent.h"
#include "backend/ops/rotary.h"
#include "backend/ops/search.h"
#include "backend/ops_fwd.h"

namespace headscope {

// In the order of OpId.
inline constexpr std::array kOpNames{
#define HEADSCOPE_NAME(Op) Op::kName,
    HEADSCOPE_ALL_OPS(HEADSCOPE_NAME)
#undef HEADSCOPE_NAME
};

}  // namespace headscope
