#include "backend/op_outputs.h"

namespace headscope {

using Outputs = std::vector<NamedTensor>;

Outputs outputs_of(const Fill& op) {
    return {{"out", op.out}};
}
Outputs outputs_of(const Copy& op) {
    return {{"out", op.out}};
}
Outputs outputs_of(const AddScaled& op) {
    return {{"out", op.out}};
}
Outputs outputs_of(const Dropout& op) {
    return {{"y", op.y}};
}
Outputs outputs_of(const Matmul& op) {
    return {{"out", op.out}};
}
Outputs outputs_of(const BiasActivation& op) {
    return {{"y", op.y}};
}
Outputs outputs_of(const BiasActivationBackward& op) {
    return {{"grad_x", op.grad_x}};
}
Outputs outputs_of(const SumRows& op) {
    return {{"out", op.out}};
}
Outputs outputs_of(const AddLayerNorm& op) {
    return {{"sum", op.sum}, {"y", op.y}, {"mean", op.mean}, {"rstd", op.rstd}};
}
Outputs outputs_of(const AddLayerNormBackward& op) {
    return {{"grad_x", op.grad_x},
            {"grad_residual", op.grad_residual},
            {"grad_gain", op.grad_gain},
            {"grad_bias", op.grad_bias}};
}
Outputs outputs_of(const MaskedSoftmax& op) {
    return {{"weights", op.weights}};
}
Outputs outputs_of(const MaskedSoftmaxBackward& op) {
    return {{"grad_scores", op.grad_scores}};
}
Outputs outputs_of(const EditAttention& op) {
    return {{"out", op.out}};
}
Outputs outputs_of(const CacheAppend& op) {
    // Only the appended rows; the rest of the cache may be garbage.
    return {{"cache (the rows of x)", op.x}};
}
Outputs outputs_of(const MaskKeys& op) {
    return {{"out", op.out}};
}
Outputs outputs_of(const Embed& op) {
    return {{"out", op.out}};
}
Outputs outputs_of(const EmbedBackward& op) {
    return {{"grad_table", op.grad_table}};
}
Outputs outputs_of(const SmoothedCrossEntropy& op) {
    return {{"loss", op.loss}, {"nll", op.nll}, {"grad_logits", op.grad_logits}};
}
Outputs outputs_of(const SquareSum& op) {
    return {{"out", op.out}};
}
Outputs outputs_of(const StepControl& op) {
    return {{"scalars", op.scalars}};
}
Outputs outputs_of(const Adam& op) {
    return {{"parameter", op.parameter}, {"m", op.m}, {"v", op.v}, {"working", op.working}};
}
Outputs outputs_of(const LogSoftmaxTopK& op) {
    return {{"values", op.values}, {"indices", op.indices}};
}
Outputs outputs_of(const GatherRows& op) {
    return {{"out", op.out}};
}
Outputs outputs_of(const Linear& op) {
    return {{"y", op.y}};
}
Outputs outputs_of(const Attention& op) {
    return {{"out", op.out}};  // log_sums may stay unchanged
}
Outputs outputs_of(const AttentionBackward& op) {
    return {{"grad_q", op.grad_q}, {"grad_k", op.grad_k}, {"grad_v", op.grad_v}};
}

}  // namespace headscope
