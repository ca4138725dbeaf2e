#include "text/vocabulary_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/mapped_file.h"
#include "support/check.h"
#include "support/utf8.h"
#include "text/byte_pieces.h"
#include "text/sentencepiece_model.h"
#include "text/target_mark.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary_formats.h"

namespace headscope {

namespace {

using nlohmann::json;

struct SpecialName {
    const char* role;
    std::int32_t SpecialPieces::*id;
    std::string VocabularyRules::*asked;
    std::array<std::string_view, 4> usual;
};

const std::array<SpecialName, 4> kSpecial{{
    {"pad", &SpecialPieces::pad, &VocabularyRules::pad, {"<pad>", "[PAD]", "<blank>"}},
    {"bos", &SpecialPieces::bos, &VocabularyRules::bos, {"<s>", "[CLS]", "<sos>", "<|endoftext|>"}},
    {"eos", &SpecialPieces::eos, &VocabularyRules::eos, {"</s>", "[SEP]", "<eos>", "<|endoftext|>"}},
    {"unk", &SpecialPieces::unk, &VocabularyRules::unk, {"<unk>", "[UNK]", "<unknown>"}},
}};

bool all_of(std::string_view text, int (*is_in)(int)) {
    return std::all_of(text.begin(), text.end(), [&](unsigned char c) { return c < 0x80 && is_in(c) != 0; });
}

// `prefix` + characters + `suffix`; empty if the piece is anything else.
std::string_view between(std::string_view piece, std::string_view prefix, std::string_view suffix) {
    const bool matches =
        piece.size() > prefix.size() + suffix.size() && piece.starts_with(prefix) && piece.ends_with(suffix);
    return matches ? piece.substr(prefix.size(), piece.size() - prefix.size() - suffix.size()) : std::string_view();
}

PieceKind usual_kind(std::string_view piece) {
    if (byte_of_piece(piece)) {
        return PieceKind::Byte;
    }
    // Sockeye and fairseq fill vocabularies up to a multiple of 8 with these.
    for (const std::string_view filler : {between(piece, "<pad", ">"), between(piece, "madeupword", "")}) {
        if (!filler.empty() && all_of(filler, std::isdigit)) {
            return PieceKind::Unused;
        }
    }
    return is_language_token(piece) || piece == "<mask>" ? PieceKind::Control : PieceKind::Normal;
}

std::int32_t find_piece(const std::vector<Piece>& pieces, std::string_view text) {
    const auto found = std::find_if(pieces.begin(), pieces.end(), [&](const Piece& one) { return one.text == text; });
    return found == pieces.end() ? -1 : static_cast<std::int32_t>(found - pieces.begin());
}

std::int32_t require_piece(const std::vector<Piece>& pieces, std::string_view text, const char* role,
                           const std::string& name) {
    const std::int32_t id = find_piece(pieces, text);
    if (id < 0) {
        throw Error(fmt::format("{} has no piece '{}', which should be {}", name, text, role));
    }
    return id;
}

// The first piece that has one of the names.
std::int32_t find_usual(const std::vector<Piece>& pieces, const SpecialName& name) {
    const auto found = std::find_if(pieces.begin(), pieces.end(), [&](const Piece& one) {
        return !one.text.empty() && std::find(name.usual.begin(), name.usual.end(), one.text) != name.usual.end();
    });
    return found == pieces.end() ? -1 : static_cast<std::int32_t>(found - pieces.begin());
}

// Those that the rules name, and perhaps those with usual names.
void find_special(const std::vector<Piece>& pieces, SpecialPieces& special, const std::string& name,
                  const VocabularyRules& rules, bool by_usual_names) {
    for (const SpecialName& one : kSpecial) {
        std::int32_t& id = special.*one.id;
        const std::string& asked = rules.*one.asked;
        if (asked.empty()) {
            id = id < 0 && by_usual_names ? find_usual(pieces, one) : id;
        } else if (one.id != &SpecialPieces::unk || !rules.append_unknown) {
            id = require_piece(pieces, asked, one.role, name);
        } else {
            id = find_piece(pieces, asked);
        }
    }
}

void add_further(std::vector<Piece>& pieces, SpecialPieces& special, const std::string& name,
                 const VocabularyRules& rules) {
    if (rules.append_unknown && special.unk < 0) {
        special.unk = static_cast<std::int32_t>(pieces.size());
        pieces.push_back({rules.unk.empty() ? std::string(kSpecial[3].usual[0]) : rules.unk});
    }
    for (const std::string& piece : rules.append) {
        pieces.push_back({piece, PieceKind::Control});
    }
    const auto fill = [&](std::int64_t size) {
        while (std::ssize(pieces) < size) {
            pieces.push_back({fmt::format("<unused {}>", pieces.size()), PieceKind::Unused});
        }
    };
    for (std::size_t i = 0; i < rules.added.size(); ++i) {
        const std::int64_t given = i < rules.added_ids.size() ? rules.added_ids[i] : -1;
        const std::int64_t id = std::max<std::int64_t>(given, std::ssize(pieces));
        if (find_piece(pieces, rules.added[i].content) < 0 && (rules.size == 0 || id < rules.size)) {
            fill(id);
            pieces.push_back({rules.added[i].content});
        }
    }
    if (rules.size > 0 && pieces.size() > static_cast<std::size_t>(rules.size)) {
        throw Error(fmt::format("{} has {} pieces, more than the {} of the model", name, pieces.size(), rules.size));
    }
    fill(rules.size);
}

// Sentinels are control pieces. A second one only fills the matrices.
void number_sentinels(std::vector<Piece>& pieces) {
    std::set<std::string> known;
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        if (pieces[id].text.starts_with("<extra_id_")) {
            const bool is_new = known.insert(pieces[id].text).second;
            pieces[id] = is_new ? Piece{pieces[id].text, PieceKind::Control}
                                : Piece{fmt::format("<unused {}>", id), PieceKind::Unused};
        }
    }
}

std::shared_ptr<const Vocabulary> assembled(std::vector<Piece> pieces, SpecialPieces special, const std::string& name,
                                            const VocabularyRules& rules, bool by_usual_names) {
    if (pieces.empty()) {
        throw Error(fmt::format("{} holds no pieces", name));
    }
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        if (pieces[id].text.empty() || first_invalid_utf8(pieces[id].text)) {
            throw Error(fmt::format("{}: the piece with the id {} is {}", name, id,
                                    pieces[id].text.empty() ? "empty" : "not UTF-8"));
        }
    }
    if (rules.repeats_sentinels) {
        number_sentinels(pieces);
    }
    find_special(pieces, special, name, rules, by_usual_names);
    add_further(pieces, special, name, rules);
    for (const std::string& text : rules.control) {
        pieces[static_cast<std::size_t>(require_piece(pieces, text, "a control piece", name))].kind =
            PieceKind::Control;
    }
    std::vector<AddedToken> added;
    for (const AddedToken& token : rules.added) {
        if (const std::int32_t id = find_piece(pieces, token.content); id >= 0) {
            added.push_back(token);
            Piece& piece = pieces[static_cast<std::size_t>(id)];
            piece.kind = token.special ? PieceKind::Control : PieceKind::Added;
        }
    }
    for (const SpecialName& one : kSpecial) {
        if (const std::int32_t id = special.*one.id; id >= 0) {
            pieces[static_cast<std::size_t>(id)].kind =
                one.id == &SpecialPieces::unk ? PieceKind::Unknown : PieceKind::Control;
        }
    }
    return std::make_shared<Vocabulary>(std::move(pieces), special, name, std::move(added));
}

}  // namespace

