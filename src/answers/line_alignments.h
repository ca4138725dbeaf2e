// Word alignments of translated lines, for every translation of the n-best list. A line that was split is aligned
// sentence by sentence.
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

}  // namespace headscope
