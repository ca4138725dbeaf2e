#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/check.h"
#include "support/utf8.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary_formats.h"
#include "text/word_piece.h"

namespace headscope {

namespace {

using nlohmann::json;

// Those of `names` that the vocabulary has. A mask in angle brackets takes the space before it.
std::vector<AddedToken> usual_added(const Vocabulary& vocabulary, std::initializer_list<const char*> names) {
    std::vector<AddedToken> added;
    for (const std::string_view name : names) {
        if (vocabulary.find(name)) {
            added.push_back({.content = std::string(name), .lstrip = name == "<mask>"});
        }
    }
    return added;
}

json ids_of(const Vocabulary& vocabulary) {
    json ids = json::object();
    for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
        ids[vocabulary.piece(id).text] = id;
    }
    return ids;
}

json template_step(const std::string& kind, const std::string& id, int type) {
    return {{kind, {{"id", id}, {"type_id", type}}}};
}

}  // namespace

json added_token_json(const AddedToken& token, std::int32_t id) {
    return {{"id", id},
            {"content", token.content},
            {"single_word", token.single_word},
            {"lstrip", token.lstrip},
            {"rstrip", token.rstrip},
            {"normalized", token.normalized},
            {"special", token.special}};
}

json added_tokens_json(const Vocabulary& vocabulary, const std::vector<AddedToken>& added) {
    json list = json::array();
    std::int32_t next = vocabulary.size();
    for (const AddedToken& token : added) {
        const std::optional<std::int32_t> id = vocabulary.find(token.content);
        list.push_back(added_token_json(token, id ? *id : next++));
    }
    return list;
}

std::string byte_bpe_json(const Vocabulary& vocabulary, std::string_view merges, const std::string& name,
                          bool add_prefix_space, std::vector<AddedToken> added) {
    if (added.empty()) {
        added = usual_added(vocabulary, {"<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"});
    }
    json pairs = json::array();
    for (int number = 1; !merges.empty(); ++number) {
        const std::string_view line = next_line(merges);
        if (line.empty() || line.starts_with("#version")) {
            continue;
        }
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos || space == 0 || space + 1 == line.size() ||
            line.find(' ', space + 1) != std::string_view::npos || first_invalid_utf8(line)) {
            throw Error(fmt::format("{}: line {}: expected two pieces with a space between them", name, number));
        }
        pairs.push_back({line.substr(0, space), line.substr(space + 1)});
    }
    const json file = {
        {"version", "1.0"},
        {"added_tokens", added_tokens_json(vocabulary, added)},
        {"normalizer", nullptr},
        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", add_prefix_space}, {"trim_offsets", true}}},
        {"post_processor", nullptr},
        {"decoder", {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}}},
        {"model",
         {{"type", "BPE"}, {"unk_token", nullptr}, {"vocab", ids_of(vocabulary)}, {"merges", std::move(pairs)}}}};
    return file.dump() + "\n";
}

std::string word_piece_json(const Vocabulary& vocabulary, const BertWordOptions& options,
                            std::vector<AddedToken> added) {
    if (vocabulary.special().unk < 0) {
        throw Error(fmt::format("{} has no [UNK], which stands for unknown words", vocabulary.name()));
    }
    if (added.empty()) {
        added = usual_added(vocabulary, {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"});
    }
    const json file = {{"version", "1.0"},
                       {"added_tokens", added_tokens_json(vocabulary, added)},
                       {"normalizer",
                        {{"type", "BertNormalizer"},
                         {"clean_text", options.clean_text},
                         {"handle_chinese_chars", options.split_ideographs},
                         {"strip_accents", options.strip_accents},
                         {"lowercase", options.lowercase}}},
                       {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                       {"post_processor", nullptr},
                       {"decoder", {{"type", "WordPiece"}, {"prefix", kContinues}, {"cleanup", true}}},
                       {"model",
                        {{"type", "WordPiece"},
                         {"unk_token", vocabulary.piece(vocabulary.special().unk).text},
                         {"continuing_subword_prefix", kContinues},
                         {"max_input_chars_per_word", kLongestWord},
                         {"vocab", ids_of(vocabulary)}}}};
    return file.dump() + "\n";
}

std::vector<AddedToken> special_tokens(const Vocabulary& vocabulary) {
    std::vector<AddedToken> tokens;
    for (const Piece& piece : vocabulary.pieces()) {
        if (piece.kind == PieceKind::Control || piece.kind == PieceKind::Unknown) {
            tokens.push_back({.content = piece.text});
        }
    }
    return tokens;
}

std::string with_frame(std::string_view tokenizer_json, const Vocabulary& vocabulary, std::int32_t begin,
                       std::int32_t end) {
    json file = json::parse(tokenizer_json);
    if (!file["post_processor"].is_null() || (begin < 0 && end < 0)) {
        return std::string(tokenizer_json);
    }
    json single = json::array();
    json special = json::object();
    const auto add = [&](json& steps, std::int32_t id, int type) {
        if (id >= 0) {
            const std::string& text = vocabulary.piece(id).text;
            steps.push_back(template_step("SpecialToken", text, type));
            special[text] = {{"id", text}, {"ids", {id}}, {"tokens", {text}}};
        }
    };
    add(single, begin, 0);
    single.push_back(template_step("Sequence", "A", 0));
    add(single, end, 0);
    json pair = single;
    pair.push_back(template_step("Sequence", "B", 1));
    add(pair, end, 1);
    file["post_processor"] = {
        {"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special}};
    return file.dump() + "\n";
}

}  // namespace headscope
