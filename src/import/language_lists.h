// The languages that classes of Hugging Face's tokenizers know by themselves, behind the pieces, where no file lists
// them.
#pragma once

#include <string>
#include <vector>

namespace headscope {

// The pieces in the order of their ids; empty for other classes. `codes`: "language_codes" of tokenizer_config.json.
std::vector<std::string> languages_of_class(const std::string& tokenizer_class, const std::string& codes);

// Of mBART-50, which begins its outputs with the target language, and not of mBART-25, whose decoder starts from it.
bool is_only_of_mbart50(const std::string& language);

}  // namespace headscope
