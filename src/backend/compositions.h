// What compositions out of core ops have in common.
#pragma once

#include "backend/attention_mask.h"
#include "backend/backend.h"

namespace headscope {

// Keys or values [batch, heads, keys, depth] as operands of products: zeros (MaskKeys) at keys that no query may see,
// since a weight of 0 does not cancel NaN and infinity. x itself if the mask leaves no key unseen.
Tensor seen_keys(Backend& backend, const Tensor& x, const AttentionMask& mask, std::int64_t queries);

// sums[c] = the sum over rows of x[b, i, c], by SumRows: for backends whose op does not write the sums of its output
// itself. Nothing if `sums` is undefined.
void sum_columns(Backend& backend, const Tensor& x, const Tensor& sums, Write write);

}  // namespace headscope
