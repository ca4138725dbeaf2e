// From pieces to the rows of a figure: joined to words or left alone, pads and special tokens shown or hidden.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observe/attention_record.h"

namespace headscope {

// One column of a row: the tokens [first, first + count).
struct RowItem {
    std::string label;
    std::string word;    // the whole word that a piece is part of; the label itself when joined
    int occurrence = 1;  // which of the equal words of the row (by NFKC) this is part of
    std::int64_t first = 0;
    std::int64_t count = 1;
};

struct RowOptions {
    bool join_words = true;
    bool show_pads = false;
    bool show_special = true;  // begin and end
};

// Punctuation at either end of a word stands alone, as it does in the paper's tokens.
std::vector<RowItem> make_row(const std::vector<RecordedToken>& tokens, const RowOptions& options);

// Nothing but punctuation, and not empty.
bool is_punctuation(const std::string& text);

// [heads, queries, keys] of the items: a sum over an item's keys, a mean over its queries, so that rows still add up to
// what they did (to 1 where no item is hidden).
std::vector<float> join_weights(const SiteWeights& weights, const std::vector<RowItem>& queries,
                                const std::vector<RowItem>& keys);

// Where not all keys are shown: every row of `joined` scaled so that it adds up to what it did with all of them. A row
// of whose weight less than a hundredth is shown stays as it is: scaled, it would look like a head that looks there.
// Differences, whose rows add up to nothing, stay as they are.
void renormalise(std::vector<float>& joined, const SiteWeights& weights, const std::vector<RowItem>& queries,
                 const std::vector<RowItem>& keys);

// A word as a search names it: "\," stands for a comma, which parts words there, and "\\" for a backslash.
std::string named_word(std::string_view text);
// Several of them, parted by commas.
std::vector<std::string> named_words(std::string_view text);

// The items of a word, in whatever normal form: "its" every occurrence, "its:2" the second. Error lists the words there
// are.
std::vector<std::size_t> find_word(const std::vector<RowItem>& row, const std::string& wanted);

}  // namespace headscope
