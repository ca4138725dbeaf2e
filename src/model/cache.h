// What decoding keeps of the tokens so far from step to step: keys and values, or other states of a stack's mixers.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "backend/repeated_sequence.h"

namespace headscope {

// What a mixer keeps in each layer.
struct CachePlan {
    std::int64_t heads = 0;  // of the keys and values of each token, not of queries; 0: keeps none
    std::int64_t d_k = 0;
    std::int64_t d_v = 0;
    std::int64_t window = 0;  // a token needs only those of this many last tokens, itself among them; 0: all
    bool by_rows = false;     // the op Attention reads them, so it may do so by Attention::key_rows
    // States that do not grow with the tokens. They start as 0; each step overwrites them in place.
    struct State {
        Shape shape;        // of one row, [1, ..]
        bool full = false;  // of the backend's full_dtype(), whatever that of the activations
    };
    std::vector<State> states = {};
};

// Rows are sequences times beam. `kept` may have more.
struct Cache {
    struct Layer {
        Tensor self_keys, self_values;    // [rows, heads, capacity, d_k | d_v], views of `kept`
        Tensor self_both;                 // [rows, 2 heads, capacity, d_k], keys first; undefined unless d_k = d_v
        Tensor cross_keys, cross_values;  // [sources, heads, source_length, d_k | d_v], contiguous for each head
        std::vector<Tensor> states;       // [rows, ..] each, contiguous, as CachePlan::states
    };
    std::vector<Layer> layers;
    // All layers in one tensor, so that a beam reorders them in one op: [rows, layers * 2 heads, capacity, d_k], the
    // keys of each layer before its values, so that both are appended in one op. If d_k is not d_v there are two
    // tensors of layers * heads. Past the cached tokens there are 0s or tokens that were taken back, up to the next
    // multiple of 8. Behind that, and in rows that follow() added, it is uninitialised, and Attention ignores it. Empty
    // if the plan has no keys. Under a window the tokens that none needs any more are forgotten, about a window at a
    // time: the room stays below two windows, and the keys that a token reads are always adjacent.
    std::vector<Tensor> kept;
    // Of a beam that follow()s: I32 [keys, rows], Attention::key_rows of the keys that the next step reads. So
    // hypotheses share the tokens that they have in common, while each row writes its own. Undefined: each reads its
    // own, too.
    Tensor key_rows;
    Tensor source_lengths;  // I32 [sources]; the rows of a source are adjacent, and each source has the same number;
                            // undefined without cross-attention
    Tensor position;        // I32 [1] on the device: the number of tokens so far
    Tensor slot;            // I32 [1] on the device: where the next token goes in `kept`; without a window `position`
    // The slots of rows that have joined others, which begin at different slots and end at the same one: I32 [rows, 1,
    // 2], AttentionMask::key_ranges from each row's first token on, and I32 [rows], the number of its tokens.
    // Undefined: all begin at the first slot.
    Tensor key_ranges, positions;
    std::int64_t heads = 0;
    std::int64_t rows = 0;
    std::int64_t window = 0;     // CachePlan::window
    std::int64_t length = 0;     // the number of tokens so far, on the host; of joined rows that of slots
    std::int64_t forgotten = 0;  // how many of them are no longer in `kept`; a multiple of 8
    std::int64_t capacity = 0;   // multiple of 8; grows by doubling, reorder() reduces it to what it needs
    bool by_rows = false;        // whether it can follow()
    RepeatedSequence step;       // Generator::step_top_k() with it; the model's weights outlive it unchanged

    Cache() = default;
    // Empty, with room for `capacity` tokens of each row. Cross keys and values are undefined.
    Cache(Backend& backend, const CachePlan& plan, std::size_t layer_count, std::int64_t rows, std::int64_t capacity,
          DType dtype);

    std::int64_t filled() const { return length - forgotten; }
    // The number of tokens of the longest row.
    std::int64_t longest() const;

    // A step calls make_room(), writes its tokens' keys and values from `slot` on, and then calls advance().
    void make_room(Backend& backend, std::int64_t tokens);
    void advance(Backend& backend, std::int64_t tokens);

    // A copy whose row i is row rows[i], I32 [new rows], of this one. `sources` I32 [new sources] selects the sources
    // that remain; row i then reads source i / (new rows / new sources). Undefined: all sources remain. So a beam
    // shares one copy of a sentence's cross keys and values and moves it only when a sentence is finished.
    Cache reorder(Backend& backend, const Tensor& new_rows, const Tensor& sources) const;
    // The same for rows that have joined others, too. Slots before the first token of all are given up.
    Cache reorder(Backend& backend, const std::vector<std::int32_t>& new_rows, const Tensor& sources) const;
    // The same in place, if `by_rows`: row i then continues row parents[i]. No key is copied unless there are more rows
    // than ever before, and all memory stays where it is. Rows that end keep their memory.
    void follow(Backend& backend, const std::vector<std::int32_t>& parents, const Tensor& sources);

    // Whether it can join another: it keeps only keys and values and forgets none, has not followed a beam, and each
    // row has its own source.
    bool can_join() const;
    // Adds the rows of another cache of the same model, in which other numbers of tokens may be cached. From then on,
    // tokens are added one at a time.
    void join(Backend& backend, const Cache& other);

    // Whether the newest tokens can be taken back: it keeps only keys and values, and forgets none.
    bool can_go_back() const;
    // Takes them back, as if they had never been appended.
    void go_back(Backend& backend, std::int64_t tokens);

    // All that the ops of its next step depend on.
    void add_to(Dependencies& dependencies) const;

private:
    void allocate(Backend& backend, const std::vector<std::int64_t>& depths, std::int64_t row_count, std::int64_t room,
                  DType dtype);
    Cache reorder(Backend& backend, const Tensor& new_rows, const Tensor& sources, std::int64_t first) const;
    void join_sources(Backend& backend, const Cache& other);
    void begin_at(Backend& backend, std::vector<std::int32_t> begins);
    std::int64_t outdated() const;  // tokens in `kept` that the next one does not need, in whole multiples of 8
    void set_views();
    void set_positions(Backend& backend);
    void keep_sources(Backend& backend, const Tensor& sources, std::int64_t row_count);
    void name_rows(Backend& backend, std::int64_t keys, bool changed);

    std::vector<std::int32_t> named_;   // key_rows on the host; empty without
    std::vector<std::int32_t> begins_;  // the first slot of each row, if they differ
};

}  // namespace headscope
