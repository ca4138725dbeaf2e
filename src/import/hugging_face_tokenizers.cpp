// The tokenizers of Hugging Face's folders.
#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "import/declared_tokens.h"
#include "import/hugging_face.h"
#include "import/language_lists.h"
#include "io/strict_json.h"
#include "io/whole_file.h"
#include "support/check.h"
#include "text/byte_pieces.h"
#include "text/json_field.h"
#include "text/known_vocabularies.h"
#include "text/sentencepiece_model.h"
#include "text/spaced_pieces.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary_file.h"

namespace headscope {

namespace {

using nlohmann::json;

json read_if_there(const std::string& folder, const char* name) {
    const std::string file = file_in(folder, name);
    json read = file.empty() ? json::object() : read_json_file(file);
    if (!read.is_object()) {
        throw Error(fmt::format("{}: expected a JSON object, found {}", file, read.type_name()));
    }
    return read;
}

// Further special tokens, such as languages, in the order of their ids. Without a list, those that the class knows.
std::vector<std::string> additional_tokens(const std::string& folder) {
    for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
        const json file = read_if_there(folder, name);
        const std::string path = file_in(folder, name);
        for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
            const JsonField list = JsonField(file, "", path)[key];
            if (list.value().empty() || list.value().is_object()) {  // an object names tokens, and is no list
                continue;
            }
            std::vector<std::string> tokens;
            for (const JsonField& token : list.elements()) {
                const JsonField content = token.value().is_object() ? token["content"] : token;
                content.require(content.value().is_string(), "must be a token: a string");
                tokens.push_back(content.value().get<std::string>());
            }
            return tokens;
        }
    }
    const json settings = tokenizer_settings(folder);
    return languages_of_class(settings.value("tokenizer_class", ""), settings.value("language_codes", ""));
}

// The vocabulary with as many pieces as the model's matrices have rows: unused ones are added, special ones dropped.
std::shared_ptr<const Vocabulary> fitted(std::shared_ptr<const Vocabulary> vocabulary, std::int64_t rows) {
    if (vocabulary->size() == rows) {
        return vocabulary;
    }
    std::vector<Piece> pieces = vocabulary->pieces();
    // BART's summaries lack the row of the mask.
    while (std::ssize(pieces) > rows && pieces.back().kind == PieceKind::Control) {
        pieces.pop_back();
    }
    return numbered_vocabulary(std::move(pieces), vocabulary->special(), vocabulary->name(),
                               {.size = static_cast<std::int32_t>(rows)});
}

// What a folder's tokenizer needs to know besides its own files.
struct TokenizerFolder {
    const std::string& folder;
    json settings;
    std::vector<DeclaredToken> declared;
    std::int64_t rows;
    std::vector<std::string> left_out = {};  // declared tokens without a row
    std::vector<std::string> remarks = {};

    std::string has(const char* name) const { return file_in(folder, name); }
};

// An option of tokenizer_config.json that a tokenizer.json says, too.
struct RepeatedOption {
    const char *setting, *part, *type, *key;
};
constexpr std::array<RepeatedOption, 4> kRepeated{
    {{"do_lower_case", "normalizer", "BertNormalizer", "lowercase"},
     {"strip_accents", "normalizer", "BertNormalizer", "strip_accents"},
     {"tokenize_chinese_chars", "normalizer", "BertNormalizer", "handle_chinese_chars"},
     {"add_prefix_space", "pre_tokenizer", "ByteLevel", "add_prefix_space"}}};

// A remark that names keys of the file that nothing reads.
void name_unknown_keys(const json& file, const std::string& name, TokenizerFolder& in) {
    constexpr std::array<std::string_view, 9> kKnown{"version",        "truncation", "padding",
                                                     "added_tokens",   "normalizer", "pre_tokenizer",
                                                     "post_processor", "decoder",    "model"};
    std::vector<std::string> unknown;
    for (const auto& [key, value] : file.items()) {
        if (!value.is_null() && std::ranges::find(kKnown, key) == kKnown.end()) {
            unknown.push_back(key);
        }
    }
    remark_unknown_keys(name, unknown, in.remarks);
}

