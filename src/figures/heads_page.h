// A page for browsers with every head of a text: by layer, side by side, and as queries and keys. It is one file that
// refers to no other, and its policy forbids all requests.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "observe/attention_record.h"
#include "paint/palette.h"

namespace headscope {

struct HeadsPageOptions {
    std::string title = {};  // instead of the page's own
    std::string caption = {};
    std::vector<std::string> notes = {};  // shown before what the page says of its weights
    Palette palette = Palette::Paper;
    bool join_words = true;  // at first; a reader can change it
    // At most so many bytes, in base64, of weights, see weights_within(), and of queries and keys.
    std::size_t weight_bytes = std::size_t{16} << 20U;
    std::size_t neuron_bytes = std::size_t{4} << 20U;
};

// What the queries and keys of a head take.
std::size_t neuron_bytes(const NeuronView& view);

// Shows all heads of the record, and of `neurons`, heads of the record, the first ones that fit. The page says what is
// rounded or left out. Error for weights that are not within 0 to 1.
std::string heads_page(const AttentionRecord& record, const std::vector<NeuronView>& neurons,
                       const HeadsPageOptions& options);

}  // namespace headscope
