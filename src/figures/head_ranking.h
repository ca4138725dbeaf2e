// Draws heads ranked by what they do in a sentence, with the words to ask about.
#pragma once

#include <string>
#include <vector>

#include "observe/sentence_search.h"
#include "paint/sketch.h"

namespace headscope {

struct HeadRankingOptions {
    std::string title = {};
    std::string note = {};  // under the title
    double width = 70.0;    // available, in units of the text size
    std::size_t most = 24;  // heads to list
    Palette palette = Palette::Paper;
    Look look = {};
};

// The words to look from and to look at, and a row for each head. A word's mark has its column as `query` (Role::
// QueryLabel) or `key` (Role::KeyLabel); a row's marks have Role::Bar, layer, head and `item`, its index.
Drawing draw_head_ranking(const SelectedAttention& words, const std::vector<TellingHead>& ranking, Architecture family,
                          const HeadRankingOptions& options);

}  // namespace headscope
