// A token that is found in the text before it is split: an "added token" of Hugging Face's tokenizers.
#pragma once

#include <string>

namespace headscope {

struct AddedToken {
    std::string content;
    bool special = true;                  // a control piece
    bool lstrip = false, rstrip = false;  // take the white space before or after
    bool normalized = false;              // found in the normalised text, after the others
    bool single_word = false;             // not beside letters, marks, digits or joining punctuation

    bool operator==(const AddedToken&) const = default;
};

// T5's stands for a gap, `<extra_id_0>`: it is found in texts, and written.
bool is_sentinel(const std::string& piece);

}  // namespace headscope
