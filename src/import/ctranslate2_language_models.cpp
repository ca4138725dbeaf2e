// CTranslate2's GPT-2, which is a decoder alone, and BERT, which is an encoder alone, without a head.
#include <algorithm>

#include <fmt/format.h>

#include "import/common.h"
#include "import/ctranslate2.h"
#include "import/hugging_face.h"
#include "text/vocabulary_file.h"

namespace headscope {

namespace {

// Problem for a tokenizer of Hugging Face, copied beside the model, that numbers pieces in another way.
void check_ids(const Tokenizer& tokenizer, const Vocabulary& vocabulary, Problems& problems) {
    for (std::int32_t id = 0; id < std::min(vocabulary.size(), tokenizer.size()); ++id) {
        const Piece& own = tokenizer.vocabulary().piece(id);
        if (own.kind != PieceKind::Unused && own.text != vocabulary.piece(id).text) {
            problems.add(tokenizer.name(), fmt::format("has the piece '{}' with the id {}, but {} has '{}'", own.text,
                                                       id, vocabulary.name(), vocabulary.piece(id).text));
            return;
        }
    }
}

void open_language_tokenizer(const VocabularyRules& rules, Problems& problems, ModelDirectory& model) {
    const std::string& folder = model.path;
    const std::string ids = file_in(folder, std::vector<std::string>{"vocabulary.json", "vocabulary.txt"});
    auto vocabulary = read_vocabulary(
        ids.empty() ? require_file(folder, "vocabulary.json", "the vocabulary (or vocabulary.txt)") : ids, rules);
    if (!file_in(folder, {"tokenizer.json", "merges.txt", "vocab.txt"}).empty()) {
        open_tokenizers(folder, problems, model);
        check_ids(*model.target_tokenizer, *vocabulary, problems);
        return;
    }
    const std::string segmenter = file_in(folder, {"sentencepiece.bpe.model", "sentencepiece.model", "spiece.model"});
    model.source_tokenizer = model.target_tokenizer = numbered_tokenizer(segmenter, std::move(vocabulary));
    model.config.frame.unk_id = model.target_tokenizer->unk_id();
    if (segmenter.empty()) {
        model.remarks.push_back(
            fmt::format("{} has no tokenizer (such as tokenizer.json): texts are pieces "
                        "separated by spaces",
                        folder));
    }
}

}  // namespace

void read_ctranslate2_language_model(const ForeignConfig& settings, Problems& problems, ModelDirectory& model) {
    ModelConfig& net = model.config;
    const auto rows = static_cast<std::int32_t>(net.target_vocabulary);
    const bool fills = net.architecture == Architecture::MaskedLm;
    // The settings of an encoder name pieces that it lacks.
    const std::string end = fills ? "" : settings.text("eos_token", "</s>");
    open_language_tokenizer({.eos = end, .repeats_sentinels = true, .size = rows}, problems, model);
    problems.finish();
    const Vocabulary& vocabulary = model.target_tokenizer->vocabulary();
    net.frame.eos_id = fills ? model.target_tokenizer->eos_id() : vocabulary.find(end).value_or(-1);
    if (fills) {
        net.frame.between = {net.frame.eos_id};
    }
    net.frame.pad_id = fills ? model.target_tokenizer->pad_id() : -1;
    net.frame.bos_id = fills ? model.target_tokenizer->bos_id() : -1;  // GPT-2's texts have no beginning
    if (!fills) {
        net.frame.unk_id = -1;
        return;
    }
    for (const char* mask : {"[MASK]", "<mask>"}) {
        net.frame.mask_id = vocabulary.find(mask).value_or(net.frame.mask_id);
    }
    model.remarks.push_back(fmt::format(
        "{} has no head for masked words: its attention can be seen, but what it fills in means nothing", model.path));
}

}  // namespace headscope