// Remarks for those that contradict the file.
void compare_options(const json& file, const std::string& name, TokenizerFolder& in) {
    for (const auto& [setting, part, type, key] : kRepeated) {
        const json given = in.settings.value(setting, json());
        const json held = file.value(part, json());
        const bool is_there = held.is_object() && held.value("type", json()) == type && held.contains(key);
        if (given.is_boolean() && is_there && held[key].is_boolean() && held[key] != given) {
            in.remarks.push_back(
                fmt::format("tokenizer_config.json: \"{}\" is {}, but {} has \"{}.{}\": {}, which is obeyed", setting,
                            given.dump(), name, part, key, held[key].dump()));
        }
    }
}

// `text` is a tokenizer.json.
Tokenizer with_json(const std::string& text, const std::string& name, TokenizerFolder& in) {
    std::istringstream stream(text);
    json file = parse_json(stream, name);
    const bool is_tokenizer = file.is_object() && file.contains("model") && file["model"].is_object();
    if (is_tokenizer) {
        compare_options(file, name, in);
        name_unknown_keys(file, name, in);
    }
    const bool changed = is_tokenizer && add_declared(file, in.declared, in.rows, in.left_out);
    auto [segmenter, vocabulary] = parse_tokenizer_json(file, changed ? file.dump() + "\n" : text, name);
    return {std::move(segmenter), fitted(std::move(vocabulary), in.rows)};
}

AddedTokensList added_tokens(const TokenizerFolder& in) {
    AddedTokensList added;
    for (const DeclaredToken& one : in.declared) {
        added.tokens.push_back(one.token);
        added.ids.push_back(one.id);
    }
    return added;
}

// A SentencePiece model with the ids of a vocabulary. Error if a token is declared with another id.
Tokenizer numbered(const std::string& segmenter, std::shared_ptr<const Vocabulary> ids, TokenizerFolder& in) {
    for (const DeclaredToken& one : in.declared) {
        const auto id = ids->find(one.token.content);
        if (!id) {
            in.left_out.push_back(one.token.content);
        } else if (one.id >= 0 && *id != one.id) {
            throw Error(
                fmt::format("{}: the token '{}' is declared with the id {}, but it follows the pieces of {} as {}",
                            in.folder, one.token.content, one.id, segmenter, *id));
        }
    }
    return Tokenizer::load(segmenter, std::move(ids));
}

// mBART, NLLB and M2M100 number the pieces of their SentencePiece model again.
Tokenizer with_sentencepiece(const std::string& segmenter, SentencePieceIds rule, TokenizerFolder& in) {
    const auto size = static_cast<std::int32_t>(in.rows);
    AddedTokensList added = added_tokens(in);
    // Those with ids of their own have their places by them.
    const auto is_placed = [&](const std::string& text) {
        return std::ranges::any_of(in.declared, [&](const DeclaredToken& one) {
            return one.id >= 0 && one.token.special && one.token.content == text;
        });
    };
    std::vector<std::string> further = additional_tokens(in.folder);
    std::erase_if(further, is_placed);
    std::shared_ptr<const Vocabulary> ids;
    if (const std::string file = in.has("vocab.json"); !file.empty()) {
        ids = read_vocabulary(file, {.append = std::move(further),
                                     .added = std::move(added.tokens),
                                     .added_ids = std::move(added.ids),
                                     .size = size});
    } else if (const std::string fast = in.has("tokenizer.json"); !fast.empty()) {
        ids =
            read_vocabulary(fast, {.added = std::move(added.tokens), .added_ids = std::move(added.ids), .size = size});
    } else {
        const Tokenizer own = Tokenizer::load(segmenter);
        ids = rule == SentencePieceIds::Camembert
                  ? camembert_vocabulary(own.vocabulary(), size, std::move(added))
                  : fairseq_vocabulary(own.vocabulary(), further, !is_placed("<mask>"), size, std::move(added));
    }
    return numbered(segmenter, std::move(ids), in);
}

