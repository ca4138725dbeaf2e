#include "data/corruption.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "backend/philox.h"
#include "data/batch.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr const char* kMask = "<mask>";
constexpr const char* kMaskOfBert = "[MASK]";

std::string sentinel(std::size_t number) {
    return fmt::format("<extra_id_{}>", number);
}

// A random number in [0, 1) from 32 bits.
double uniform(std::uint32_t bits) {
    return static_cast<double>(bits) * 0x1p-32;
}

std::size_t corrupted_of(std::size_t pieces) {
    const auto wished = static_cast<std::size_t>(std::lround(static_cast<double>(pieces) * kCorruptedShare));
    return pieces < 2 ? pieces : std::clamp<std::size_t>(wished, 1, pieces - 1);
}

// Splits `total` into `count` positive numbers; every way is equally likely.
std::vector<std::size_t> split_randomly(std::size_t total, std::size_t count, Random& random) {
    std::vector<std::size_t> parts(count, 0);
    std::size_t part = 0;
    for (std::size_t at = 0; at < total; ++at) {
        ++parts[part];
        // One of the total - 1 - at gaps that are left, for the count - 1 - part cuts that are left.
        if (part + 1 < count && random.below(total - 1 - at) < count - 1 - part) {
            ++part;
        }
    }
    return parts;
}

}  // namespace

std::int32_t mask_id(const Tokenizer& tokenizer) {
    const Vocabulary& pieces = tokenizer.vocabulary();
    return pieces.find(kMask).value_or(pieces.find(kMaskOfBert).value_or(-1));
}

TextVocabulary text_vocabulary(const Tokenizer& tokenizer) {
    const Vocabulary& pieces = tokenizer.vocabulary();
    TextVocabulary found{.mask = mask_id(tokenizer)};
    while (const std::optional<std::int32_t> id = pieces.find(sentinel(found.sentinels.size()))) {
        found.sentinels.push_back(*id);
    }
    for (std::int32_t id = 0; id < pieces.size(); ++id) {
        const Piece& piece = pieces.piece(id);
        if (piece.kind == PieceKind::Normal) {
            found.normal.push_back(id);
        }
        found.is_text.push_back(piece.kind != PieceKind::Control && piece.kind != PieceKind::Unused);
        found.begins_word.push_back(begins_word(piece.text, tokenizer.type()));
    }
    return found;
}

std::vector<std::string> control_pieces_of(Task task, std::int64_t pieces, bool masks) {
    std::vector<std::string> names;
    if (traits(task).masks_pieces || masks) {
        names.emplace_back(kMask);
    }
    while (traits(task).masks_spans && names.size() < spans_of(static_cast<std::size_t>(pieces))) {
        names.push_back(sentinel(names.size()));
    }
    return names;
}

void mask_pieces(Example& block, const TextVocabulary& vocabulary, bool whole_words, const MaskingKey& key) {
    constexpr double kMasked = 0.8;
    constexpr double kReplaced = 0.9;
    const auto random = [&](std::size_t at) {
        return philox({static_cast<std::uint32_t>(at), key.example, static_cast<std::uint32_t>(key.epoch), 0},
                      {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32U)});
    };
    std::vector<std::int32_t>& ids = block.target;
    std::vector<double> sampled(ids.size(), 1.0);  // of the piece, or of the first one of its word
    for (std::size_t at = 0; at < ids.size(); ++at) {
        const auto id = static_cast<std::size_t>(ids[at]);
        if (vocabulary.is_text[id]) {
            const bool continues = whole_words && at > 0 && sampled[at - 1] < 1.0 && !vocabulary.begins_word[id];
            sampled[at] = continues ? sampled[at - 1] : uniform(random(at)[0]);
        }
    }
    const double least = ids.empty() ? 0.0 : *std::min_element(sampled.begin(), sampled.end());
    block.labels.assign(ids.size(), kNoTarget);
    for (std::size_t at = 0; at < ids.size(); ++at) {
        if (sampled[at] == 1.0 || sampled[at] > std::max(least, kCorruptedShare)) {
            continue;
        }
        block.labels[at] = ids[at];
        const PhiloxCounter bits = random(at);
        if (uniform(bits[1]) < kMasked) {
            ids[at] = vocabulary.mask;
        } else if (uniform(bits[1]) < kReplaced) {
            ids[at] = vocabulary.normal[bits[2] * std::uint64_t{vocabulary.normal.size()} >> 32U];
        }
    }
}

void mask_some(Example& pair, std::int32_t mask, Random random) {
    std::vector<std::int32_t>& ids = pair.target;
    pair.labels.assign(ids.size(), kNoTarget);
    std::size_t wanted = ids.empty() ? 0 : 1 + random.below(ids.size());
    for (std::size_t at = 0; at < ids.size(); ++at) {  // every choice of `wanted` pieces is equally likely
        if (random.below(ids.size() - at) < wanted) {
            pair.labels[at] = std::exchange(ids[at], mask);
            --wanted;
        }
    }
}

std::size_t spans_of(std::size_t pieces) {
    const std::size_t corrupted = corrupted_of(pieces);
    const auto wished = static_cast<std::size_t>(std::lround(static_cast<double>(corrupted) / kMeanSpan));
    return std::clamp<std::size_t>(wished, 1, std::max<std::size_t>(std::min(corrupted, pieces - corrupted), 1));
}

Example corrupt_spans(std::span<const std::int32_t> pieces, const TextVocabulary& vocabulary, Random random) {
    HEADSCOPE_CHECK(!pieces.empty(), "a text without pieces has no spans");
    const std::size_t spans = spans_of(pieces.size());
    HEADSCOPE_CHECK(spans <= vocabulary.sentinels.size(), "the vocabulary has too few sentinels");
    const std::size_t corrupted = corrupted_of(pieces.size());
    const std::vector<std::size_t> kept = split_randomly(pieces.size() - corrupted, spans, random);
    const std::vector<std::size_t> taken = split_randomly(corrupted, spans, random);
    Example pair;
    auto at = pieces.begin();
    for (std::size_t span = 0; span < spans; ++span) {
        const auto begin = at + static_cast<std::ptrdiff_t>(kept[span]);
        const auto end = begin + static_cast<std::ptrdiff_t>(taken[span]);
        pair.source.insert(pair.source.end(), at, begin);
        pair.source.push_back(vocabulary.sentinels[span]);
        pair.target.push_back(vocabulary.sentinels[span]);
        pair.target.insert(pair.target.end(), begin, end);
        at = end;
    }
    return pair;
}

}  // namespace headscope
