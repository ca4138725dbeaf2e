// What the attention and the texts of each family of models are called wherever they are shown.
#pragma once

#include <string>
#include <vector>

#include "model/family.h"

namespace headscope {

// Error if the family has no such attention.
const KindTraits& traits(Architecture family, AttentionKind kind);

// "encoder layer 5", or "layer 5" of a language model, which has one stack.
std::string layer_label(Architecture family, const AttentionSite& site);

// The layers that attend this way; 0 if the family has no such attention.
int layers_of(const ModelConfig& config, AttentionKind kind);
// The heads of such a layer.
int heads_of(const ModelConfig& config, AttentionKind kind);
// How many heads beside each other share keys and values; 1: each has its own.
int heads_in_group(const ModelConfig& config, AttentionKind kind);
inline constexpr const char* kNoAttention =
    "the model has no attention, and so no heads: its layers mix tokens in other ways";
// The kinds of attention that the model has: none if all of its layers mix tokens in other ways.
std::vector<AttentionKind> kinds_of(const ModelConfig& config);
// The kind to show without a choice: the first that the model has, or else that its family has.
AttentionKind usual_kind(const ModelConfig& config);

}  // namespace headscope
