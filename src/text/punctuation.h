// Unicode's punctuation, and what else splits words.
#pragma once

namespace headscope {

// Categories P*, and all ASCII symbols, such as $ and +.
bool is_punctuation(char32_t character);

// Ideographs, which are written without spaces: the blocks that BERT splits into single characters.
bool is_ideograph(char32_t character);

}  // namespace headscope
