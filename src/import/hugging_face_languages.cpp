// The languages of Hugging Face's models, and the author's choice of them.
#include <algorithm>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "import/hugging_face.h"
#include "model/frame_of_config.h"

namespace headscope {

namespace {

using nlohmann::json;

// "deu_Latn", "de_DE" and "__de__" as they are named on the command line; empty for other pieces.
std::string language_of_piece(const std::string& piece) {
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

void add_languages(ModelDirectory& model) {
    const Vocabulary& vocabulary = model.source_tokenizer->vocabulary();
    for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
        if (const std::string name = language_of_piece(vocabulary.piece(id).text);
            !name.empty() && vocabulary.piece(id).kind == PieceKind::Control) {
            model.config.frame.languages[name] = id;
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
        const std::string name =
            language_of_piece(*found).empty() ? found->get<std::string>() : language_of_piece(*found);
        if (model.config.frame.languages.contains(name)) {
            decoding[ours] = name;
        }
    };
    choose("src_lang", "source_language", kSourceLanguage);
    choose("tgt_lang", "target_language", kTargetLanguage);
    // A forced language is the author's choice, but another can be chosen.
    for (const auto& [name, id] : model.config.frame.languages) {
        if (model.config.frame.target_begin == std::vector{id}) {
            model.config.frame.target_begin = {kTargetLanguage};
            decoding["target_language"] = name;
            break;
        }
    }
    model.decoding = std::make_shared<const json>(std::move(decoding));
}

}  // namespace headscope
