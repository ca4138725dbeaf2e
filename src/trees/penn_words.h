// Splits text into words as the Penn Treebank does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope {

// At white space, and besides:
// - , ; : ? ! % and brackets, quotes and dots at the begin and end of a word stand alone; of dots only "..." and the
// one
//   at the end of the text (U.S. and Dr. stay whole)
// - n't, 's, 're, 've, 'll, 'd and 'm are words
// Brackets become -LRB- and -RRB- (square and curly ones too), opening quotes `` and closing ones ''.
std::vector<std::string> penn_words(std::string_view text);

// Brackets as above; other words stay.
std::string without_brackets(std::string_view word);

}  // namespace headscope
