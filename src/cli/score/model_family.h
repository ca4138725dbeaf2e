// Which files of evaluate and score fit a model.
#pragma once

#include <string>

namespace headscope {

// Error if `text`, the file of --text, is given for a translation model or missing for a language model. `spans`: a
// span model takes either.
void require_files_of_family(const std::string& model, const std::string& text, bool spans = false);

// That a causal model without a start predicts all but the first piece of each `text`.
std::string first_given_note(const std::string& text);

}  // namespace headscope
