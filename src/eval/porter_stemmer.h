// Stems of English words: the algorithm of Porter (1980) with the extensions of NLTK's PorterStemmer, which the package
// rouge-score uses.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// `word`: lower-case ASCII letters and digits.
std::string porter_stem(std::string_view word);

}  // namespace headscope
