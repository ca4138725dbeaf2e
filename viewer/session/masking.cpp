#include "viewer/session/masking.h"

#include <algorithm>
#include <string_view>

#include "infer/filler.h"
#include "infer/gap_filler.h"
#include "observe/words.h"
#include "support/utf8.h"
#include "text/segmenter.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The parts of [begin, end), which has no white space and no mask: punctuation, a word, punctuation; or a separator.
void add_parts(const std::string& text, std::size_t begin, std::size_t end, std::vector<TextWord>& words) {
    if (text.compare(begin, end - begin, kSeparatorText) == 0) {
        words.push_back({.begin = begin, .size = end - begin});
        return;
    }
    std::vector<std::size_t> starts;  // of the characters
    for (std::size_t at = begin; at < end;) {
        starts.push_back(at);
        next_character(text, at);
    }
    starts.push_back(end);
    const auto punctuation = [&](std::size_t i) {
        return is_punctuation(text.substr(starts[i], starts[i + 1] - starts[i]));
    };
    const auto add = [&](std::size_t first, std::size_t last) {
        words.push_back({.begin = starts[first], .size = starts[last] - starts[first]});
    };
    std::size_t first = 0;
    std::size_t last = starts.size() - 1;
    for (; first + 1 < last && punctuation(first); ++first) {
        add(first, first + 1);
    }
    std::size_t behind = last;
    while (behind > first + 1 && punctuation(behind - 1)) {
        --behind;
    }
    if (first < behind) {
        add(first, behind);
    }
    for (; behind < last; ++behind) {
        add(behind, behind + 1);
    }
}

// The bytes of the mask that begins here; 0 if none does.
std::size_t mask_at(const std::string& text, std::size_t at, bool sentinels) {
    const std::string_view rest = std::string_view(text).substr(at);
    return rest.starts_with(kMaskText) ? std::string_view(kMaskText).size() : sentinels ? sentinel_at(rest).size() : 0;
}

}  // namespace

std::vector<TextWord> words_in(const std::string& text, bool sentinels) {
    std::vector<TextWord> words;
    int masks = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t mask_size = mask_at(text, at, sentinels);
        const bool mask = mask_size > 0;
        if (at < text.size() && !mask && !is_space(text[at])) {
            ++at;
            continue;
        }
        add_parts(text, begin, at, words);
        if (mask) {
            words.push_back({.begin = at, .size = mask_size, .mask = masks++});
        }
        at += mask ? mask_size : 1;
        begin = at;
    }
    return words;
}

namespace {

// The result for the text as it is now; null if there is none yet.
const Exploration* result_of(const Scene& scene) {
    const Side& side = scene.main;
    const bool answered =
        side.shown != nullptr && side.answered.has_value() && side.answered->source == scene.state.text;
    return answered ? side.shown.get() : nullptr;
}

bool is_mask(const RecordedToken& token) {
    return token.kind == TokenKind::Mask;
}

}  // namespace

std::vector<Filling> fillings(const Scene& scene, int mask) {
    std::vector<Filling> found;
    const Exploration* result = result_of(scene);
    if (result != nullptr && mask >= 0 && mask < std::ssize(result->gaps)) {
        for (const NextCandidate& candidate : result->gaps[static_cast<std::size_t>(mask)].candidates) {
            const bool begins_word = candidate.text.starts_with(' ');
            found.push_back({candidate.text.substr(begins_word ? 1 : 0), begins_word});
        }
        return found;
    }
    if (result == nullptr || mask < 0 || mask >= std::ssize(result->steps)) {
        return found;
    }
    const bool word_pieces = scene.main.model->tokenizer == TokenizerType::WordPiece;
    const std::string_view mark = word_pieces ? kContinues : kWordStart;
    for (const NextCandidate& candidate : result->steps[static_cast<std::size_t>(mask)].candidates) {
        const std::string& piece = candidate.text;
        const bool marked = piece.starts_with(mark);
        found.push_back({piece.substr(marked ? mark.size() : 0), marked != word_pieces});
    }
    return found;
}

void mask_word(ViewState& state, std::size_t word) {
    const std::vector<TextWord> words = words_in(state.text);
    if (word >= words.size() || words[word].mask >= 0) {
        return;
    }
    std::string text = state.text;
    new_sentence(state, text.replace(words[word].begin, words[word].size, kMaskText));
    state.step = static_cast<int>(std::count_if(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(word),
                                                [](const TextWord& other) { return other.mask >= 0; }));
}

void fill_mask(ViewState& state, int mask, const Filling& filling, bool sentinels) {
    for (const TextWord& word : words_in(state.text, sentinels)) {
        if (word.mask == mask) {
            std::string before = state.text.substr(0, word.begin);
            while (!filling.begins_word && !before.empty() && is_space(before.back())) {
                before.pop_back();
            }
            new_sentence(state, before + filling.text + state.text.substr(word.begin + word.size));
            return;
        }
    }
}

std::optional<std::size_t> selected_word(const Scene& scene) {
    const Exploration* result = result_of(scene);
    if (result == nullptr || scene.state.word < 0) {
        return std::nullopt;
    }
    const std::vector<RecordedToken>& tokens = result->record.source;
    const std::vector<RowItem> row = make_row(tokens, row_options(scene));
    if (scene.state.word >= std::ssize(row)) {
        return std::nullopt;
    }
    const RowItem& item = row[static_cast<std::size_t>(scene.state.word)];
    const auto token = tokens.begin() + item.first;
    const std::vector<TextWord> words = words_in(scene.state.text);
    auto left = is_mask(*token) ? std::count_if(tokens.begin(), token, is_mask) + 1 : item.occurrence;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool alike = is_mask(*token) ? words[i].mask >= 0
                                           : scene.state.text.compare(words[i].begin, words[i].size, item.word) == 0;
        if (alike && --left == 0) {
            return i;
        }
    }
    return std::nullopt;
}

}  // namespace headscope::viewer
