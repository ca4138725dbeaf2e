// The formats of vocabulary files that hold text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "text/vocabulary.h"

namespace headscope {

// Pieces in the order of their ids. Only some formats say anything about kinds and special pieces.
struct ListedPieces {
    std::vector<Piece> pieces = {};
    SpecialPieces special = {};
    std::vector<AddedToken> added = {};
    bool complete = false;  // whether kinds and special pieces are those of the file alone
};

// JSON, YAML, fairseq's dictionary or one piece per line, by content. The bytes are UTF-8. Errors as in
// read_vocabulary().
ListedPieces parse_listed_pieces(std::string_view bytes, const std::string& name);

// The normal pieces of a JSON object of pieces and ids, in the order of the ids. Errors as in read_vocabulary().
std::vector<Piece> numbered_pieces(const nlohmann::json& ids, const std::string& name);

// Whether JSON begins here, and not a piece such as [PAD].
bool is_json(std::string_view bytes);

// The next line, without its LF or CRLF, which is removed from `text`.
std::string_view next_line(std::string_view& text);

}  // namespace headscope
