// Batches: sentence pairs as padded ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "data/frame.h"

namespace headscope {

// Padded lengths are multiples of this. That gives few different shapes (buffers and recorded commands are reused) and
// rows that fit vector units and tiles.
constexpr std::int64_t kLengthMultiple = 8;

constexpr std::int64_t padded_length(std::int64_t length, std::int64_t multiple = kLengthMultiple) {
    return (length + multiple - 1) / multiple * multiple;
}

// Padding of a batch's rows: to a multiple, but never past the longest sequence that the model takes, because learned
// positions end there.
struct Padding {
    std::int64_t multiple = kLengthMultiple;
    std::int64_t longest = std::numeric_limits<std::int64_t>::max();

    constexpr std::int64_t of(std::int64_t length) const {
        return std::max(length, std::min(padded_length(length, multiple), longest));
    }
};

constexpr std::int32_t kNoTarget = -1;    // in target_out: not a token to predict
constexpr std::int32_t kNoPosition = -1;  // in an order: nothing to add

// A batch on the host (paper 5.1); upload() is in data/device_batch.h. The comments describe pairs of sentences; with
// labels target_in and target_out are Example::target and Example::labels.
struct Batch {
    std::int64_t sentences = 0, source_length = 0, target_length = 0;
    std::vector<std::int32_t> source;          // [sentences, source_length]: Frame::source, pads
    std::vector<std::int32_t> source_lengths;  // [sentences], without pads
    std::vector<std::int32_t> target_in;       // [sentences, target_length]: Frame::start, pieces, pads
    std::vector<std::int32_t> target_out;      // [sentences, target_length]: pieces, eos; else kNoTarget
    std::vector<std::int32_t> target_lengths;  // [sentences], of target_in without pads
    std::vector<std::int32_t> ordinals;        // [sentences]: the sentence's number in the whole step
    std::vector<std::int32_t> target_ranges;   // [sentences, target_length, 2]: AttentionMask::key_ranges, empty if
                                               // each row is one document
    // If few positions have labels: those positions of [sentences * target_length], padded with 0, their labels, padded
    // with kNoTarget, and EmbedBackward::order for gathering them.
    std::vector<std::int32_t> predicted, predicted_out, predicted_order;
    // Of a language model: the types of target_in's tokens, [sentences, target_length], or if all are 0 one row for all
    // sentences.
    std::vector<std::int32_t> target_types;
    std::vector<std::int32_t> target_type_order;  // EmbedBackward::order of `target_types`
    std::vector<std::int32_t> source_order;       // [sentences * source_length]: EmbedBackward::order of `source`
    // Where the last token of each source is among all [sentences * source_length], and EmbedBackward::order for
    // gathering those: with labels, and of sources alone.
    std::vector<std::int32_t> source_ends, source_ends_order;
    std::vector<std::int32_t> target_order;  // [sentences * target_length]: EmbedBackward::order of `target_in`
    // For an adaptive output (Frame::cluster_starts) of all rows to predict, which are those of `predicted` or else of
    // `target_out`: their classes in the head, a piece or a cluster. Then the rows of each cluster, padded like
    // `predicted`, with their classes in it and the order for gathering them.
    struct Cluster {
        std::vector<std::int32_t> rows, out, order;
    };
    std::vector<std::int32_t> head_out;
    std::vector<Cluster> clusters;
    std::int64_t source_tokens = 0;  // without padding
    std::int64_t target_tokens = 0;  // to predict, including eos
};

// At least one pair, all with labels or all without, and of those with labels all with types or all without. An empty
// side has no pieces; with labels there is a source only if the frame has a mask. Each side is padded separately.
Batch make_batch(std::span<const Example> pairs, const Frame& frame, std::int32_t first_ordinal,
                 const Padding& padding = {});
Batch make_batch(std::span<const Example* const> pairs, const Frame& frame, std::int32_t first_ordinal,
                 const Padding& padding = {});

// Distributes the targets over the clusters that begin with these ids, as make_batch() does with those of its frame.
void gather_clusters(Batch& batch, std::span<const std::int32_t> starts);

// The source side only, for translating; the target's fields stay empty. The sources are complete (Frame::source).
Batch make_source_batch(std::span<const std::vector<std::int32_t>> sources, std::int32_t pad,
                        const Padding& padding = {});

}  // namespace headscope
