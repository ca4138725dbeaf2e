// From a line of text to what is asked of a search: pieces, a prefix, and sentences where it is too long.
#pragma once

#include <string>
#include <vector>

#include "infer/translation.h"
#include "model/model_directory.h"

namespace headscope {

// What is translated at once: a line, or a sentence of a line that was split.
struct TranslationUnit {
    TranslatedSentence sentence;  // its source, or its problem; both empty for an empty line
    SearchTask task;              // of one that has pieces
};

struct PreparedLine {
    std::vector<TranslationUnit> units;  // at least one
    std::string remark;
};

// `longest`: what the model takes, its end included.
PreparedLine prepare_line(const ModelDirectory& model, const SourceLine& line, const TranslationOptions& options,
                          std::int64_t longest);

// The pieces of a translation's beginning. Error that names what the vocabulary has no piece for.
std::vector<std::int32_t> encode_prefix(const Tokenizer& tokenizer, const std::string& prefix);

// Hypotheses, best first, as what became of a unit; a search that found nothing usable is its problem.
void take_hypotheses(TranslatedSentence& sentence, std::vector<Hypothesis> hypotheses);

// A line again, of its translated units: the only one, or all parts joined. A part's problem is the line's.
TranslatedSentence join_units(std::vector<TranslatedSentence> units, std::string remark, const SearchOptions& search);

}  // namespace headscope
