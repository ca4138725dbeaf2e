#include "text/explain.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"
#include "text/character_bounds.h"
#include "text/word_piece.h"

namespace headscope {

namespace {

using Steps = std::vector<std::string>;

constexpr std::size_t kLongestExplained = 1000;  // characters: work and output grow with their square

bool is_piece(const Vocabulary& vocabulary, std::string_view text) {
    return vocabulary.id_of_text(text) != vocabulary.special().unk;
}

// In each step merges the pair with the highest score, the first of equals.
Steps merges_of(const Vocabulary& vocabulary, std::string_view word, const std::vector<std::size_t>& bounds) {
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
        pieces.emplace_back(word.substr(bounds[i], bounds[i + 1] - bounds[i]));
    }
    Steps steps{fmt::format("{}", fmt::join(pieces, " "))};
    for (;;) {
        std::optional<float> best;
        std::size_t at = 0;
        for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
            const std::string merged = pieces[i] + pieces[i + 1];
            if (!is_piece(vocabulary, merged)) {
                continue;
            }
            const float score = vocabulary.piece(vocabulary.id_of_text(merged)).score;
            if (!best || score > *best) {
                best = score;
                at = i;
            }
        }
        if (!best) {
            return steps;
        }
        const std::string merge = fmt::format("{} + {}, score {:g}", pieces[at], pieces[at + 1], *best);
        pieces[at] += pieces[at + 1];
        pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        steps.push_back(fmt::format("{}    {}", fmt::join(pieces, " "), merge));
    }
}

struct Split {
    double score = 0.0;
    std::vector<std::string_view> pieces;
    std::vector<double> scores;
};

// The likeliest splits of a word: those of its beginnings, each with one more piece (Viterbi).
Steps likeliest_splits(const Vocabulary& vocabulary, std::string_view word, const std::vector<std::size_t>& bounds) {
    constexpr std::size_t kShown = 4;
    constexpr double kUnknownPenalty = 10.0;  // SentencePiece's, below the lowest score
    double lowest = std::numeric_limits<double>::infinity();
    for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
        const Piece& piece = vocabulary.piece(id);
        lowest = piece.kind == PieceKind::Normal ? std::min(lowest, static_cast<double>(piece.score)) : lowest;
    }
    std::vector<std::vector<Split>> best(bounds.size());
    best[0].emplace_back();
    for (std::size_t end = 1; end < bounds.size(); ++end) {
        for (std::size_t begin = 0; begin < end; ++begin) {
            const std::string_view piece = word.substr(bounds[begin], bounds[end] - bounds[begin]);
            const bool known = is_piece(vocabulary, piece);
            if (!known && end - begin > 1) {
                continue;
            }
            const double score = known ? static_cast<double>(vocabulary.piece(vocabulary.id_of_text(piece)).score)
                                       : lowest - kUnknownPenalty;
            for (Split split : best[begin]) {
                split.score += score;
                split.pieces.push_back(piece);
                split.scores.push_back(score);
                best[end].push_back(std::move(split));
            }
        }
        std::stable_sort(best[end].begin(), best[end].end(),
                         [](const Split& one, const Split& other) { return one.score > other.score; });
        best[end].resize(std::min(best[end].size(), kShown));
    }
    Steps steps;
    for (const Split& split : best.back()) {
        steps.push_back(fmt::format("{}    log P {:.4f} = {:.4f}", fmt::join(split.pieces, " "), split.score,
                                    fmt::join(split.scores, " + ")));
    }
    return steps;
}

Steps longest_matches(const Vocabulary& vocabulary, std::string_view word, const std::vector<std::size_t>& bounds) {
    if (bounds.size() - 1 > kLongestWord) {
        return {fmt::format("unknown: it has more than {} characters", kLongestWord)};
    }
    Steps steps;
    for (std::size_t begin = 0; begin + 1 < bounds.size();) {
        const std::string mark(begin > 0 ? kContinues : "");
        const auto from_here = [&](std::size_t end) {
            return mark + std::string(word.substr(bounds[begin], bounds[end] - bounds[begin]));
        };
        std::size_t end = bounds.size() - 1;
        while (end > begin && !is_piece(vocabulary, from_here(end))) {
            --end;
        }
        if (end == begin) {
            steps.push_back(fmt::format("unknown: no piece begins {}", from_here(bounds.size() - 1)));
            return steps;
        }
        steps.push_back(
            fmt::format("the longest piece that begins {}: {}", from_here(bounds.size() - 1), from_here(end)));
        begin = end;
    }
    return steps;
}

}  // namespace

std::vector<ExplainedWord> explain(const Tokenizer& tokenizer, std::string_view text) {
    const TokenizerType type = tokenizer.type();
    if (type == TokenizerType::Words || type == TokenizerType::ByteBpe || type == TokenizerType::Other) {
        throw Error(fmt::format("only BPE, unigram and WordPiece tokenizers can be explained, '{}' is of another type",
                                tokenizer.name()));
    }
    const bool by_match = type == TokenizerType::WordPiece;
    std::vector<ExplainedWord> words;
    for (Segment& segment : tokenizer.split(text)) {
        const bool continues = !begins_word(segment.piece, type);
        if (words.empty() || !continues) {
            words.emplace_back();
        }
        words.back().word += segment.piece.substr(by_match && continues ? kContinues.size() : 0);
        words.back().pieces.push_back(std::move(segment.piece));
    }
    for (ExplainedWord& word : words) {
        const std::vector<std::size_t> bounds = character_bounds(word.word);
        if (bounds.size() - 1 > kLongestExplained) {
            word.steps = {fmt::format("not explained: it has more than {} characters", kLongestExplained)};
            continue;
        }
        word.steps = by_match                     ? longest_matches(tokenizer.split_pieces(), word.word, bounds)
                     : type == TokenizerType::Bpe ? merges_of(tokenizer.split_pieces(), word.word, bounds)
                                                  : likeliest_splits(tokenizer.split_pieces(), word.word, bounds);
    }
    return words;
}

}  // namespace headscope