Tokenizer with_pegasus_pieces(const std::string& segmenter, TokenizerFolder& in) {
    const Tokenizer own = Tokenizer::load(segmenter);
    return numbered(segmenter,
                    pegasus_vocabulary(own.vocabulary(), static_cast<std::int32_t>(in.rows), added_tokens(in)), in);
}

Tokenizer with_t5_pieces(const std::string& segmenter, TokenizerFolder& in, bool mt5) {
    const Tokenizer own = Tokenizer::load(segmenter);
    int extra_ids = in.settings.value("extra_ids", mt5 ? 0 : 100);
    AddedTokensList added = added_tokens(in);
    for (const char* name : {"<pad>", "</s>", "<unk>"}) {
        added.tokens.push_back({name});
    }
    // The folder may number the sentinels otherwise.
    for (const DeclaredToken& one : in.declared) {
        const bool is_first = one.id == own.size() && is_sentinel(one.token.content);
        extra_ids = is_first && one.token.content != fmt::format("<extra_id_{}>", extra_ids - 1) ? 0 : extra_ids;
    }
    auto ids = t5_vocabulary(own.vocabulary(), extra_ids, static_cast<std::int32_t>(in.rows), std::move(added));
    return numbered(segmenter, std::move(ids), in);
}

// ByT5: each byte is a piece.
Tokenizer with_bytes(TokenizerFolder& in) {
    std::vector<Piece> pieces{{"<pad>"}, {"</s>"}, {"<unk>"}};
    for (int byte = 0; byte < 256; ++byte) {
        pieces.push_back({character_of_byte(static_cast<unsigned char>(byte))});
    }
    const int extra_ids = in.settings.value("extra_ids", 125);
    std::vector<AddedToken> added;
    for (const char* name : {"<pad>", "</s>", "<unk>"}) {
        added.push_back({.content = name, .lstrip = true, .rstrip = true});
    }
    for (int number = 0; number < extra_ids; ++number) {
        added.push_back({fmt::format("<extra_id_{}>", number)});
    }
    const Vocabulary bytes(std::move(pieces), {}, in.folder);
    return with_json(byte_bpe_json(bytes, "", in.folder, false, std::move(added)), in.folder, in);
}

BertWordOptions bert_options(const json& settings) {
    BertWordOptions options;
    options.lowercase = settings.value("do_lower_case", true);
    options.split_ideographs = settings.value("tokenize_chinese_chars", true);
    const auto accents = settings.find("strip_accents");
    options.strip_accents =
        accents != settings.end() && accents->is_boolean() ? accents->get<bool>() : options.lowercase;
    return options;
}

// Whether a class's rules are those of its files here; Error if not. Any class is read by its `fast` tokenizer.json.
bool knows_class(const std::string& folder, const json& settings, const std::string& fast) {
    constexpr std::array kKnown{"BartTokenizer",       "BertTokenizer",    "ByT5Tokenizer",   "CamembertTokenizer",
                                "DistilBertTokenizer", "GPT2Tokenizer",    "M2M100Tokenizer", "MBart50Tokenizer",
                                "MBartTokenizer",      "MT5Tokenizer",     "MarianTokenizer", "NllbTokenizer",
                                "PegasusTokenizer",    "RobertaTokenizer", "T5Tokenizer",     "TokenizersBackend",
                                "XLMRobertaTokenizer"};
    const auto found = settings.find("tokenizer_class");
    if (found == settings.end() || !found->is_string()) {
        return true;
    }
    const std::string given = *found;
    const std::string name = given.ends_with("Fast") ? given.substr(0, given.size() - 4) : given;
    const bool known = name == "PreTrainedTokenizer" || std::ranges::find(kKnown, name) != kKnown.end();
    if (!known && fast.empty()) {
        throw Error(
            fmt::format("{}: \"tokenizer_class\" is \"{}\", whose rules are not supported; supported are {}. If "
                        "the folder can be saved with a tokenizer.json, that is read for any class",
                        folder, given, fmt::join(kKnown, ", ")));
    }
    return known;
}

