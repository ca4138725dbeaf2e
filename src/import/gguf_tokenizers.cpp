// Tokenizers of GGUF files: byte-level BPE becomes a tokenizer.json, "llama" a SentencePiece model.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/gguf.h"
#include "io/proto_wire.h"
#include "model/model_chat.h"
#include "support/check.h"
#include "text/added_tokens.h"
#include "text/segmenter.h"
#include "text/sentencepiece_model.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary_file.h"

namespace headscope {

namespace {

using nlohmann::json;

// Regular expressions that split text into words. The file has only a name for them.
constexpr const char* kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// What a name of "tokenizer.ggml.pre" stands for.
struct NamedSplit {
    std::string_view name;
    const char* words = nullptr;  // null: GPT-2's
    bool single_digits = false;   // each digit is a part of its own, before
    bool normalises = false;      // to NFC
    bool ignores_merges = false;  // a word that is a piece is not merged
    bool begins = false;          // texts begin with a token, unless the file says otherwise
};
constexpr std::array kNamed = {
    NamedSplit{.name = "gpt-2"},
    NamedSplit{.name = "llama-bpe", .words = kLlama3, .ignores_merges = true, .begins = true},
    NamedSplit{.name = "llama3", .words = kLlama3, .ignores_merges = true, .begins = true},
    NamedSplit{.name = "llama-v3", .words = kLlama3, .ignores_merges = true, .begins = true},
    NamedSplit{.name = "dbrx", .words = kLlama3},
    NamedSplit{.name = "smaug-bpe", .words = kLlama3},
    NamedSplit{.name = "qwen2", .words = kQwen2, .normalises = true},
    NamedSplit{.name = "deepseek-r1-qwen", .words = kQwen2, .normalises = true},
    NamedSplit{.name = "gpt-4o", .words = kGpt4o},
    NamedSplit{.name = "smollm", .single_digits = true},
    NamedSplit{.name = "starcoder", .single_digits = true},
    NamedSplit{.name = "olmo", .normalises = true},
};

const NamedSplit& named_split(const ForeignConfig& config) {
    const std::string name = config.text("tokenizer.ggml.pre", "");
    const auto* found = std::ranges::find(kNamed, name, &NamedSplit::name);
    if (found == kNamed.end()) {
        std::string known;
        for (const NamedSplit& one : kNamed) {
            known += (known.empty() ? "" : ", ") + std::string(one.name);
        }
        throw Error(fmt::format("{}: \"tokenizer.ggml.pre\", which says how text is split into words, {}; known are {}",
                                config.file(), name.empty() ? "is missing" : "is \"" + name + "\"", known));
    }
    return *found;
}

json pre_tokenizer_of(const NamedSplit& split) {
    json steps = json::array();
    if (split.single_digits) {
        steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
    }
    if (split.words != nullptr) {
        steps.push_back({{"type", "Split"}, {"pattern", {{"Regex", split.words}}}, {"behavior", "Isolated"}});
    }
    steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", split.words == nullptr}});
    return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

constexpr const char* kTokens = "tokenizer.ggml.tokens";

// Types of pieces, as in SentencePiece models.
enum PieceType : std::uint8_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct GgufPieces {
    std::vector<std::string> texts;
    std::vector<int> types;
    std::vector<float> scores;
};

// Empty if there is none. Error unless all elements are `right`.
template <class T, class Predicate>
std::vector<T> list_of(const ForeignConfig& config, const std::string& key, const char* expected, Predicate right) {
    const json& list = config.at(key);
    if (list.is_null()) {
        return {};
    }
    if (!list.is_array()) {
        throw Error(fmt::format("{}: \"{}\" must be a list of {}", config.file(), key, expected));
    }
    if (const auto wrong = std::ranges::find_if_not(list, right); wrong != list.end()) {
        throw Error(fmt::format("{}: \"{}\" must be a list of {}, found {}", config.file(), key, expected,
                                wrong->is_string() ? "a text" : wrong->dump()));
    }
    return list.get<std::vector<T>>();
}

std::vector<std::string> texts_of(const ForeignConfig& config, const std::string& key) {
    return list_of<std::string>(config, key, "texts", [](const json& one) { return one.is_string(); });
}

GgufPieces pieces_of(const ForeignConfig& config, std::int64_t rows) {
    GgufPieces pieces{.texts = texts_of(config, kTokens),
                      .types = list_of<int>(
                          config, "tokenizer.ggml.token_type", "integers from 1 to 6",
                          [](const json& one) { return one.is_number_integer() && one >= kNormal && one <= kByte; }),
                      .scores = list_of<float>(config, "tokenizer.ggml.scores", "finite numbers", [](const json& one) {
                          return one.is_number() && std::isfinite(one.get<float>());
                      })};
    const std::size_t size = pieces.texts.size();
    if (std::cmp_not_equal(size, rows)) {
        throw Error(fmt::format("{}: \"{}\" has {} pieces, but token_embd.weight has {} rows", config.file(), kTokens,
                                size, rows));
    }
    const auto check = [&](const char* key, std::size_t count) {
        if (count != size && count != 0) {
            throw Error(fmt::format("{}: \"{}\" has {} elements for {} pieces", config.file(), key, count, size));
        }
    };
    check("tokenizer.ggml.token_type", pieces.types.size());
    check("tokenizer.ggml.scores", pieces.scores.size());
    pieces.types.resize(size, kNormal);
    return pieces;
}

// Pieces at the end that pad the table are left out.
std::size_t used_pieces(const GgufPieces& pieces) {
    std::size_t size = pieces.types.size();
    while (size > 0 && pieces.types[size - 1] == kUnused) {
        --size;
    }
    return size;
}

Tokenizer byte_level(const ForeignConfig& config, const GgufPieces& pieces) {
    const NamedSplit& split = named_split(config);
    json ids = json::object();
    std::vector<AddedToken> added;
    for (std::size_t id = 0; id < used_pieces(pieces); ++id) {
        const std::string& text = pieces.texts[id];
        if (!ids.emplace(text, id).second) {
            throw Error(fmt::format("{}: \"{}\" has the piece '{}' twice", config.file(), kTokens, text));
        }
        if (pieces.types[id] == kControl || pieces.types[id] == kUserDefined) {
            added.push_back({.content = text, .special = pieces.types[id] == kControl});
        }
    }
    const json model = {{"type", "BPE"},
                        {"ignore_merges", split.ignores_merges},
                        {"vocab", ids},
                        {"merges", texts_of(config, "tokenizer.ggml.merges")}};
    json file = {{"version", "1.0"},
                 {"added_tokens", json::array()},
                 {"normalizer", split.normalises ? json{{"type", "NFC"}} : json()},
                 {"pre_tokenizer", pre_tokenizer_of(split)},
                 {"decoder", {{"type", "ByteLevel"}}},
                 {"model", model}};
    for (const AddedToken& token : added) {
        file["added_tokens"].push_back(added_token_json(token, ids[token.content].get<std::int32_t>()));
    }
    auto [segmenter, vocabulary] = parse_tokenizer_json(file, file.dump() + "\n", config.file());
    if (std::cmp_not_equal(vocabulary->size(), pieces.texts.size())) {
        vocabulary = numbered_vocabulary(vocabulary->pieces(), vocabulary->special(), vocabulary->name(),
                                         {.size = static_cast<std::int32_t>(pieces.texts.size())});
    }
    return {std::move(segmenter), std::move(vocabulary)};
}

// -1 if neither the file nor llama.cpp's default, `usual`, names a piece.
std::int32_t piece_id(const ForeignConfig& config, const char* key, std::int64_t rows, std::int64_t usual = -1) {
    return static_cast<std::int32_t>(config.integer(key, usual < rows ? usual : -1, -1, rows - 1));
}

// sentencepiece_model.proto. The library wants all pieces of bytes, or none.
std::string sentencepiece_model(const ForeignConfig& config, const GgufPieces& pieces) {
    const bool has_bytes = std::ranges::count(pieces.types, kByte) == 256;
    const bool adds_space = config.boolean("tokenizer.ggml.add_space_prefix", true);
    const bool trims = config.boolean("tokenizer.ggml.remove_extra_whitespaces", false);
    std::string model;
    for (std::size_t id = 0; id < pieces.texts.size(); ++id) {
        std::string piece;
        append_bytes(piece, 1, pieces.texts[id]);
        append_float(piece, 2, pieces.scores.empty() ? 0.0F : pieces.scores[id]);
        const bool lone_byte = pieces.types[id] == kByte && !has_bytes;
        append_varint(piece, 3, static_cast<std::uint64_t>(lone_byte ? kUnused : pieces.types[id]));
        append_bytes(model, 1, piece);
    }
    std::string trainer;
    append_varint(trainer, 3, 2);  // BPE
    append_varint(trainer, 35, has_bytes ? 1 : 0);
    append_bytes(model, 2, trainer);
    std::string normalizer;
    append_bytes(normalizer, 1, "identity");
    append_varint(normalizer, 3, adds_space ? 1 : 0);
    append_varint(normalizer, 4, trims ? 1 : 0);
    append_varint(normalizer, 5, 1);  // spaces are U+2581
    append_bytes(model, 3, normalizer);
    return model;
}

// The file writes the spaces of user-defined pieces as they are; SentencePiece finds such pieces where spaces are
// marked.
void mark_spaces(GgufPieces& pieces) {
    for (std::size_t id = 0; id < pieces.texts.size(); ++id) {
        std::string& text = pieces.texts[id];
        for (std::size_t at = 0; pieces.types[id] == kUserDefined && (at = text.find(' ', at)) != std::string::npos;) {
            text.replace(at, 1, kWordStart);
        }
    }
}

// Control pieces are found in texts, as llama.cpp and Hugging Face's tokenizers do.
Tokenizer sentencepiece(const ForeignConfig& config, const GgufPieces& pieces, const SpecialPieces& special) {
    std::string bytes = sentencepiece_model(config, pieces);
    auto [segmenter, own] = open_sentencepiece(bytes, config.file());
    std::vector<AddedToken> added;
    for (std::size_t id = 0; id < pieces.texts.size(); ++id) {
        if (pieces.types[id] == kControl) {
            added.push_back({.content = pieces.texts[id]});
        }
    }
    auto vocabulary = std::make_shared<const Vocabulary>(own->pieces(), special, config.file(), added);
    return {std::make_shared<AddedTokens>(std::move(segmenter), std::move(added), std::move(bytes)),
            std::move(vocabulary)};
}

// Texts also end with a turn or a message, if the file has pieces for these.
void read_gguf_decoding(const ForeignConfig& config, std::int64_t rows, ModelDirectory& model) {
    json decoding = json::object();
    std::vector<std::int32_t> ends{model.config.frame.eos_id};
    for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
        const std::int32_t id = piece_id(config, key, rows);
        if (id >= 0 && std::ranges::find(ends, id) == ends.end()) {
            ends.push_back(id);
        }
    }
    if (ends.front() >= 0 && ends.size() > 1) {
        decoding["ends"] = ends;
    }
    if (const std::string jinja = config.text("tokenizer.chat_template", ""); !jinja.empty()) {
        decoding[kChatKey] = chat_of_jinja(jinja);
    }
    if (!decoding.empty()) {
        model.decoding = std::make_shared<const json>(std::move(decoding));
        model.decoding_origin = config.file();
    }
}

}  // namespace

void open_gguf_tokenizer(const ForeignConfig& config, std::int64_t rows, Problems& problems, ModelDirectory& model) {
    GgufPieces pieces = pieces_of(config, rows);
    const std::string kind = config.text("tokenizer.ggml.model", "");
    const bool usual = kind == "llama";
    const SpecialPieces special{
        .pad = piece_id(config, "tokenizer.ggml.padding_token_id", rows),
        .bos = piece_id(config, "tokenizer.ggml.bos_token_id", rows, usual ? 1 : -1),
        .eos = piece_id(config, "tokenizer.ggml.eos_token_id", rows, usual ? 2 : -1),
        .unk = piece_id(config, "tokenizer.ggml.unknown_token_id", rows, usual ? 0 : -1),
    };
    bool begins = true;
    if (kind == "gpt2") {
        model.target_tokenizer = std::make_shared<const Tokenizer>(byte_level(config, pieces));
        begins = named_split(config).begins;
        if (config.boolean("tokenizer.ggml.add_space_prefix", false)) {
            problems.add(config.file(), "\"tokenizer.ggml.add_space_prefix\" is true: byte-level BPE has only false");
        }
    } else if (kind == "llama") {
        // In Gemma 3's files the unknown piece is a control piece.
        if (special.unk >= 0 && std::ranges::find(pieces.types, kUnknown) == pieces.types.end()) {
            pieces.types[static_cast<std::size_t>(special.unk)] = kUnknown;
        }
        mark_spaces(pieces);
        model.target_tokenizer = std::make_shared<const Tokenizer>(sentencepiece(config, pieces, special));
    } else {
        throw Error(
            fmt::format("{}: \"tokenizer.ggml.model\" is \"{}\"; supported are gpt2 and llama", config.file(), kind));
    }
    model.source_tokenizer = model.target_tokenizer;
    FrameConfig& frame = model.config.frame;
    frame.pad_id = -1;
    begins = config.boolean("tokenizer.ggml.add_bos_token", begins);
    frame.bos_id = begins ? special.bos : -1;
    if (begins && special.bos < 0) {
        config.problem("tokenizer.ggml.bos_token_id", "names no piece, but texts begin with it");
    }
    frame.eos_id = special.eos;
    frame.unk_id = model.target_tokenizer->unk_id();
    read_gguf_decoding(config, rows, model);
    if (config.boolean("tokenizer.ggml.add_eos_token", false)) {
        problems.add(config.file(), "\"tokenizer.ggml.add_eos_token\" is true: only false is supported");
    }
}

}  // namespace headscope
