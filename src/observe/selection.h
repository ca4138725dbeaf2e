// Selects the weights of a record to show, for figures, tables, JSON and head search.
#pragma once

#include <string>
#include <vector>

#include "observe/attention_record.h"
#include "observe/words.h"

namespace headscope {

struct AttentionSelection {
    AttentionKind kind = AttentionKind::EncoderSelf;
    int layer = 1;                        // from 1
    std::vector<int> heads = {};          // visible heads, from 1; empty: all
    std::vector<std::string> words = {};  // chosen queries: "its", "its:2"
    std::vector<int> positions = {};      // chosen queries by column, from 1
    bool looked_at = false;               // `words` and `positions` choose keys instead of queries
    RowOptions rows = {};
    bool operator==(const AttentionSelection&) const = default;
};

struct SelectedAttention {
    std::string title;
    // Shown with the weights wherever they appear: edits of the model, joined pieces, hidden tokens. May be empty.
    std::string note = {};
    std::string edited = {};  // from the record
    std::vector<RowItem> queries;
    std::vector<RowItem> keys;
    int layer = 1;                              // from 1
    std::vector<int> heads;                     // visible, from 1, in order
    int model_heads = 0;                        // of the layer
    std::vector<std::size_t> chosen;            // query columns, in order; may be empty
    std::vector<std::size_t> chosen_keys = {};  // key columns; at least one of the two is empty
    std::vector<float> weights;                 // [model_heads, queries, keys]
    bool causal = false;                        // of a decoder's self-attention, whose mask hides later keys
    bool joined = false;                        // some item has more than one piece
    bool renormalised = false;                  // tokens are hidden and the rest rescaled, see renormalise()

    std::size_t index(int head, std::size_t query, std::size_t key) const {
        return ((static_cast<std::size_t>(head) - 1) * queries.size() + query) * keys.size() + key;
    }
    float weight(int head, std::size_t query, std::size_t key) const { return weights[index(head, query, key)]; }
    // The key with the largest weight of this head and query.
    std::size_t strongest(int head, std::size_t query) const;
};

// Error for a layer, head, word or position that does not exist, listing those that do, and for non-finite weights.
SelectedAttention select_attention(const AttentionRecord& record, const AttentionSelection& selection);

// Makes the heads, words and positions of `selection` the visible and chosen ones. Kind, layer and rows are those of
// `selected`. The same errors.
void choose(SelectedAttention& selected, const AttentionSelection& selection);

// Error for a head outside 1 to `model_heads`.
void check_heads(const std::vector<int>& heads, int model_heads);

// "Edited: ...", or empty if nothing was edited.
std::string edited_note(const std::string& edited);

}  // namespace headscope
