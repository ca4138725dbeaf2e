// Which files of evaluate and score fit a model.
#pragma once

#include <string>

#include "model/config.h"

namespace headscope {

// UsageError if `text`, the file of --text, is given for a translation model or missing for a language model. `spans`:
// a span model takes either.
void require_files_of_family(const std::string& model, const std::string& text, bool spans = false);

// Whether this is a causal model whose texts have no start: the first piece of each is given, not predicted.
bool first_is_given(const ModelConfig& model);

// The note that says so of each `text`.
std::string first_given_note(const std::string& text);

}  // namespace headscope
