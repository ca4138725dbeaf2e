// Equation 1 for one query of one head, number by number: q, k, their products, the sum, scaled, softmaxed.
#pragma once

#include <string>
#include <vector>

#include "drawing/sketch.h"
#include "explore/exploration.h"

namespace headscope {

struct NeuronOptions {
    Palette palette = Palette::Paper;
    int chosen = -1;  // a key: its products as bars below the table
    Look look = {};
};

// A row for each key of the tokens: k and q * k as signed cells, one column a dimension, then the sum, the sum times
// 1 / sqrt(d_k), and the weight. `weights` [keys of the query's row] are the model's own; keys that the mask forbids
// have 0 there and no scaled sum. Marks have query, key and item = dimension.
Drawing draw_neurons(const NeuronView& view, const std::vector<std::string>& queries,
                     const std::vector<std::string>& keys, const std::vector<float>& weights, int query,
                     const NeuronOptions& options);

// Sum over the dimensions of q[query] * k[key], in double precision.
double dot_product(const NeuronView& view, int query, int key);

}  // namespace headscope