// Without tokenizer files a text is the ids of its pieces.
Tokenizer of_ids(const std::string& folder, std::int64_t rows, ModelDirectory& model) {
    model.remarks.push_back(fmt::format("{} has no tokenizer: texts are the ids of pieces, such as '27 1'", folder));
    return {std::make_shared<SpacedPieces>(), vocabulary_of_ids(static_cast<std::int32_t>(rows), {}, folder)};
}

Tokenizer open_tokenizer(TokenizerFolder& in, SentencePieceIds rule, ModelDirectory& model) {
    const std::string fast = in.has("tokenizer.json");
    if (!knows_class(in.folder, in.settings, fast)) {
        return with_json(read_whole_file(fast, fast), fast, in);
    }
    if (const std::string file = in.has("sentencepiece.bpe.model"); !file.empty()) {
        return with_sentencepiece(file, rule, in);
    }
    if (const std::string file = in.has("spiece.model"); !file.empty()) {
        return rule == SentencePieceIds::Pegasus ? with_pegasus_pieces(file, in)
                                                 : with_t5_pieces(file, in, rule == SentencePieceIds::Mt5);
    }
    if (!fast.empty()) {
        return with_json(read_whole_file(fast, fast), fast, in);
    }
    if (in.settings.value("tokenizer_class", "") == "ByT5Tokenizer") {
        return with_bytes(in);
    }
    if (const std::string merges = in.has("merges.txt"); !merges.empty()) {
        const auto ids = read_vocabulary(require_file(in.folder, "vocab.json", "the ids of the pieces of merges.txt"));
        return with_json(
            byte_bpe_json(*ids, read_whole_file(merges, merges), merges, in.settings.value("add_prefix_space", false)),
            merges, in);
    }
    if (const std::string file = in.has("vocab.txt"); !file.empty()) {
        return with_json(word_piece_json(*read_vocabulary(file), bert_options(in.settings)), file, in);
    }
    return of_ids(in.folder, in.rows, model);
}

}  // namespace

json tokenizer_settings(const std::string& folder) {
    json settings = read_if_there(folder, "tokenizer_config.json");
    const json config = read_if_there(folder, "config.json");
    if (!settings.contains("tokenizer_class") && config.contains("tokenizer_class")) {
        settings["tokenizer_class"] = config["tokenizer_class"];
    }
    for (auto key = settings.begin(); key != settings.end();) {
        key = key->is_null() ? settings.erase(key) : std::next(key);
    }
    check_tokenizer_settings(settings, (std::filesystem::path(folder) / "tokenizer_config.json").string());
    return settings;
}

void open_tokenizers(const std::string& folder, Problems& problems, ModelDirectory& model, SentencePieceIds ids) {
    TokenizerFolder in{.folder = folder,
                       .settings = tokenizer_settings(folder),
                       .declared = {},
                       .rows = model.config.target_vocabulary};
    in.declared = declared_tokens(folder, in.settings);
    model.source_tokenizer = model.target_tokenizer = std::make_shared<const Tokenizer>(open_tokenizer(in, ids, model));
    model.remarks.insert(model.remarks.end(), in.remarks.begin(), in.remarks.end());
    if (!in.left_out.empty()) {
        model.remarks.push_back(
            fmt::format("{}: the model has no row for the declared tokens {}: they are read as text", folder,
                        fmt::join(in.left_out, ", ")));
    }
    const Tokenizer& tokenizer = *model.target_tokenizer;
    if (tokenizer.size() != model.config.target_vocabulary) {
        problems.add("config.json", fmt::format("\"vocab_size\" is {}, but {} has {} pieces",
                                                model.config.target_vocabulary, tokenizer.name(), tokenizer.size()));
    }
    model.config.frame.unk_id = tokenizer.unk_id();
}

}  // namespace headscope
