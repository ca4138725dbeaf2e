// Every op of the contract, by family.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backend/ops/additive.h"
#include "backend/ops/attention.h"
#include "backend/ops/batch_norm.h"
#include "backend/ops/bias.h"
#include "backend/ops/convolution.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backend/ops/experts.h"
#include "backend/ops/layer_norm.h"
#include "backend/ops/loss.h"
#include "backend/ops/matmul.h"
#include "backend/ops/optimizer.h"
#include "backend/ops/recurrent.h"
#include "backend/ops/search.h"

// X-macro over the ops, for code that treats them alike (validation, timing, registration).
#define HEADSCOPE_CORE_OPS(X) \
    X(Fill)                   \
    X(Copy)                   \
    X(AddScaled)              \
    X(Multiply)               \
    X(Dropout)                \
    X(Matmul)                 \
    X(BiasActivation)         \
    X(BiasActivationBackward) \
    X(SumRows)                \
    X(AddLayerNorm)           \
    X(AddLayerNormBackward)   \
    X(BatchNorm)              \
    X(BatchNormBackward)      \
    X(MaskedSoftmax)          \
    X(MaskedSoftmaxBackward)  \
    X(SumDiagonals)           \
    X(EditAttention)          \
    X(AdditiveScores)         \
    X(AdditiveScoresBackward) \
    X(CacheAppend)            \
    X(MaskKeys)               \
    X(Embed)                  \
    X(EmbedBackward)          \
    X(Unfold)                 \
    X(SumTaps)                \
    X(RouteTokens)            \
    X(RouteTokensBackward)    \
    X(TakeTokens)             \
    X(MixExperts)             \
    X(SmoothedCrossEntropy)   \
    X(RecurrentStep)          \
    X(RecurrentStepBackward)  \
    X(SquareSum)              \
    X(StepControl)            \
    X(Adam)                   \
    X(LogSoftmaxTopK)         \
    X(GatherRows)

#define HEADSCOPE_FUSED_OPS(X) \
    X(Attention)               \
    X(AttentionBackward)       \
    X(Linear)

#define HEADSCOPE_ALL_OPS(X) \
    HEADSCOPE_CORE_OPS(X)    \
    HEADSCOPE_FUSED_OPS(X)

namespace headscope {

enum class OpId : std::uint8_t {
#define HEADSCOPE_ENUMERATOR(Op) Op,
    HEADSCOPE_ALL_OPS(HEADSCOPE_ENUMERATOR)
#undef HEADSCOPE_ENUMERATOR
};

// Only for the ops of the list.
template <class Op>
constexpr OpId id_of() = delete;
#define HEADSCOPE_ID(Op)         \
    template <>                  \
    constexpr OpId id_of<Op>() { \
        return OpId::Op;         \
    }
HEADSCOPE_ALL_OPS(HEADSCOPE_ID)
#undef HEADSCOPE_ID

// In the order of OpId.
inline constexpr std::array kOpNames{
#define HEADSCOPE_NAME(Op) Op::kName,
    HEADSCOPE_ALL_OPS(HEADSCOPE_NAME)
#undef HEADSCOPE_NAME
};
// "masked_softmax"
constexpr const char* name_of(OpId op) {
    return kOpNames[static_cast<std::size_t>(op)];
}

}  // namespace headscope
