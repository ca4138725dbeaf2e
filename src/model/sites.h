// The names of a model's sites: the values in the middle of a pass that hooks (autograd/hooks.h) read and replace.
//
// A stack is "encoder" or "decoder"; the stack of a causal language model is its decoder, that of a masked one its
// encoder. Layers count from 0. With [batch, ..] in front:
// clang-format off
//   <stack>.embedding.tokens               [length, embedding columns]  scaled, before positions and token types
//   <stack>.embedding                      [length, d_model]            what the first layer gets
//   <stack>.<layer>.residual_in            [length, d_model]            the residual stream before the layer,
//                   residual_mid                                        after its mixer, unless that is parallel to
//                                                                       the feed-forward,
//                   residual_cross                                      after its cross-attention,
//                   residual_out                                        and after the layer; with post-norm after
//                                                                       the norms
//   <stack>.<layer>.self_attention.q       [heads, queries, d_k]        also k [kv_heads, keys, d_k] and v [kv_heads,
//                                                                       keys, d_v]: projected, normalised if the model
//                                                                       does, with rotary positions turned, and not
//                                                                       scaled; the same of cross_attention
//                   self_attention.weights [heads, queries, keys]       after the softmax
//                   self_attention.z       [heads, queries, d_v]        the heads' outputs before their projection
//                   self_attention.out     [length, d_model]            projected; also of "convolution" and
//                                                                       "recurrent", which have no other site
//                   feed_forward.hidden    [length, d_ff]               after the activation and the gate; not of
//                                                                       experts
//                   feed_forward.out       [length, d_model]
//   <stack>.norm                           [length, d_model]            the stack's last states
//   logits                                 [length, vocabulary]         of suppressed tokens at most -10,000
// clang-format on
#pragma once

#include <string>
#include <vector>

#include "model/config.h"

namespace headscope {

// All of them, in the order of a pass.
std::vector<std::string> sites_of(const ModelConfig& config);

// The sites that a pattern names, in the same order: a name in which '*' stands for anything between two dots. Error,
// with the nearest name, if there is none.
std::vector<std::string> matching_sites(const ModelConfig& config, const std::string& pattern);

}  // namespace headscope
