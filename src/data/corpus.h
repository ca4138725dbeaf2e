// Sentence pairs as text and as ids.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace headscope {

// target[i] is the translation of source[i].
struct ParallelText {
    std::vector<std::string> source, target;
    std::int64_t dropped_empty = 0;  // pairs dropped because a side is empty (is_empty_text)
};

// Reads two files, see PairReader.
ParallelText read_parallel(const std::string& source_path, const std::string& target_path);

// Reads one file of lines "source TAB target".
ParallelText read_tsv(const std::string& path);

// The ids of an example. Of a pair of sentences: its pieces, without what stands around them (Frame), and no labels.
struct Example {
    std::vector<std::int32_t> source = {}, target = {};
    // Of a language model, and of a translator that fills in masks: what to predict at each position of `target`, which
    // is complete, with its special ids; kNoTarget for nothing. A language model has no source.
    std::vector<std::int32_t> labels = {};
    // Where the documents in `target` begin, from 0 on; empty: it is one. No token attends to another document.
    std::vector<std::int32_t> starts = {};
    // The type of each token of `target`: 0 and 1 for BERT's two segments; empty: all 0.
    std::vector<std::int32_t> types = {};
    // What each token to predict counts in the loss: of the pieces and eos, or of the labels; empty: 1 each. The loss
    // of the length that MaskPredict adds has no weight.
    std::vector<float> weights = {};
    // Of texts without one class each: for each label, in order, what its scores are to be. They need weights.
    std::vector<float> numbers = {};
    std::vector<std::int32_t> source_begin = {};  // of a source in its own language; replaces the frame's
    // Of responses to one prompt that are compared: the rank of each document in `target`, the best lowest. Then each
    // is a row of its own in a batch. Without ranks nothing is compared.
    std::vector<std::int32_t> ranks = {};
    std::vector<float> references = {};  // the log-probability of each under a reference model; empty: none
};

// The ids of `target`, or of its longest document.
std::int64_t longest_text(const Example& example);

struct EncodedCorpus {
    std::vector<Example> pairs;
    std::int64_t dropped_long = 0;   // a side has more pieces than allowed
    std::int64_t dropped_empty = 0;  // a side has no pieces
};

// Encodes on several threads, in order. `max_pieces` limits each side without eos, or only the target: `any_source`.
// Pass the same tokenizer twice for a shared vocabulary.
EncodedCorpus encode_corpus(const ParallelText& text, const Tokenizer& source, const Tokenizer& target,
                            std::int64_t max_pieces, bool any_source = false);

}  // namespace headscope
