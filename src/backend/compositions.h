// What compositions of attention out of core ops have in common.
#pragma once

#include "backend/backend.h"

namespace headscope {

// Keys or values [batch, heads, keys, depth] as operands of products: zeros (MaskKeys) where none of the queries may
// look, so that NaN and infinity there do not get past a weight of 0. x itself where the mask leaves no key unseen.
Tensor seen_keys(Backend& backend, const Tensor& x, const AttentionMask& mask, std::int64_t queries);

}  // namespace headscope
