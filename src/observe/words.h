// Turns pieces into the rows of a figure: joins them into words, hides pads and special tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/attention_record.h"

namespace headscope {

// One column of a row: the tokens [first, first + count).
struct RowItem {
    std::string label;
    std::string word;    // the whole word that a piece belongs to; equals the label if joined
    int occurrence = 1;  // counts equal words (by NFKC) of the row, from 1
    std::int64_t first = 0;
    std::int64_t count = 1;
    bool second = false;                     // of the second text of a pair, after the first one's end
    std::optional<double> probability = {};  // the product of its tokens', if the model chose them
};

struct RowOptions {
    bool join_words = true;
    bool show_pads = false;
    bool show_special = true;  // begin and end
    bool show_first = true;    // the first token, which gets what heads of many decoders need nowhere else
    bool operator==(const RowOptions&) const = default;
};

// A line break within a piece of bytes.
inline constexpr std::string_view kLineBreak = "\u21b5";

// Punctuation at either end of a word becomes a separate item, as in the paper's figures.
std::vector<RowItem> make_row(const std::vector<RecordedToken>& tokens, const RowOptions& options);

// Not empty, and only punctuation.
bool is_punctuation(const std::string& text);

// [heads, queries, keys] of the items: sums over an item's keys, averages over its queries, which keeps row sums (1 if
// no item is hidden).
std::vector<float> join_weights(const SiteWeights& weights, const std::vector<RowItem>& queries,
                                const std::vector<RowItem>& keys);

// If some keys are hidden, scales every row of `joined` to its sum over all keys. Leaves rows alone that show less than
// 1 % of their weight, since scaling would exaggerate it, and differences, whose rows add up to 0.
void renormalise(std::vector<float>& joined, const SiteWeights& weights, const std::vector<RowItem>& queries,
                 const std::vector<RowItem>& keys);

// Unescapes a word of a search: "\," is a comma and "\\" a backslash.
std::string named_word(std::string_view text);
// The same for a comma-separated list of words.
std::vector<std::string> named_words(std::string_view text);

// The items of a word, compared by NFKC: "its" finds every occurrence, "its:2" the second. Error lists the words of the
// row.
std::vector<std::size_t> find_word(const std::vector<RowItem>& row, const std::string& wanted);

}  // namespace headscope
