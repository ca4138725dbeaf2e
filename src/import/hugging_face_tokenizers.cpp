// The tokenizers of Hugging Face's folders, and what stands around texts.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/hugging_face.h"
#include "import/language_lists.h"
#include "io/strict_json.h"
#include "io/whole_file.h"
#include "model/frame.h"
#include "support/check.h"
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

Tokenizer with_json(const std::string& text, const std::string& name, std::int64_t rows) {
    auto [segmenter, vocabulary] = parse_tokenizer_json(text, name);
    return {std::move(segmenter), fitted(std::move(vocabulary), rows)};
}

// mBART, NLLB and M2M100 number the pieces of their SentencePiece model again.
Tokenizer with_sentencepiece(const std::string& folder, const std::string& segmenter, std::int64_t rows) {
    std::shared_ptr<const Vocabulary> ids;
    if (const std::string file = file_in(folder, "vocab.json"); !file.empty()) {
        ids = read_vocabulary(file, {.append = additional_tokens(folder), .size = static_cast<std::int32_t>(rows)});
    } else if (const std::string fast = file_in(folder, "tokenizer.json"); !fast.empty()) {
        ids = read_vocabulary(fast, {.size = static_cast<std::int32_t>(rows)});
    } else {
        const Tokenizer own = Tokenizer::load(segmenter);
        ids = fairseq_vocabulary(own.vocabulary(), additional_tokens(folder), true, static_cast<std::int32_t>(rows));
    }
    return Tokenizer::load(segmenter, std::move(ids));
}

Tokenizer with_t5_pieces(const std::string& segmenter, const json& settings, bool mt5, std::int64_t rows) {
    const Tokenizer own = Tokenizer::load(segmenter);
    const int extra_ids = settings.value("extra_ids", mt5 ? 0 : 100);
    return Tokenizer::load(segmenter, t5_vocabulary(own.vocabulary(), extra_ids, static_cast<std::int32_t>(rows)));
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

// Without tokenizer files a text is the ids of its pieces.
Tokenizer of_ids(const std::string& folder, std::int64_t rows, ModelDirectory& model) {
    model.remarks.push_back(fmt::format("{} has no tokenizer: texts are the ids of pieces, such as '27 1'", folder));
    return {std::make_shared<SpacedPieces>(), vocabulary_of_ids(static_cast<std::int32_t>(rows), {}, folder)};
}

Tokenizer open_tokenizer(const std::string& folder, bool mt5, ModelDirectory& model) {
    const std::int64_t rows = model.config.target_vocabulary;
    const json settings = tokenizer_settings(folder);
    const auto has = [&](const char* name) { return file_in(folder, name); };
    if (const std::string file = has("sentencepiece.bpe.model"); !file.empty()) {
        return with_sentencepiece(folder, file, rows);
    }
    if (const std::string file = has("spiece.model"); !file.empty()) {
        return with_t5_pieces(file, settings, mt5, rows);
    }
    if (const std::string file = has("tokenizer.json"); !file.empty()) {
        return with_json(read_whole_file(file, file), file, rows);
    }
    if (const std::string merges = has("merges.txt"); !merges.empty()) {
        const auto ids = read_vocabulary(require_file(folder, "vocab.json", "the ids of the pieces of merges.txt"));
        return with_json(
            byte_bpe_json(*ids, read_whole_file(merges, merges), merges, settings.value("add_prefix_space", false)),
            merges, rows);
    }
    if (const std::string file = has("vocab.txt"); !file.empty()) {
        return with_json(word_piece_json(*read_vocabulary(file), bert_options(settings)), file, rows);
    }
    return of_ids(folder, rows, model);
}

// "deu_Latn", "de_DE" and "__de__" as they are named on the command line; empty for other pieces.
std::string language_of(const std::string& piece) {
    if (piece.size() > 4 && piece.starts_with("__") && piece.ends_with("__")) {
        return piece.substr(2, piece.size() - 4);
    }
    const std::size_t line = piece.find('_');
    const bool named = (line == 2 && piece.size() == 5) || (line == 3 && piece.size() == 8);
    return named && std::all_of(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(line),
                                [](char letter) { return letter >= 'a' && letter <= 'z'; })
               ? piece
               : "";
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

void open_tokenizers(const std::string& folder, Problems& problems, ModelDirectory& model, bool mt5) {
    model.source_tokenizer = model.target_tokenizer =
        std::make_shared<const Tokenizer>(open_tokenizer(folder, mt5, model));
    const Tokenizer& tokenizer = *model.target_tokenizer;
    if (tokenizer.size() != model.config.target_vocabulary) {
        problems.add("config.json", fmt::format("\"vocab_size\" is {}, but {} has {} pieces",
                                                model.config.target_vocabulary, tokenizer.name(), tokenizer.size()));
    }
    model.config.unk_id = tokenizer.unk_id();
}

void add_languages(ModelDirectory& model) {
    const Vocabulary& vocabulary = model.source_tokenizer->vocabulary();
    for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
        if (const std::string name = language_of(vocabulary.piece(id).text);
            !name.empty() && vocabulary.piece(id).kind == PieceKind::Control) {
            model.config.languages[name] = id;
        }
    }
}

void choose_languages(const std::string& folder, ModelDirectory& model) {
    const json settings = tokenizer_settings(folder);
    json decoding = model.decoding != nullptr ? *model.decoding : json::object();
    const auto choose = [&](const char* theirs, const char* ours, std::int32_t word) {
        const auto found = settings.find(theirs);
        if (found == settings.end() || !found->is_string() || !needs_language(model.config, word)) {
            return;
        }
        const std::string name = language_of(*found).empty() ? found->get<std::string>() : language_of(*found);
        if (model.config.languages.contains(name)) {
            decoding[ours] = name;
        }
    };
    choose("src_lang", "source_language", kSourceLanguage);
    choose("tgt_lang", "target_language", kTargetLanguage);
    // A forced language is the author's choice, but another can be chosen.
    for (const auto& [name, id] : model.config.languages) {
        if (model.config.target_begin == std::vector{id}) {
            model.config.target_begin = {kTargetLanguage};
            decoding["target_language"] = name;
            break;
        }
    }
    model.decoding = std::make_shared<const json>(std::move(decoding));
}

}  // namespace headscope
