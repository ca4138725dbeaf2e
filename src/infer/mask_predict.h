// Mask-predict (Ghazvininejad et al., 2019, section 3.3): translates in a fixed number of passes over the whole text,
// instead of one for each piece.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/hypotheses.h"
#include "model/mask_predict.h"

namespace headscope {

// How many of `pieces` are predicted in iteration `number`, counted from 0, of `iterations`: all, then linearly fewer.
std::int64_t masked_pieces(std::int64_t pieces, int number, int iterations);

// Translates `sources` (Frame::source). SearchOptions::length_candidates texts of different lengths are written for
// each, of which the one with the highest mean log-probability is returned, with that mean as its score. A piece's
// probability is that of when it was last predicted; the length's counts as that of the end. (The paper leaves it out,
// and then prefers a short text that it is sure of.) Lengths are at least SearchOptions::min_length, and less than the
// task's limit, which counts an end. Of the tasks only the limit and on_step() are read.
std::vector<Hypothesis> mask_predict(Context& ctx, const MaskPredict& model,
                                     const std::vector<std::vector<std::int32_t>>& sources,
                                     const std::vector<SearchTask>& tasks, const SearchOptions& options);

}  // namespace headscope
