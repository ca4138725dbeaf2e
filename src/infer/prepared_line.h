// Prepares lines for the search: pieces, prefix, and sentences if a line is too long.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "infer/translation.h"
#include "model/model_directory.h"

namespace headscope {

// A unit of translation: a line, or a sentence of a line that was split.
struct LinePart {
    TextResult sentence;                               // its source or its problem; both empty for an empty line
    SearchTask task;                                   // if it has pieces
    std::shared_ptr<const SearchOptions> search = {};  // the line's own
    bool reports = false;                              // SearchSession::take_events() has its events
};

struct PreparedLine {
    std::vector<LinePart> units;  // at least one
    std::string remark;
};

// A task without a prefix of its own, for a complete source.
SearchTask translation_task(const Frame& frame, const SearchOptions& search, const std::vector<std::int32_t>& source,
                            std::int64_t longest);
// A task that continues a complete prompt, which is not longer than `longest`.
SearchTask completion_task(std::vector<std::int32_t> prompt, const SearchOptions& search, std::int64_t longest);

// `longest`: the model's maximum source length, including the end. A causal language model completes the line: its
// prompt is the line after bos, and output_limit() without a source limits the output.
PreparedLine prepare_line(const ModelDirectory& model, const SourceLine& line, const DecodingOptions& options,
                          std::int64_t longest);

// The pieces of a translation's prefix. Error that names text without a piece in the vocabulary.
std::vector<std::int32_t> encode_prefix(const Tokenizer& tokenizer, const std::string& prefix);

// Stores the hypotheses, best first, as the unit's result; an unusable one becomes its problem.
void take_hypotheses(LinePart& unit, std::vector<Hypothesis> hypotheses);

// Joins translated units to a line. A part's problem becomes the line's.
TextResult join_units(std::vector<TextResult> units, std::string remark, const SearchOptions& search);

}  // namespace headscope
