// Records computed from other records: rollout, means, differences. `derived` and the titles of figures name the
// computation, since these are not the weights of a head.
#pragma once

#include "observe/attention_record.h"

namespace headscope {

// Attention rollout (Abnar and Zuidema, 2020): how much of each token reaches each position after a layer, assuming
// that a layer's output is half its input (the residual path) and half its mean attention. One head per site:
//   encoder, layer l: [source, source]   products of the layers 1 to l
//   decoder, layer l: [target, target]   the share that comes from the decoder's own input
//   cross, layer l:   [target, source]   the share that comes from the source, through the whole encoder
// A decoder row and the same cross row add up to 1; so does an encoder row. Error if a layer was not recorded. A record
// without decoder attention gives the encoder's rollout only, a language model's that of its one stack.
AttentionRecord rollout(const AttentionRecord& record);

// One head per site: the mean of its heads.
AttentionRecord mean_of_heads(const AttentionRecord& record);
// One layer per kind: head h is the mean over all layers of head h.
AttentionRecord mean_of_layers(const AttentionRecord& record);

// first - second, elementwise. Error unless both have the same tokens, layers and heads.
AttentionRecord difference(const AttentionRecord& first, const AttentionRecord& second);

}  // namespace headscope
