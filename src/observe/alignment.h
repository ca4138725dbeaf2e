// Which word of the source each word of a translation comes from, as cross-attention has it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/corpus.h"
#include "model/transformer.h"

namespace headscope {

// Links (source, target), counted from 0, by target: one for each unit that has pieces, unless a side is empty.
using Alignment = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::string to_pharaoh(const Alignment& alignment);  // "0-0 1-2"

struct AlignmentOptions {
    int layer = 0;                // of the decoder, from 1; 0: the last but one, or the only one
    std::vector<int> heads = {};  // from 1; none: all of the layer
    bool pieces = false;          // link pieces instead of words (see line_words())
};

// `source` and `target` are the units of the pieces: their words' numbers or their own, -1 for none. Each target unit's
// link goes to the source unit with the most weight, of equal ones to the first. The weight is the mean over the chosen
// heads (and over the models of an ensemble, each with its own layer) of what the decoder pays when it has just read
// the target's piece, in a pass over the whole translation; summed over a unit's pieces. The source's end is no unit.
Alignment link_units(std::span<const double> weights, const std::vector<std::int64_t>& source,
                     const std::vector<std::int64_t>& target);

// weights [target pieces, source pieces] of each pair, without ends. `budget`: padded tokens at a time. Error for a
// layer or head that a model has not.
std::vector<std::vector<double>> alignment_weights(Context& ctx, const std::vector<const Transformer*>& models,
                                                   std::span<const Pair> pairs, const AlignmentOptions& options,
                                                   std::int64_t budget);

// Error for a layer or head that a model has not.
void check_alignment_options(const AlignmentOptions& options, const std::vector<const Transformer*>& models);

}  // namespace headscope
