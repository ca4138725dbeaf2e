// Which files of evaluate and score fit a model.
#pragma once

#include <string>

namespace headscope {

// Error if `text`, the file of --text, is given for a translation model or missing for a language model.
void require_files_of_family(const std::string& model, const std::string& text);

}  // namespace headscope
