// Word alignment from cross-attention.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/corpus.h"
#include "model/generator.h"

namespace headscope {

// Links (source, target) from 0, ordered by target: one per target unit with pieces, none if a side is empty.
using Alignment = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::string to_pharaoh(const Alignment& alignment);  // "0-0 1-2"

struct AlignmentOptions {
    int layer = 0;                // decoder layer from 1; 0: the penultimate, or the only one
    std::vector<int> heads = {};  // from 1; empty: all heads of the layer
    bool pieces = false;          // link pieces instead of words (see line_words())
    Frame frame = {};             // around the texts
};

// `source` and `target` map each piece to its unit: the word's index or the piece's own, -1 for none. Links each target
// unit to the source unit with the largest weight; on a tie, to the first. A unit's weight is summed over its pieces.
// The end of the source is not a unit.
Alignment link_units(std::span<const double> weights, const std::vector<std::int64_t>& source,
                     const std::vector<std::int64_t>& target);

// For each pair, weights [target pieces, source pieces] without what stands around them: the cross-attention of a
// teacher-forced pass, averaged over the chosen heads and over the models of an ensemble. `budget`: padded tokens per
// batch. Error for a layer or head that a model does not have.
std::vector<std::vector<double>> alignment_weights(Context& ctx, const std::vector<const Generator*>& models,
                                                   std::span<const Example> pairs, const AlignmentOptions& options,
                                                   std::int64_t budget);

// Error for a layer or head that a model does not have.
void check_alignment_options(const AlignmentOptions& options, const std::vector<const Generator*>& models);

}  // namespace headscope
