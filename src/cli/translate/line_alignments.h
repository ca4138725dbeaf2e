// The alignments of a stream's lines: of every translation that is written, sentence by sentence where a line was
// split.
#pragma once

#include <vector>

#include "infer/translation_stream.h"
#include "infer/translator.h"
#include "observe/alignment.h"

namespace headscope {

// [line][translation]: of all translations of each list. `budget`: padded tokens at a time.
std::vector<std::vector<Alignment>> align_lines(Context& ctx, const Translator& translator,
                                                const std::vector<StreamedLine>& lines, const AlignmentOptions& options,
                                                std::int64_t budget);

}  // namespace headscope
