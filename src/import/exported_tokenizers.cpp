// The tokenizers of exported language models.
#include <cstdint>

#include <nlohmann/json.hpp>

#include "import/exported_hugging_face.h"
#include "support/check.h"
#include "text/tokenizer_json.h"

namespace headscope {

namespace {

using nlohmann::json;

// Whether texts are the ids of pieces: the model has no tokenizer.
bool takes_ids(const Tokenizer& tokenizer) {
    return tokenizer.type() == TokenizerType::Words && !tokenizer.has_own_ids();
}

// Empty, with a problem, if there is no such file.
std::string tokenizer_file(const Tokenizer& tokenizer, Problems& problems) {
    const std::string own = tokenizer.files().segmenter;
    if (own.starts_with('{')) {
        return own;
    }
    if (tokenizer.has_own_ids() && tokenizer.type() == TokenizerType::WordPiece) {
        return word_piece_json(tokenizer.vocabulary(), {}, special_tokens(tokenizer.vocabulary()));
    }
    if (tokenizer.has_own_ids() && is_sentencepiece(tokenizer)) {
        try {
            return sentencepiece_json(own, tokenizer.vocabulary());
        } catch (const Error& error) {
            problems.add(tokenizer.name(), error.what());
            return "";
        }
    }
    problems.add(tokenizer.name(),
                 "has no form as a tokenizer.json: only BPE, unigram, WordPiece and byte-level BPE with their own ids "
                 "have one");
    return "";
}

}  // namespace

FileTexts language_tokenizer_files(const ModelDirectory& model, Problems& problems) {
    const ModelConfig& net = model.config;
    const Tokenizer& tokenizer = *model.target_tokenizer;
    if (takes_ids(tokenizer)) {
        return {};
    }
    const std::string file = tokenizer_file(tokenizer, problems);
    if (file.empty()) {
        return {};
    }
    // The fast class takes tokenizer.json as it is; those of the families build another tokenizer from its pieces.
    json settings = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                     {"model_max_length", net.max_length},
                     {"clean_up_tokenization_spaces", false}};
    const auto name = [&](const char* key, std::int32_t id) {
        if (id >= 0) {
            settings[key] = tokenizer.piece(id);
        }
    };
    const bool masked = net.architecture == Architecture::MaskedLm;
    name("bos_token", net.frame.bos_id < 0 ? net.frame.eos_id : net.frame.bos_id);
    name("eos_token", net.frame.eos_id);
    name("unk_token", net.frame.unk_id);
    name("pad_token", net.frame.pad_id);
    if (masked) {
        name("cls_token", net.frame.bos_id);
        name("sep_token", net.frame.eos_id);
        name("mask_token", net.frame.mask_id);
    } else {
        settings["add_bos_token"] = net.frame.bos_id >= 0;
    }
    return {
        {"tokenizer.json", with_frame(file, tokenizer.vocabulary(), net.frame.bos_id, masked ? net.frame.eos_id : -1)},
        {"tokenizer_config.json", settings.dump(2) + "\n"}};
}

}  // namespace headscope
