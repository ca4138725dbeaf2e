// Saliency and activation patching as heat maps.
#pragma once

#include "explore/activation_patching.h"
#include "explore/saliency.h"
#include "observe/words.h"
#include "paint/sketch.h"

namespace headscope {

// A row for each predicted piece, a column for each word that is read: what log P of the piece owes to the word, the
// product of gradient and embedding. The columns of what the decoder reads come behind the source. No problem.
Drawing draw_saliency(const Saliency& saliency, const RowOptions& rows, const Look& look);

// A row for each site, the last layer above, and a column for each position: how the output's log P changes if the
// value there is that of the other text. No problem.
Drawing draw_patching(const PatchEffects& effects, const Look& look);

}  // namespace headscope
