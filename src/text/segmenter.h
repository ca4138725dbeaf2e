// Splits text into pieces and joins pieces to text. The ids of pieces are those of a Vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

class Vocabulary;

// How words are split: by merges, by likelihood, by the longest match, not at all, by merges of bytes, or in another
// way (characters).
enum class TokenizerType : std::uint8_t { Bpe, Unigram, WordPiece, Words, ByteBpe, Other };

// SentencePiece's pieces begin with the first at the begin of a word, WordPiece's with the second inside of words.
// Pieces of bytes begin with the third after a space.
inline constexpr std::string_view kWordStart = "\u2581";
inline constexpr std::string_view kContinues = "##";
inline constexpr std::string_view kByteSpace = "\u0120";

inline bool begins_word(std::string_view piece, TokenizerType type) {
    if (type == TokenizerType::WordPiece) {
        return !piece.starts_with(kContinues);
    }
    return type == TokenizerType::Words || piece.starts_with(type == TokenizerType::ByteBpe ? kByteSpace : kWordStart);
}

// A range of bytes of a text.
struct ByteSpan {
    std::size_t begin = 0, end = 0;

    bool operator==(const ByteSpan&) const = default;
};

// A piece and the bytes of the text from which it was made. If one character becomes several pieces, the last one has
// it. Text that no piece of the segmenter covers is a piece of its own.
struct Segment {
    std::string piece;
    ByteSpan span;
    bool added = false;  // a special piece that stands in the text, such as <mask>
};

struct JoinedText {
    std::string text;
    std::vector<ByteSpan> spans;  // the bytes that each piece became
};

// Joins pieces that come one by one. What it has appended stays as it is: text that a further piece may change, such as
// a part of a character, is appended later.
class Joiner {
public:
    virtual ~Joiner() = default;
    // `joined` is the same in all calls.
    virtual void add(std::string_view piece, JoinedText& joined) = 0;
    // Appends what was held back, if no piece follows. Only the last span of another `joined` is read.
    virtual void finish(JoinedText& joined) const = 0;
};

// Thread-safe.
class Segmenter {
public:
    virtual ~Segmenter() = default;
    virtual TokenizerType type() const = 0;
    // The text is valid UTF-8.
    virtual std::vector<Segment> split(std::string_view text) const = 0;
    // Must not outlive this.
    virtual std::unique_ptr<Joiner> joiner() const = 0;
    JoinedText join(const std::vector<std::string_view>& pieces) const;
    // The piece for display.
    virtual std::string readable(std::string_view piece) const { return std::string(piece); }
    // The content of a file from which Tokenizer::load() makes this again.
    virtual std::string file() const { return {}; }
    // The pieces of that file with their own ids and scores, if it has any.
    virtual const Vocabulary* vocabulary() const { return nullptr; }
    // split() for a text that follows an added token.
    virtual std::vector<Segment> split_behind(std::string_view text) const { return split(text); }
};

}  // namespace headscope
