// Cases of MaskedSoftmax and its backward, SumDiagonals, CacheAppend and MaskKeys.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/cases/fused_attention.h"
#include "conformance/family.h"

namespace headscope::conformance {

Case softmax(const Shape& shape, const Rule& rule, double spread = 2.0);
// With a table of 2 `farthest` + 1 distances.
Case softmax_by_distance(const Shape& shape, std::int64_t farthest, const Rule& rule = {});
Case sum_diagonals(const Shape& shape);
Case softmax_backward(const Shape& shape);
Case cache_append(const Shape& shape, std::int64_t capacity, std::int64_t position);
Case mask_keys(const Heads& size, const Rule& rule);

// What `headscope bench ops` times.
std::vector<Case> attention_speeds(const Workload& work);

}  // namespace headscope::conformance
