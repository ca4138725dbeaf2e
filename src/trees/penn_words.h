// Splits text into words by the main rules of the Penn Treebank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope {

// At white space, and besides:
// - -- and ... stand alone everywhere, also the dash and the ellipsis of one character, which become these.
// - , ; : ? ! % brackets and double quotes stand alone at the begin and end of a word, $ and # at its begin, a single
//   quote at its end (dogs ') and, if it is an opening one, at its begin; of other dots only the one at the end of the
//   text (U.S. and Dr. stay whole).
// - n't, 's, 're, 've, 'll, 'd and 'm are words, in capitals, too, and "cannot" is two.
// The typographic apostrophe becomes ', opening quotes ` and ``, closing ones ' and ''. Brackets become -LRB- and -RRB-
// (square and curly ones too). Hyphens, slashes, brackets and commas inside of words stay, and contractions such as
// "gonna" and "d'ye".
std::vector<std::string> penn_words(std::string_view text);

// Round brackets, which trees cannot have in words, as above; everything else stays.
std::string without_brackets(std::string_view word);

}  // namespace headscope
