// Equation 1 for one query of one head, number by number: q, k, their products, the sum, scaled, softmaxed.
#pragma once

#include <string>
#include <vector>

#include "explore/exploration.h"
#include "paint/sketch.h"

namespace headscope {

struct NeuronOptions {
    Palette palette = Palette::Paper;
    int chosen = -1;  // a key: its products as bars below the table
    Look look = {};
};

// A row for each key of the tokens: k and q * k as signed cells, one column a dimension, then the sum, the sum times
// 1 / sqrt(d_k) ("masked" where the mask hides the key), and the softmax of those that are seen. `weights` [keys] are
// the query's row as the model used it. They get a column of their own, "edited", where the head was edited and any is
// not the softmax; "the model's" where none was and a shown digit differs, as storage in 16 bits may do. Marks have
// query, key and item = dimension.
Drawing draw_neurons(const NeuronView& view, const std::vector<std::string>& queries,
                     const std::vector<std::string>& keys, const std::vector<float>& weights, int query,
                     const NeuronOptions& options);

// Sum over the dimensions of q[query] * k[key], in double precision.
double dot_product(const NeuronView& view, int query, int key);
// Whether the mask lets the query look at the key.
bool may_look(const NeuronView& view, int query, int key);
// The query's row of Equation 1 [keys], in double precision; 0 for what the mask hides.
std::vector<double> softmax_row(const NeuronView& view, int query);

}  // namespace headscope
