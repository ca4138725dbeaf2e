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

namespace headscope {

// Normal and byte pieces come from text. Control pieces never do: a model reads and writes them between texts.
enum class PieceKind : std::uint8_t { Normal, Control, Unknown, Byte, Unused };

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
    // The id of a piece is its place in the list. `name` is the file, for messages. Error if a piece occurs twice.
    Vocabulary(std::vector<Piece> pieces, SpecialPieces special, std::string name);
    // The ids refer to the pieces.
    Vocabulary(const Vocabulary&) = delete;
    Vocabulary& operator=(const Vocabulary&) = delete;

    std::int32_t size() const { return static_cast<std::int32_t>(pieces_.size()); }
    const std::string& name() const { return name_; }
    const SpecialPieces& special() const { return special_; }
    const std::vector<Piece>& pieces() const { return pieces_; }

    // Error for an id outside the vocabulary.
    const Piece& piece(std::int32_t id) const;
    std::optional<std::int32_t> find(std::string_view piece) const;
    // The normal or byte piece with this text, or else the unknown piece, or -1.
    std::int32_t id_of_text(std::string_view piece) const;

private:
    std::vector<Piece> pieces_;
    SpecialPieces special_;
    std::string name_;
    std::unordered_map<std::string_view, std::int32_t> ids_;
};

}  // namespace headscope
