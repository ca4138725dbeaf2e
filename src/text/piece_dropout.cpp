#include "text/piece_dropout.h"

#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "support/check.h"
#include "text/spaced_pieces.h"
#include "text/word_endings.h"

namespace headscope {

namespace {

bool has_endings(const Tokenizer& tokenizer) {
    return tokenizer.type() == TokenizerType::Words && tokenizer.files().segmenter.starts_with(kEndedPieces);
}

}  // namespace

WordDropout::WordDropout(const Tokenizer& tokenizer, double dropout)
    : threshold_(static_cast<std::uint64_t>(std::ldexp(dropout, 64))) {
    HEADSCOPE_CHECK(dropout >= 0.0 && dropout < 1.0, "dropout must be in [0, 1)");
    if (!has_endings(tokenizer)) {
        throw Error(
            fmt::format("dropping words needs a tokenizer of words with endings, but '{}' is not one: train one with "
                        "\"endings\" in \"tokenizer\", or remove \"word_dropout\"",
                        tokenizer.name()));
    }
    const Vocabulary& vocabulary = tokenizer.vocabulary();
    for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
        const Piece& piece = vocabulary.piece(id);
        const std::string ending = piece.kind == PieceKind::Normal ? known_ending(vocabulary, piece.text) : "";
        endings_.push_back(ending.empty() ? id : *vocabulary.find(ending));
    }
}

std::vector<std::int32_t> WordDropout::sample(const std::vector<std::int32_t>& ids, Random& random) const {
    std::vector<std::int32_t> sampled;
    for (const std::int32_t id : ids) {
        sampled.push_back(random.next() < threshold_ ? endings_[static_cast<std::size_t>(id)] : id);
    }
    return sampled;
}

}  // namespace headscope
