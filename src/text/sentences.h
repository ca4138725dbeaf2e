// Where sentences end, by simple rules that know no language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope {

// The sentences of a line, each without the blanks round it; nothing but these blanks is lost. A sentence ends at ".",
// "!", "?" or "…" (also several), with quotes and brackets that close behind it, before a blank and anything but a
// small letter; and at the full stops of Chinese and Japanese. A "." that follows a single letter, a number of at most
// two digits, a word that holds another "." or a common abbreviation ("Dr.", "bzw.") ends nothing: of the two mistakes,
// a sentence too long is the smaller.
std::vector<std::string> split_sentences(std::string_view line);

}  // namespace headscope
