// T5's relative positions: for each head a learned number for each bucket of distances between query and key, which all
// self-attentions of a stack add to their scores. Raffel et al. 2020, 2.1.
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/functions.h"
#include "model/config.h"
#include "model/scope.h"

namespace headscope {

// The buckets of the distances -relative_distance to relative_distance, a key's position minus its query's. Half of the
// buckets are for one distance each, the others for distances that grow exponentially. With `both_ways` half of each
// kind are for keys after the query, which are otherwise in bucket 0. As in transformers, computed in float.
std::vector<std::int32_t> distance_buckets(const ModelConfig& config, bool both_ways);

class RelativeTable {
public:
    RelativeTable(const ModelConfig& config, const Scope& stack, bool both_ways);
    // [2 relative_distance + 1, heads], for MaskedSoftmax::by_distance.
    Var by_distance(Context& ctx) const;

private:
    Var table_;     // [relative_buckets, heads]
    Tensor ids_;    // I32: distance_buckets()
    Tensor order_;  // EmbedBackward::order of `ids_`
};

}  // namespace headscope
