// WordPiece (Schuster and Nakajima, 2012; Devlin et al., 2019): words are split greedily into the longest pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bert_words.h"
#include "text/normalising_segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

// A word of more characters is unknown, unless the options say otherwise.
inline constexpr std::size_t kLongestWord = 100;

struct WordPieceOptions {
    BertWordOptions words = {};
    std::size_t longest_word = kLongestWord;
    // Join as Hugging Face's tokenizers: with a space before every word, except before . , ? and !
    bool plain_spaces = false;
};

// Whether this is a WordPiece vocabulary: lines of UTF-8, one of which is `<unk>` or [UNK].
bool is_word_piece_vocabulary(std::string_view bytes);
// The id of a piece is the number of its line, from 0. Pieces in angle or square brackets and is_target_mark() are
// control pieces. The special ones are `<pad>`, `<s>`, `</s>` and `<unk>`, or [PAD], [CLS], [SEP] and [UNK]. Error for
// an empty line, whose number counts from `first_line`, or a piece that occurs twice.
std::shared_ptr<const Vocabulary> parse_word_pieces(std::string_view bytes, const std::string& name,
                                                    std::size_t first_line = 1);
// The same lines again.
std::string word_piece_lines(const Vocabulary& vocabulary);
// The kind that a piece of such a vocabulary has by its text.
PieceKind kind_of_word_piece(std::string_view piece);

// Words are those of bert_words(). A word that pieces cannot spell is one segment. Joining puts spaces between words,
// but not before closing punctuation, after opening brackets, around apostrophes, hyphens and slashes, or between
// ideographs.
class WordPieces final : public NormalisingSegmenter {
public:
    explicit WordPieces(std::shared_ptr<const Vocabulary> vocabulary, WordPieceOptions options = {})
        : vocabulary_(std::move(vocabulary)), options_(options) {}
    TokenizerType type() const override { return TokenizerType::WordPiece; }
    AlignedText normalised(std::string_view text) const override { return bert_normalised(text, options_.words); }
    std::vector<Segment> split_normalised(AlignedText text, bool begins) const override;
    std::unique_ptr<Joiner> joiner() const override;
    std::string file() const override { return word_piece_lines(*vocabulary_); }
    const Vocabulary* vocabulary() const override { return vocabulary_.get(); }

private:
    std::shared_ptr<const Vocabulary> vocabulary_;
    WordPieceOptions options_;
};

}  // namespace headscope
