// Batches: examples as padded ids.
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

constexpr std::int32_t kNoTarget = -1;    // a class: nothing to predict there
constexpr std::int32_t kNoPosition = -1;  // in an order: nothing to add

// Texts of ids, one a row, padded to the same length.
struct Tokens {
    Tokens() = default;
    // At least one text.
    Tokens(std::span<const std::vector<std::int32_t>> texts, std::int32_t pad, const Padding& padding);

    // The type of each text's tokens, none: all are of type 0, in one row for all texts.
    void set_types(std::span<const std::vector<std::int32_t>> of_texts);
    // Where the documents of each text begin, as in Example::starts. Without a text of several it sets nothing.
    void set_documents(std::span<const std::vector<std::int32_t>> starts);
    // Pictures of ids, as PatchGrid reads them: a position for each patch.
    static Tokens of_pictures(std::span<const std::vector<std::int32_t>> pictures, const PatchGrid& grid,
                              const Padding& padding);

    std::int64_t length = 0;               // padded; 0: there are no texts
    std::int64_t count = 0;                // of tokens, without pads
    std::vector<std::int32_t> ids;         // [texts, length]
    std::vector<std::int32_t> lengths;     // [texts], without pads
    std::vector<std::int32_t> order;       // [texts * length]: EmbedBackward::order of `ids`
    std::vector<std::int32_t> types;       // [texts or 1, length], may be empty
    std::vector<std::int32_t> type_order;  // EmbedBackward::order of `types`
    std::vector<std::int32_t> ranges;      // [texts, length, 2]: AttentionMask::key_ranges, or empty
    std::vector<float> patches;            // [texts, length, values] of pictures, whose `ids` mean nothing; or empty
};

// Rows of hidden states, and the class to predict at each, or kNoTarget.
struct Gather {
    Gather() = default;
    // All rows, in their order. Each row has a weight, or none has.
    explicit Gather(std::vector<std::int32_t> class_of_each, std::vector<float> weight_of_each = {});
    // These of the rows that `all` has, with their weights, filled up to `padded` with row 0 without a class.
    Gather(const Gather& all, std::vector<std::int32_t> some, std::vector<std::int32_t> class_of_each,
           std::int64_t padded);

    std::int64_t count = 0;             // of rows with a class
    std::vector<std::int32_t> rows;     // empty: all
    std::vector<std::int32_t> order;    // EmbedBackward::order for gathering `rows`
    std::vector<std::int32_t> classes;  // as many as rows
    std::vector<float> weights;         // as many as rows: SmoothedCrossEntropy::weights; empty: 1 each
    std::vector<float> numbers = {};    // [rows, scores]: Example::numbers, 0 without a class; empty: there are none
};

// Texts of a batch that are compared, in pairs of one prompt: Example::ranks.
struct Comparisons {
    std::int64_t prompts = 0;                   // 0: nothing is compared
    Gather ends = {};                           // the last token of each text
    std::vector<std::int32_t> texts = {};       // [pairs, 2]: the worse one and the better one
    std::vector<std::int32_t> order = {};       // EmbedBackward::order of `texts`
    std::vector<std::int32_t> better = {};      // [pairs]: the better one's column, as a class to predict
    std::vector<float> weights = {};            // [pairs]: 1 over the pairs of the prompt
    std::vector<std::int32_t> text_of = {};     // of each row of Batch::predicted; kNoTarget for rows without a class
    std::vector<std::int32_t> text_order = {};  // EmbedBackward::order of `text_of`
    std::vector<float> references = {};         // [texts]: Example::references, or empty
};

// A batch on the host (paper 5.1); upload() is in data/device_batch.h.
struct Batch {
    std::int64_t sentences = 0;
    Tokens source;       // Frame::source; not of a language model
    Tokens target;       // Frame::start and pieces, or Example::target if there are labels
    Gather source_ends;  // the last token of each source, with the target's length: with labels, and of sources alone
    Gather predicted;    // of the target's positions: all, or if few have labels those; pieces and eos, or labels
    // For an adaptive output (Frame::cluster_starts), of the rows of `predicted`: all with their classes in the head, a
    // piece or a cluster; then those of each cluster with their classes in it.
    std::vector<Gather> adaptive;
    Comparisons comparisons;
    std::vector<std::int32_t> ordinals;  // [sentences]: the sentence's number in the whole step

    // What cannot be divided: prompts with all that is compared, or sentences.
    std::int64_t examples() const { return comparisons.prompts > 0 ? comparisons.prompts : sentences; }
    // What the losses are means over: prompts, or tokens to predict.
    std::int64_t counted() const { return comparisons.prompts > 0 ? comparisons.prompts : predicted.count; }
};

// At least one pair, all with labels or all without, and of those with labels all with types or all without; all with
// ranks, which need labels, or all without. If one has weights, those of the others are 1. An empty side has no pieces;
// with labels there is a source if the frame has a mask or the pairs have one. Each side is padded separately.
Batch make_batch(std::span<const Example> pairs, const Frame& frame, std::int32_t first_ordinal,
                 const Padding& padding = {});
Batch make_batch(std::span<const Example* const> pairs, const Frame& frame, std::int32_t first_ordinal,
                 const Padding& padding = {});

// The documents of an example with ranks, as examples of their own; any other example itself.
std::vector<Example> texts_of(const Example& example);
// The text of each row of Batch::predicted, or kNoTarget for rows without a class.
std::vector<std::int32_t> texts_of_rows(const Batch& batch);
// The rows of the last tokens of texts, without classes.
Gather last_tokens(const Tokens& texts);

// Batch::adaptive of rows to predict, for clusters that begin with these ids.
std::vector<Gather> gather_clusters(const Gather& predicted, std::span<const std::int32_t> starts);

// The source side only, for translating. The sources are complete (Frame::source).
Batch make_source_batch(std::span<const std::vector<std::int32_t>> sources, std::int32_t pad,
                        const Padding& padding = {}, const std::optional<PatchGrid>& patches = {});

}  // namespace headscope
