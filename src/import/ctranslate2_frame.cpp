#include "import/ctranslate2_frame.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/formats.h"
#include "import/hugging_face.h"
#include "import/language_lists.h"
#include "text/vocabulary_file.h"

namespace headscope {

namespace {

// "de_DE", as mBART names languages.
bool is_of_mbart(const std::string& piece) {
    const auto is_between = [&](std::size_t at, char first, char last) {
        return piece[at] >= first && piece[at] <= last;
    };
    return piece.size() == 5 && piece[2] == '_' && is_between(0, 'a', 'z') && is_between(1, 'a', 'z') &&
           is_between(3, 'A', 'Z') && is_between(4, 'A', 'Z');
}

// The languages of mBART are control pieces, too. One alone may be an ordinary piece.
std::shared_ptr<const Vocabulary> read_pieces(const std::string& file, VocabularyRules rules) {
    std::shared_ptr<const Vocabulary> vocabulary = read_vocabulary(file, rules);
    for (const Piece& piece : vocabulary->pieces()) {
        if (is_of_mbart(piece.text)) {
            rules.control.push_back(piece.text);
        }
    }
    return rules.control.size() > 1 ? read_vocabulary(file, rules) : vocabulary;
}

std::shared_ptr<const Tokenizer> open_ctranslate2_tokenizer(const std::string& folder, const std::string& side,
                                                            const VocabularyRules& rules) {
    const std::string own = side + "_vocabulary";
    const std::string found =
        file_in(folder, {own + ".json", own + ".txt", "shared_vocabulary.json", "shared_vocabulary.txt"});
    const std::string ids =
        !found.empty() ? found
                       : require_file(folder, own + ".json", "the vocabulary (or shared_vocabulary.json, or .txt)");
    return numbered_tokenizer(
        file_in(folder, {side + ".spm", "sentencepiece.model", "sentencepiece.bpe.model", "spiece.model", "spm.model"}),
        read_pieces(ids, rules));
}

enum class Family : std::uint8_t { Other, Bart, MBart25, MBart50, M2M100 };

// By the names of the languages, and for BART by the network.
Family family_of(const ModelConfig& net, const ForeignConfig& settings, const CTranslate2Pieces& pieces) {
    const auto is_any = [&](auto holds) {
        return std::ranges::any_of(net.frame.languages, [&](const auto& language) { return holds(language.first); });
    };
    if (is_any(is_of_mbart)) {
        const bool starts_from_end = settings.text("decoder_start_token", "") == pieces.end;
        const bool further = settings.is_null("decoder_start_token") && is_any(is_only_of_mbart50);
        return starts_from_end || further ? Family::MBart50 : Family::MBart25;
    }
    if (!net.frame.languages.empty()) {
        return Family::M2M100;
    }
    const bool bart = net.positions.kind == Positions::Learned && net.embedding.norm == EmbeddingNorm::Last &&
                      net.norm.placement == NormPlacement::Post &&
                      settings.text("decoder_start_token", "") == pieces.end &&
                      !settings.boolean("add_source_eos", false);
    return bart ? Family::Bart : Family::Other;
}

std::int32_t id_of_setting(const Tokenizer& tokenizer, const ForeignConfig& settings, const char* key,
                           const std::string& piece) {
    const std::optional<std::int32_t> id = tokenizer.vocabulary().find(piece);
    if (!id) {
        settings.problem(key, fmt::format("is \"{}\", which the vocabulary lacks", piece));
    }
    return id.value_or(0);
}

// The piece from which the decoder starts.
std::string start_of(Family family, const ForeignConfig& settings, const CTranslate2Pieces& pieces) {
    const char* key = "decoder_start_token";
    if (!settings.is_null(key)) {
        return settings.text(key, settings.boolean("with_target_bos", true) ? pieces.begin : pieces.end);
    }
    if (family == Family::MBart25) {
        settings.problem(
            key,
            "is null: write the piece there from which the decoder starts, for mBART-25 the target language, such as "
            "\"ro_RO\", for mBART-50 \"</s>\"");
    } else if (family != Family::MBart50) {
        settings.problem(key, "is null: expected the piece from which the decoder starts, such as \"</s>\"");
    }
    return pieces.end;
}

void set_frame(Family family, const std::string& start, const ForeignConfig& settings, const CTranslate2Pieces& pieces,
               ModelDirectory& model) {
    ModelConfig& net = model.config;
    const bool is_from_hugging_face = family != Family::Other || start == pieces.end || start == "<pad>";
    // Their programs append the end of the source themselves.
    const bool ends = settings.boolean("add_source_eos", settings.boolean("with_source_eos", false));
    net.frame.source_end =
        ends || is_from_hugging_face ? std::vector{model.source_tokenizer->eos_id()} : std::vector<std::int32_t>{};
    if (settings.boolean("add_source_bos", settings.boolean("with_source_bos", false)) || family == Family::Bart) {
        net.frame.source_begin = {id_of_setting(*model.source_tokenizer, settings, "bos_token", pieces.begin)};
    }
    if (family == Family::MBart25) {
        net.frame.source_end.push_back(kSourceLanguage);
    } else if (family == Family::MBart50 || family == Family::M2M100) {
        net.frame.source_begin = {kSourceLanguage};
        net.frame.target_begin = {kTargetLanguage};
    }
}

// The converter calls the rows "madeupword0" and so on that have no name in the tokenizer. With transformers 5 those of
// languages are among them.
void remark_lost_languages(ModelDirectory& model) {
    if (model.config.frame.languages.empty() && model.target_tokenizer->vocabulary().find("madeupword0")) {
        model.remarks.push_back(
            fmt::format("{}: languages cannot be chosen, as its vocabulary names none; a conversion of M2M100 or NLLB "
                        "whose tokenizer lists them in \"additional_special_tokens\" does",
                        model.path));
    }
}

}  // namespace

CTranslate2Pieces ctranslate2_pieces(const ForeignConfig& settings, bool starts_from_zero) {
    return {.begin = settings.text("bos_token", "<s>"),
            .end = settings.text("eos_token", "</s>"),
            .unknown = settings.text("unk_token", "<unk>"),
            .starts_from_zero = starts_from_zero};
}

void read_ctranslate2_frame(const ForeignConfig& settings, const CTranslate2Pieces& pieces, ModelDirectory& model) {
    const VocabularyRules rules{
        .eos = pieces.end, .unk = pieces.unknown, .append_unknown = true, .repeats_sentinels = true};
    model.source_tokenizer = open_ctranslate2_tokenizer(model.path, "source", rules);
    model.target_tokenizer = open_ctranslate2_tokenizer(model.path, "target", rules);
    remark_spaced_pieces(model);
    ModelConfig& net = model.config;
    net.frame.pad_id = -1;
    net.frame.eos_id = model.target_tokenizer->eos_id();
    net.frame.unk_id = model.target_tokenizer->unk_id();
    add_opus_languages(model);
    const bool is_opus = !net.frame.languages.empty();
    if (!is_opus) {
        add_languages(model);
    }
    const Family family = is_opus ? Family::Other : family_of(net, settings, pieces);
    const std::string start = start_of(family, settings, pieces);
    net.frame.bos_id =
        pieces.starts_from_zero ? -1 : id_of_setting(*model.target_tokenizer, settings, "decoder_start_token", start);
    set_frame(family, start, settings, pieces, model);
    choose_languages(model.path, model);
    remark_lost_languages(model);
}

}  // namespace headscope
