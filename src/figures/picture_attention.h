// Attention over the patches of a picture, to be drawn on it.
#pragma once

#include <string>
#include <vector>

#include "figures/all_heads.h"
#include "figures/patch_map.h"
#include "model/config.h"
#include "observe/selection.h"

namespace headscope {

// Whether this attention of the model is over patches.
bool looks_at_patches(const ModelConfig& config, AttentionKind kind);

// "the class token", or "the patch 2,3".
std::string name_of_patch(const RowItem& item);

// `selected` has the class token, if there is one, and is of such attention. Its tiles are the visible heads of the
// chosen query, or of a chosen patch that is looked at; without one the mean over all patches or, of a caption, each of
// its words by the mean of its heads. The words of a caption can only look.
PatchMap map_attention(const SelectedAttention& selected, AttentionKind kind, const ModelConfig& config,
                       PixelPicture picture);

// These heads of all layers, small, with a row of `columns` for each layer if they are in the model's order. The query
// is that of the selection, which has no heads; without one the mean over all.
PatchMap map_heads(const AttentionRecord& record, const std::vector<HeadTile>& tiles, AttentionSelection selection,
                   const ModelConfig& config, PixelPicture picture);

}  // namespace headscope
