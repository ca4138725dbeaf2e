#include "text/known_vocabularies.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"
#include "text/vocabulary_file.h"

namespace headscope {

std::shared_ptr<const Vocabulary> t5_vocabulary(const Vocabulary& sentencepiece, std::int32_t extra_ids,
                                                std::int32_t size, std::vector<AddedToken> added) {
    VocabularyRules rules{.added = std::move(added), .size = size};
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

std::shared_ptr<const Vocabulary> fairseq_vocabulary(const Vocabulary& sentencepiece,
                                                     const std::vector<std::string>& languages, bool has_mask,
                                                     std::int32_t size, std::vector<AddedToken> added) {
    constexpr std::int32_t kOwnSpecial = 3;  // `<unk> <s> </s>`
    const SpecialPieces& own = sentencepiece.special();
    if (own.unk != 0 || own.bos != 1 || own.eos != 2 || sentencepiece.size() < kOwnSpecial) {
        throw Error(
            fmt::format("{} has the unknown piece at {}, the begin at {} and the end at {}, but expected 0, 1 and 2",
                        sentencepiece.name(), own.unk, own.bos, own.eos));
    }
    std::vector<Piece> pieces{{"<s>"}, {"<pad>"}, {"</s>"}, {"<unk>"}};
    pieces.insert(pieces.end(), sentencepiece.pieces().begin() + kOwnSpecial, sentencepiece.pieces().end());
    VocabularyRules rules{.append = languages, .added = std::move(added), .size = size};
    if (has_mask) {
        rules.append.emplace_back("<mask>");
    }
    return numbered_vocabulary(std::move(pieces), {.pad = 1, .bos = 0, .eos = 2, .unk = 3}, sentencepiece.name(),
                               rules);
}

std::shared_ptr<const Vocabulary> vocabulary_of_ids(std::int32_t size, SpecialPieces special, const std::string& name) {
    std::vector<Piece> pieces;
    for (std::int32_t id = 0; id < size; ++id) {
        pieces.push_back({std::to_string(id)});
    }
    return numbered_vocabulary(std::move(pieces), special, name);
}

}  // namespace headscope
