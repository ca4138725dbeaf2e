// Pieces and their ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/added_token.h"

namespace headscope {

// Normal and byte pieces come from text. Added ones are found in it before it is split. Control pieces never come from
// text, unless they are found there, too: a model reads and writes them between texts.
enum class PieceKind : std::uint8_t { Normal, Control, Unknown, Byte, Unused, Added };

// Whether T5's sentinels, which are control pieces, are shown in decoded text. What a model writes shows them.
enum class Sentinels : std::uint8_t { Dropped, Shown };

struct Piece {
    std::string text;
    PieceKind kind = PieceKind::Normal;
    float score = 0.0F;  // BPE: higher scores merge first; unigram: log-probability
};

// -1 if the vocabulary has none; our own trainer uses 0, 1, 2, 3. Others, such as a mask, are found by their text.
struct SpecialPieces {
    std::int32_t pad = -1, bos = -1, eos = -1, unk = -1;
};

class Vocabulary {
public:
    // The id of a piece is its place in the list. `name` is the file, for messages. `added` are pieces that are found
    // in texts before a segmenter of another file splits them. Error if a piece occurs twice.
    Vocabulary(std::vector<Piece> pieces, SpecialPieces special, std::string name, std::vector<AddedToken> added = {});
    // The ids refer to the pieces.
    Vocabulary(const Vocabulary&) = delete;
    Vocabulary& operator=(const Vocabulary&) = delete;

    std::int32_t size() const { return static_cast<std::int32_t>(pieces_.size()); }
    const std::string& name() const { return name_; }
    const SpecialPieces& special() const { return special_; }
    const std::vector<Piece>& pieces() const { return pieces_; }
    const std::vector<AddedToken>& added() const { return added_; }

    // Error for an id outside the vocabulary.
    const Piece& piece(std::int32_t id) const;
    // Whether the piece is a part of decoded text: all but control pieces.
    bool has_text(std::int32_t id, Sentinels sentinels) const;
    std::optional<std::int32_t> find(std::string_view piece) const;
    // The normal or byte piece with this text, or else the unknown piece, or -1.
    std::int32_t id_of_text(std::string_view piece) const;

private:
    std::vector<Piece> pieces_;
    SpecialPieces special_;
    std::string name_;
    std::vector<AddedToken> added_;
    std::unordered_map<std::string_view, std::int32_t> ids_;
};

}  // namespace headscope
