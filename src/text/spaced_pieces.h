// Text that is split into pieces already.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/segmenter.h"

namespace headscope {

// The parts of a text between white space.
std::vector<ByteSpan> words_of(std::string_view text);

// The first line of a file that stands for SpacedPieces.
inline constexpr std::string_view kSpacedPieces = "#pieces separated by spaces";

// Pieces are words of the text; joined by spaces.
class SpacedPieces final : public Segmenter {
public:
    TokenizerType type() const override { return TokenizerType::Other; }
    std::vector<Segment> split(std::string_view text) const override;
    JoinedText join(const std::vector<std::string_view>& pieces) const override;
    std::string file() const override { return std::string(kSpacedPieces) + "\n"; }
};

}  // namespace headscope
