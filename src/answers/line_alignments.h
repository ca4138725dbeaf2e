// Word alignments of translated lines, for every translation of the n-best list, and what follows from them. A line
// that was split is aligned sentence by sentence.
#pragma once

#include <vector>

#include "engine/translation_stream.h"
#include "infer/loaded_model.h"
#include "observe/alignment.h"

namespace headscope {

// [line][translation]. `budget`: padded tokens at a time.
std::vector<std::vector<Alignment>> align_lines(Context& ctx, const LoadedModel& translator,
                                                const std::vector<StreamedLine>& lines, const AlignmentOptions& options,
                                                std::int64_t budget);

// Replaces each unknown piece in the text of the translations by the source word that it is aligned with: the word
// whose pieces have the largest weight in sum (Luong et al., 2015b: PosUnk in Table 2 of the paper). Ids stay. Returns
// how many were replaced; `options.pieces` means nothing here.
std::int64_t replace_unknown(Context& ctx, const LoadedModel& translator, std::vector<StreamedLine>& lines,
                             const AlignmentOptions& options, std::int64_t budget);

}  // namespace headscope
