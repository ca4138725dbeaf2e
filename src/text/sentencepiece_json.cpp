// Writes a SentencePiece model as a tokenizer.json, as conversions of transformers do.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/proto_wire.h"
#include "support/check.h"
#include "support/utf8.h"
#include "text/model_file.h"
#include "text/tokenizer_json.h"

namespace headscope {

namespace {

using nlohmann::json;

// What sentencepiece_model.proto says about normalisation, with its defaults.
struct Spec {
    std::string_view table = {};  // precompiled_charsmap
    bool begins_with_mark = true;
    bool folds_spaces = true;
    bool marks_spaces = true;
    bool marks_ends = false;  // treat_whitespace_as_suffix
    bool has_user_pieces = false;
};

void read_normalizer(WireReader reader, Spec& spec) {
    while (reader.next()) {
        switch (reader.field()) {
            case 2: spec.table = reader.bytes(); break;
            case 3: spec.begins_with_mark = reader.varint() != 0; break;
            case 4: spec.folds_spaces = reader.varint() != 0; break;
            case 5: spec.marks_spaces = reader.varint() != 0; break;
            default: break;
        }
    }
}

void read_trainer(WireReader reader, Spec& spec) {
    while (reader.next()) {
        if (reader.field() == 24) {
            spec.marks_ends = reader.varint() != 0;
        }
    }
}

void read_piece(WireReader reader, Spec& spec) {
    constexpr std::uint64_t kUserDefined = 4;
    while (reader.next()) {
        if (reader.field() == 3) {
            spec.has_user_pieces = spec.has_user_pieces || reader.varint() == kUserDefined;
        }
    }
}

Spec read_spec(std::string_view model) {
    Spec spec;
    WireReader reader(model);
    while (reader.next()) {
        switch (reader.field()) {
            case 1: read_piece(reader.message(), spec); break;
            case 2: read_trainer(reader.message(), spec); break;
            case 3: read_normalizer(reader.message(), spec); break;
            default: break;
        }
    }
    return spec;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::string_view group = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            bits = (bits << 8U) | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            text += i <= group.size() ? kDigits[(bits >> (18 - 6 * i)) & 0x3fU] : '=';
        }
    }
    return text;
}

json normalizer_of(const Spec& spec) {
    json steps = json::array();
    if (!spec.table.empty()) {
        steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", base64(spec.table)}});
    }
    if (spec.folds_spaces) {
        steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", "\\A +| +\\z"}}}, {"content", ""}});
        steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}});
    }
    return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
}

json unigram_model(const Vocabulary& vocabulary) {
    json pieces = json::array();
    for (const Piece& piece : vocabulary.pieces()) {
        pieces.push_back({piece.text, piece.score});
    }
    return {{"type", "Unigram"},
            {"unk_id", vocabulary.special().unk},
            {"vocab", std::move(pieces)},
            {"byte_fallback", false}};
}

// Every pair of pieces that is a piece, the likeliest first.
json merges_of(const Vocabulary& vocabulary) {
    std::vector<std::tuple<float, std::int32_t, std::int32_t>> pairs;
    const auto normal = [&](std::string_view piece) {
        const auto id = vocabulary.find(piece);
        return id && vocabulary.piece(*id).kind == PieceKind::Normal ? *id : -1;
    };
    for (const Piece& piece : vocabulary.pieces()) {
        std::size_t at = 0;
        for (next_character(piece.text, at); piece.kind == PieceKind::Normal && at < piece.text.size();
             next_character(piece.text, at)) {
            const std::int32_t left = normal(std::string_view(piece.text).substr(0, at));
            const std::int32_t right = normal(std::string_view(piece.text).substr(at));
            if (left >= 0 && right >= 0) {
                pairs.emplace_back(-piece.score, left, right);
            }
        }
    }
    std::sort(pairs.begin(), pairs.end());
    json merges = json::array();
    for (const auto& [score, left, right] : pairs) {
        merges.push_back({vocabulary.piece(left).text, vocabulary.piece(right).text});
    }
    return merges;
}

json bpe_model(const Vocabulary& vocabulary) {
    json ids = json::object();
    for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
        ids[vocabulary.piece(id).text] = id;
    }
    return {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", vocabulary.piece(vocabulary.special().unk).text},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", true},
            {"byte_fallback", false},
            {"ignore_merges", false},
            {"vocab", std::move(ids)},
            {"merges", merges_of(vocabulary)}};
}

// Whether marks stand only at the begin of pieces, so that no piece crosses words.
bool splits_at_marks(const Vocabulary& vocabulary) {
    return std::none_of(vocabulary.pieces().begin(), vocabulary.pieces().end(), [](const Piece& piece) {
        return piece.kind == PieceKind::Normal && piece.text.find(kWordStart, 1) != std::string::npos;
    });
}

void check_convertible(const Spec& spec, const Vocabulary& vocabulary, TokenizerType type) {
    const auto has = [&](PieceKind kind) {
        return std::any_of(vocabulary.pieces().begin(), vocabulary.pieces().end(),
                           [&](const Piece& piece) { return piece.kind == kind; });
    };
    const char* reason = type != TokenizerType::Bpe && type != TokenizerType::Unigram ? "splits text into characters"
                         : !spec.marks_spaces                                         ? "does not mark spaces"
                         : spec.marks_ends                                            ? "marks the ends of words"
                         : spec.has_user_pieces                                       ? "has user-defined pieces"
                         : has(PieceKind::Byte)                                       ? "has pieces of bytes"
                         : has(PieceKind::Unused)                                     ? "has unused pieces"
                                                                                      : nullptr;
    if (reason != nullptr) {
        throw Error(fmt::format("the SentencePiece model {}, which is not written as a tokenizer.json", reason));
    }
}

}  // namespace

std::string sentencepiece_json(std::string_view model, const Vocabulary& vocabulary) {
    const Spec spec = read_spec(model);
    const TokenizerType type = check_model_file(model, vocabulary.name());
    check_convertible(spec, vocabulary, type);
    const json words = {{"type", "Metaspace"},
                        {"replacement", kWordStart},
                        {"prepend_scheme", spec.begins_with_mark ? "always" : "never"},
                        {"split", splits_at_marks(vocabulary)}};
    const json file = {{"version", "1.0"},
                       {"added_tokens", added_tokens_json(vocabulary, special_tokens(vocabulary))},
                       {"normalizer", normalizer_of(spec)},
                       {"pre_tokenizer", words},
                       {"post_processor", nullptr},
                       {"decoder", words},
                       {"model", type == TokenizerType::Bpe ? bpe_model(vocabulary) : unigram_model(vocabulary)}};
    return file.dump() + "\n";
}

}  // namespace headscope
