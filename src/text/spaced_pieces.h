// Text whose pieces are its words: it is split already, or each word has its own id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

// The parts of a text between white space.
std::vector<ByteSpan> words_of(std::string_view text);

// The first line of a file that stands for SpacedPieces. The pieces follow, one per line as in a WordPiece vocabulary,
// unless they have a file of their own.
inline constexpr std::string_view kSpacedPieces = "#pieces separated by spaces";
// The same if words without a piece have that of their ending (text/word_endings.h).
inline constexpr std::string_view kEndedPieces = "#pieces separated by spaces, rare words by their endings";

// Pieces are words of the text, or endings of them; joined by spaces.
class SpacedPieces final : public Segmenter {
public:
    SpacedPieces() = default;
    // `endings`: only with a vocabulary.
    explicit SpacedPieces(std::shared_ptr<const Vocabulary> vocabulary, bool endings = false)
        : vocabulary_(std::move(vocabulary)), endings_(endings) {}
    TokenizerType type() const override { return TokenizerType::Words; }
    std::vector<Segment> split(std::string_view text) const override;
    std::unique_ptr<Joiner> joiner() const override;
    std::string file() const override;
    const Vocabulary* vocabulary() const override { return vocabulary_.get(); }

private:
    std::shared_ptr<const Vocabulary> vocabulary_;
    bool endings_ = false;
};

// The words that occur at least `minimum` times, the most frequent ones first (of equals, the first in byte order), at
// most `most`. Words in angle or square brackets are left out, since such pieces never come from text.
std::vector<std::string> frequent_words(const std::vector<std::string>& lines, std::size_t most, std::int64_t minimum);

}  // namespace headscope
