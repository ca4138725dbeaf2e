// Which weights of a record are shown: what figures, tables, JSON and the search for heads have in common.
#pragma once

#include <string>
#include <vector>

#include "observe/attention_record.h"
#include "observe/words.h"

namespace headscope {

struct AttentionSelection {
    AttentionKind kind = AttentionKind::EncoderSelf;
    int layer = 1;                        // from 1
    std::vector<int> heads = {};          // from 1, those that are on; empty: all
    std::vector<std::string> words = {};  // chosen queries: "its", "its:2"; with `positions` empty too: none
    std::vector<int> positions = {};      // the same by column, from 1
    bool looked_at = false;               // words and positions are keys instead: who looks at them?
    RowOptions rows = {};
};

struct SelectedAttention {
    std::string title;
    // What a reader must know of the weights, shown by whatever shows them: edits of the model, joined pieces, what was
    // left out. May be empty.
    std::string note = {};
    std::string edited = {};  // as the record has it
    std::vector<RowItem> queries;
    std::vector<RowItem> keys;
    int layer = 1;                              // from 1
    std::vector<int> heads;                     // on, from 1, in order
    int model_heads = 0;                        // of the layer
    std::vector<std::size_t> chosen;            // columns of queries, in order; empty: none chosen
    std::vector<std::size_t> chosen_keys = {};  // the same of keys; of the two one is empty
    std::vector<float> weights;                 // [model_heads, queries, keys]
    bool joined = false;                        // whether any item is more than one piece
    bool renormalised = false;  // whether begin and end were left out, and the rest scaled to add up as before

    std::size_t index(int head, std::size_t query, std::size_t key) const {
        return ((static_cast<std::size_t>(head) - 1) * queries.size() + query) * keys.size() + key;
    }
    float weight(int head, std::size_t query, std::size_t key) const { return weights[index(head, query, key)]; }
    // The key a head looks at most from this query.
    std::size_t strongest(int head, std::size_t query) const;
};

// Error names what exists when a layer, head, word or position does not, or when a weight is not a number.
SelectedAttention select_attention(const AttentionRecord& record, const AttentionSelection& selection);

// Error when there is no such head, counted from 1.
void check_heads(const std::vector<int>& heads, int model_heads);

// "Edited: ..." of a record; empty where nothing was edited.
std::string edited_note(const std::string& edited);

}  // namespace headscope
