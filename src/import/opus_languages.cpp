#include <nlohmann/json.hpp>

#include "import/formats.h"

namespace headscope {

void add_opus_languages(ModelDirectory& model) {
    for (const Piece& piece : model.source_tokenizer->vocabulary().pieces()) {
        if (piece.text.starts_with(">>") && piece.text.ends_with("<<") && piece.text.size() > 4) {
            const std::string name = piece.text.substr(2, piece.text.size() - 4);
            model.config.frame.languages[name] = *model.source_tokenizer->vocabulary().find(piece.text);
        }
    }
    if (!model.config.frame.languages.empty()) {
        model.config.frame.source_begin = {kTargetLanguage};
    }
    if (model.config.frame.languages.size() == 1) {
        nlohmann::json decoding = *model.decoding;
        decoding["target_language"] = model.config.frame.languages.begin()->first;
        model.decoding = std::make_shared<const nlohmann::json>(std::move(decoding));
    }
}

}  // namespace headscope
