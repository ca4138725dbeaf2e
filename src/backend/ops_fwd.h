// The list of ops, declared without their definitions, so that a changed op recompiles only the files that use it.
#pragma once

#include <cstdint>

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
    X(BlockLinear)            \
    X(BlockEmbed)             \
    X(Rotate)                 \
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

#define HEADSCOPE_FORWARD(Op) struct Op;
HEADSCOPE_ALL_OPS(HEADSCOPE_FORWARD)
#undef HEADSCOPE_FORWARD

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

// "masked_softmax"
const char* name_of(OpId op);

}  // namespace headscope
