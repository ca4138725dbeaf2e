// Records computed from records: rollout, averages, differences. Their `derived` says what they are, and so do the
// titles of their figures: none of them is what a head looked at.
#pragma once

#include "observe/attention_record.h"

namespace headscope {

// Attention rollout (Abnar and Zuidema, 2020): how much of each token is in each position after a layer, if a layer's
// output is half its input (the residual path) and half what its heads' mean looks at. One head at each site:
//   encoder, layer l: [source, source]   products of the layers 1 to l
//   decoder, layer l: [target, target]   the share that comes from the decoder's own input
//   cross, layer l:   [target, source]   the share that comes from the source, through the whole encoder
// A row of decoder and the same row of cross add up to 1 together; a row of encoder does alone. Error when a layer was
// not recorded. What lacks its decoder's attention has the encoder's alone.
AttentionRecord rollout(const AttentionRecord& record);

// One head at each site: the mean of its heads.
AttentionRecord mean_of_heads(const AttentionRecord& record);
// One layer for each kind: head h is the mean of all layers' head h.
AttentionRecord mean_of_layers(const AttentionRecord& record);

// first - second, weight by weight. Error unless both are of the same tokens, layers and heads.
AttentionRecord difference(const AttentionRecord& first, const AttentionRecord& second);

}  // namespace headscope
