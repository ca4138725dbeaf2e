// Masks in the text of a masked language model and gaps in that of a span model, each written as kMaskText. A gap may
// also be a sentinel, such as <extra_id_0>.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "viewer/session/scene.h"

namespace headscope::viewer {

// A word, a mask or punctuation before or after a word, as make_row() splits them.
struct TextWord {
    std::size_t begin = 0;
    std::size_t size = 0;
    int mask = -1;  // its number among the masks, from 0; -1: not masked
};
std::vector<TextWord> words_in(const std::string& text, bool sentinels = false);

struct Filling {
    std::string text;  // without the tokenizer's mark
    bool begins_word = true;
    bool operator==(const Filling&) const = default;
};
// The likeliest pieces of a mask or texts of a gap, best first; empty until there is a result.
std::vector<Filling> fillings(const Scene& scene, int mask);

// Masks a word, and selects the mask.
void mask_word(ViewState& state, std::size_t word);
// Replaces a mask, and the blanks before it by a piece that continues a word. With `sentinels` it is a gap.
void fill_mask(ViewState& state, int mask, const Filling& filling, bool sentinels = false);
// The word or mask of the selected column; nullopt if it is not in the text.
std::optional<std::size_t> selected_word(const Scene& scene);

}  // namespace headscope::viewer
