#include "text/vocabulary.h"

#include <utility>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

Vocabulary::Vocabulary(std::vector<Piece> pieces, SpecialPieces special, std::string name,
                       std::vector<AddedToken> added)
    : pieces_(std::move(pieces)), special_(special), name_(std::move(name)), added_(std::move(added)) {
    ids_.reserve(pieces_.size());
    for (std::int32_t id = 0; id < size(); ++id) {
        const std::string& text = pieces_[static_cast<std::size_t>(id)].text;
        const auto [first, inserted] = ids_.emplace(text, id);
        if (!inserted) {
            throw Error(fmt::format("'{}' has the piece '{}' twice, as {} and {}", name_, text, first->second, id));
        }
    }
}

const Piece& Vocabulary::piece(std::int32_t id) const {
    if (id < 0 || id >= size()) {
        throw Error(fmt::format("the id {} is outside the {} pieces of '{}'", id, size(), name_));
    }
    return pieces_[static_cast<std::size_t>(id)];
}

bool Vocabulary::has_text(std::int32_t id, Sentinels sentinels) const {
    const Piece& one = piece(id);
    return one.kind != PieceKind::Control || (sentinels == Sentinels::Shown && is_sentinel(one.text));
}

std::optional<std::int32_t> Vocabulary::find(std::string_view piece) const {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::int32_t Vocabulary::id_of_text(std::string_view text) const {
    const std::optional<std::int32_t> id = find(text);
    const PieceKind kind = id ? piece(*id).kind : PieceKind::Unknown;
    return kind == PieceKind::Normal || kind == PieceKind::Byte ? *id : special_.unk;
}

}  // namespace headscope