bool is_language_token(std::string_view piece) {
    if (is_target_mark(piece)) {
        return true;
    }
    const std::string_view code = between(piece, "__", "__");
    if (code.size() == 2 || code.size() == 3) {
        return all_of(code, std::islower);
    }
    return piece.size() == 8 && piece[3] == '_' && all_of(piece.substr(0, 3), std::islower) &&
           all_of(piece.substr(4, 1), std::isupper) && all_of(piece.substr(5), std::islower);
}

SpecialPieces usual_special(const std::vector<Piece>& pieces) {
    SpecialPieces special;
    find_special(pieces, special, "", {}, true);
    return special;
}

std::shared_ptr<const Vocabulary> numbered_vocabulary(std::vector<Piece> pieces, SpecialPieces special,
                                                      const std::string& name, const VocabularyRules& rules) {
    return assembled(std::move(pieces), special, name, rules, true);
}

std::shared_ptr<const Vocabulary> read_vocabulary(const std::string& path, const VocabularyRules& rules) {
    const MappedFile file(path);
    return parse_vocabulary({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, path, rules);
}

std::shared_ptr<const Vocabulary> parse_vocabulary(std::string_view bytes, const std::string& name,
                                                   const VocabularyRules& rules) {
    if (first_invalid_utf8(bytes) || bytes.find('\0') != std::string_view::npos) {
        const std::shared_ptr<const Vocabulary> model = open_sentencepiece(bytes, name).vocabulary;
        return numbered_vocabulary(model->pieces(), model->special(), name, rules);
    }
    ListedPieces listed = parse_listed_pieces(bytes, name);
    for (Piece& piece : listed.pieces) {
        if (!listed.complete && piece.kind == PieceKind::Normal) {
            piece.kind = usual_kind(piece.text);
        }
    }
    VocabularyRules all = rules;
    all.added.insert(all.added.end(), listed.added.begin(), listed.added.end());
    return assembled(std::move(listed.pieces), listed.special, name, all, !listed.complete);
}

std::string vocabulary_json(const Vocabulary& vocabulary) {
    json file;
    for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
        const Piece& piece = vocabulary.piece(id);
        file["pieces"][piece.text] = id;
        const char* kind = piece.kind == PieceKind::Control  ? "control"
                           : piece.kind == PieceKind::Unused ? "unused"
                           : piece.kind == PieceKind::Byte   ? "bytes"
                                                             : nullptr;
        if (kind != nullptr) {
            file[kind].push_back(piece.text);
        }
    }
    for (const SpecialName& one : kSpecial) {
        if (const std::int32_t id = vocabulary.special().*one.id; id >= 0) {
            file["special"][one.role] = vocabulary.piece(id).text;
        }
    }
    for (const AddedToken& token : vocabulary.added()) {
        file["added"].push_back(added_token_json(token, *vocabulary.find(token.content)));
    }
    return file.dump(1) + "\n";
}

}  // namespace headscope
