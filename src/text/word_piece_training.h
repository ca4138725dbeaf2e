// Learns WordPiece pieces from text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headscope {

// The characters of the text's words, sorted, and then the merged pieces, in order. Stops at `most` pieces, or when
// nothing is left to merge; there are more if there are more characters. The rarest characters, beyond `coverage` of
// all, are left out with the words that have them.
//
// Each step merges the two adjacent pieces a and b with the greatest likelihood ratio P(ab) / (P(a) P(b)); of equals,
// the pair that was found first. Since rare pieces have the greatest ratios, a pair must first occur in one of 1,000
// words, and half as often each time that no pair is left.
std::vector<std::string> train_word_pieces(const std::vector<std::string>& lines, std::size_t most, double coverage);

}  // namespace headscope
