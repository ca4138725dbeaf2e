// Draws Equation 1 for one query of one head, step by step: q, k, their products, the sum, scaling, softmax.
#pragma once

#include <string>
#include <vector>

#include "explore/exploration.h"
#include "paint/sketch.h"

namespace headscope {

struct NeuronOptions {
    Palette palette = Palette::Paper;
    int chosen = -1;  // the key whose products are shown as bars below the table
    Look look = {};
};

// One row per key: k and q * k as signed cells, one column per dimension, then the sum, the score (the sum times
// 1 / sqrt(d_k); "masked" for masked keys) and the softmax. `weights` [keys] is the query's row as the model used it.
// If it differs from the softmax, it has a separate column: "edited" if the head was edited, else "the model's" (16-bit
// storage can change a visible digit). Marks have query, key and item = dimension.
Drawing draw_neurons(const NeuronView& view, const std::vector<std::string>& queries,
                     const std::vector<std::string>& keys, const std::vector<float>& weights, int query,
                     const NeuronOptions& options);

// Sum over the dimensions of q[query] * k[key], in double precision.
double dot_product(const NeuronView& view, int query, int key);
// What softmax gets for them: the scaled product, plus what their distance adds.
double score(const NeuronView& view, int query, int key);
// False if the key is masked for this query.
bool is_visible(const NeuronView& view, int query, int key);
// The query's row of Equation 1 [keys], in double precision; 0 for masked keys.
std::vector<double> softmax_row(const NeuronView& view, int query);

}  // namespace headscope
