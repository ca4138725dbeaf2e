// What compositions out of core ops have in common.
#pragma once

#include "backend/attention_mask.h"
#include "backend/backend.h"
#include "backend/ops_fwd.h"

namespace headscope {

// Keys or values [batch, heads, keys, depth] as operands of products: zeros (MaskKeys) at keys that no query may see,
// since a weight of 0 does not cancel NaN and infinity. x itself if the mask leaves no key unseen.
Tensor seen_keys(Backend& backend, const Tensor& x, const AttentionMask& mask, std::int64_t queries);

// Runs a product of operands [batch, heads, rows, columns], of which some may have groups of neighbouring heads in the
// place of heads: the rows of a group's heads are then those of one matrix. So a product with the keys of a group reads
// them once, and one that writes their gradient sums over the heads in their order.
void multiply_by_groups(Backend& backend, const Matmul& op);

// sums[c] = the sum over rows of x[b, i, c], by SumRows: for backends whose op does not write the sums of its output
// itself. Nothing if `sums` is undefined.
void sum_columns(Backend& backend, const Tensor& x, const Tensor& sums, Write write);

}  // namespace headscope
