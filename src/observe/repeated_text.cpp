#include "observe/repeated_text.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/family.h"
#include "support/check.h"
#include "support/random.h"
#include "text/tokenizer.h"

namespace headscope {

namespace {

constexpr int kFewestWords = 4;
constexpr int kTries = 200;  // of a word

// Whether a text reads as `half` pieces twice. A vocabulary without an unknown piece may not read it at all.
bool is_twice(const Tokenizer& tokenizer, const std::string& text, std::size_t half) {
    std::vector<std::int32_t> ids;
    try {
        ids = tokenizer.encode(text);
    } catch (const Error&) {
        return false;
    }
    return ids.size() == 2 * half && std::equal(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(half),
                                                ids.begin() + static_cast<std::ptrdiff_t>(half));
}

// The words so far, each after a space; the first without one if the tokenizer adds it.
std::string twice(const std::string& words, bool adds_space) {
    return (adds_space ? words.substr(1) : words) + words;
}

}  // namespace

std::optional<std::string> find_repeated_text(const ModelDirectory& model, std::uint64_t seed) {
    if (!traits(model.config.architecture).continues_text) {
        return {};
    }
    const Tokenizer& tokenizer = *model.target_tokenizer;
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(model.config.max_length - 2, 0)) / 2;
    const std::size_t count = std::min<std::size_t>(kRepeatedPieces, room);
    Random random(seed);
    std::string words;
    std::unordered_set<std::int32_t> chosen;
    const bool adds_space = is_twice(tokenizer, "a a", 1);
    for (std::size_t tries = 0; chosen.size() < count && tries < count * kTries; ++tries) {
        const auto id = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(tokenizer.size())));
        if (tokenizer.vocabulary().piece(id).kind != PieceKind::Normal || chosen.contains(id) ||
            !begins_word(tokenizer.piece(id), tokenizer.type())) {
            continue;
        }
        std::string word = tokenizer.decode({id});
        word = word.starts_with(' ') ? word : " " + word;
        // A longer text must still read as one piece for each word, and the same in both halves.
        if (word.size() > 2 && word.find_first_of(" \t\n\r", 1) == std::string::npos &&
            is_twice(tokenizer, twice(words + word, adds_space), chosen.size() + 1)) {
            words += word;
            chosen.insert(id);
        }
    }
    if (chosen.size() < std::max<std::size_t>(count, kFewestWords)) {
        return {};
    }
    return twice(words, adds_space);
}

std::string repeated_text(const ModelDirectory& model, std::uint64_t seed) {
    std::optional<std::string> text = find_repeated_text(model, seed);
    if (!text.has_value()) {
        throw Error(fmt::format(
            "random words that stand twice need a model that completes text of {} tokens or more, with {} words of one "
            "piece, or as many as half its longest text has: give a text that repeats itself",
            2 * kFewestWords + 2, kRepeatedPieces));
    }
    return *std::move(text);
}

}  // namespace headscope
