#include "text/known_vocabularies.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"
#include "text/vocabulary_file.h"

namespace headscope {

std::shared_ptr<const Vocabulary> t5_vocabulary(const Vocabulary& sentencepiece, std::int32_t extra_ids,
                                                std::int32_t size, AddedTokensList added) {
    VocabularyRules rules{.added = std::move(added.tokens), .added_ids = std::move(added.ids), .size = size};
    for (std::int32_t number = extra_ids; number-- > 0;) {
        rules.append.push_back(fmt::format("<extra_id_{}>", number));
        const bool known = std::ranges::any_of(
            rules.added, [&](const AddedToken& token) { return token.content == rules.append.back(); });
        if (!known) {
            rules.added.push_back({rules.append.back()});
        }
    }
    return numbered_vocabulary(sentencepiece.pieces(), sentencepiece.special(), sentencepiece.name(), rules);
}

namespace {

constexpr std::int32_t kOwnSpecial = 3;  // `<unk> <s> </s>`

void require_fairseq_order(const Vocabulary& sentencepiece) {
    const SpecialPieces& own = sentencepiece.special();
    if (own.unk != 0 || own.bos != 1 || own.eos != 2 || sentencepiece.size() < kOwnSpecial) {
        throw Error(
            fmt::format("{} has the unknown piece at {}, the begin at {} and the end at {}, but expected 0, 1 and 2",
                        sentencepiece.name(), own.unk, own.bos, own.eos));
    }
}

void append_from(const Vocabulary& sentencepiece, std::int32_t first, std::vector<Piece>& pieces) {
    pieces.insert(pieces.end(), sentencepiece.pieces().begin() + first, sentencepiece.pieces().end());
}

}  // namespace

std::shared_ptr<const Vocabulary> fairseq_vocabulary(const Vocabulary& sentencepiece,
                                                     const std::vector<std::string>& languages, bool has_mask,
                                                     std::int32_t size, AddedTokensList added) {
    require_fairseq_order(sentencepiece);
    std::vector<Piece> pieces{{"<s>"}, {"<pad>"}, {"</s>"}, {"<unk>"}};
    append_from(sentencepiece, kOwnSpecial, pieces);
    VocabularyRules rules{
        .append = languages, .added = std::move(added.tokens), .added_ids = std::move(added.ids), .size = size};
    if (has_mask) {
        rules.append.emplace_back("<mask>");
    }
    return numbered_vocabulary(std::move(pieces), {.pad = 1, .bos = 0, .eos = 2, .unk = 3}, sentencepiece.name(),
                               rules);
}

std::shared_ptr<const Vocabulary> camembert_vocabulary(const Vocabulary& sentencepiece, std::int32_t size,
                                                       AddedTokensList added) {
    require_fairseq_order(sentencepiece);
    std::vector<Piece> pieces;
    for (const char* text : {"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"}) {
        pieces.push_back({.text = text, .kind = PieceKind::Control});
    }
    const auto first = static_cast<std::int32_t>(pieces.size());
    append_from(sentencepiece, 1, pieces);
    return numbered_vocabulary(
        std::move(pieces), {.pad = 1, .bos = first, .eos = first + 1, .unk = 3}, sentencepiece.name(),
        {.append = {"<mask>"}, .added = std::move(added.tokens), .added_ids = std::move(added.ids), .size = size});
}

std::shared_ptr<const Vocabulary> pegasus_vocabulary(const Vocabulary& sentencepiece, std::int32_t size,
                                                     AddedTokensList added) {
    const SpecialPieces& own = sentencepiece.special();
    if (own.pad != 0 || own.eos != 1 || own.unk != 2) {
        throw Error(
            fmt::format("{} has the pad at {}, the end at {} and the unknown piece at {}, but expected 0, 1 and 2",
                        sentencepiece.name(), own.pad, own.eos, own.unk));
    }
    std::vector<Piece> pieces;
    const auto add = [&](std::string text) { pieces.push_back({.text = std::move(text), .kind = PieceKind::Control}); };
    for (const char* text : {"<pad>", "</s>", "<mask_1>", "<mask_2>"}) {
        add(text);
    }
    for (int number = 2; number <= 102; ++number) {
        add(fmt::format("<unk_{}>", number));
    }
    const auto unknown = static_cast<std::int32_t>(pieces.size());
    append_from(sentencepiece, own.unk, pieces);
    return numbered_vocabulary(std::move(pieces), {.pad = 0, .eos = 1, .unk = unknown}, sentencepiece.name(),
                               {.added = std::move(added.tokens), .added_ids = std::move(added.ids), .size = size});
}

std::shared_ptr<const Vocabulary> vocabulary_of_ids(std::int32_t size, SpecialPieces special, const std::string& name) {
    std::vector<Piece> pieces;
    for (std::int32_t id = 0; id < size; ++id) {
        pieces.push_back({std::to_string(id)});
    }
    return numbered_vocabulary(std::move(pieces), special, name);
}

}  // namespace headscope
