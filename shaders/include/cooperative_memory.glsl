// Attention of short sentences by matrices that a subgroup's invocations share: what a workgroup, which has a head,
// keeps in shared memory. Keys and values are there whole, queries kRows at a time, all in F16 and filled up with zeros
// to whole matrices. Products go from shared memory to shared memory: which entries of a matrix an invocation has is
// the device's own business. To be included after heads.glsl, mask.glsl and
//   const uint kTables  1: queries and their scores; 2: also the gradients of out and of the weights
// backends/vulkan/products/head_plan.cpp knows these sizes, too.
#ifndef HEADSCOPE_COOPERATIVE_MEMORY_GLSL
#define HEADSCOPE_COOPERATIVE_MEMORY_GLSL

layout(constant_id = constant_m) const uint kM = 16u;  // of one matrix product: [kM, kK] . [kK, kN]
layout(constant_id = constant_n) const uint kN = 16u;
layout(constant_id = constant_k) const uint kK = 16u;
layout(constant_id = constant_subgroup_size) const uint kSubgroupSize = 32u;
layout(constant_id = constant_subgroups) const uint kSubgroups = 4u;
layout(constant_id = constant_padded_keys) const uint kKeys = 16u;

const uint kLanes = kSubgroups * kSubgroupSize;
const uint kPaddedDepth = (kDepth + 15u) / 16u * 16u;
const uint kPaddedValueDepth = (kValueDepth + 15u) / 16u * 16u;

// Words from one row to the next, aligned to 16 bytes. A word has two F16 or one F32.
const uint kPitch = kPaddedDepth / 2u + 4u;
const uint kValuePitch = kPaddedValueDepth / 2u + 4u;
const uint kWeightPitch = kKeys / 2u + 4u;
const uint kScorePitch = kKeys + 4u;

// Where each begins: [keys, columns], [keys, value columns], [rows, columns], [rows, value columns], then [rows, keys].
const uint kKAt = 0u;
const uint kVAt = kKAt + kKeys * kPitch;
const uint kQAt = kVAt + kKeys * kValuePitch;
const uint kGradAt = kQAt + kRows * kPitch;
const uint kWeightsAt = kGradAt + (kTables - 1u) * kRows * kValuePitch;  // after dropout
const uint kGradScoresAt = kWeightsAt + kRows * kWeightPitch;
const uint kSharesAt = kWeightsAt + kTables * kRows * kWeightPitch;  // a word of each invocation
const uint kScoresAt = kSharesAt + kLanes;
const uint kGradWeightsAt = kScoresAt + kRows * kScorePitch;
// While there are no scores: which keys are seen, or a matrix of results of each subgroup.
const uint kScoreWords = kTables * kRows * kScorePitch;
const uint kResultWords = kSubgroups * kM * kN;
const uint kWords = kScoresAt + (kScoreWords > kResultWords ? kScoreWords : kResultWords);

shared uint memory[kWords];

// Invocations that share a row of scores: each has every kSharing-th eight keys, for which dropout draws at once.
const uint kSharing = kLanes / kRows;
const uint kEights = kKeys / 8u;
uint own_row() { return lane() / kSharing; }
uint own_part() { return lane() % kSharing; }

#endif
