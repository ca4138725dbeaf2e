// All queries of a head of attention, such as a sentence's, against its keys and values.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/allowed_keys.h"
#include "backends/cpu/query.h"

namespace headscope::cpu {

// For one thread: memory that is kept from head to head.
class HeadAttention {
public:
    // out[i] = softmax(scale * query i . keys) . values over the keys of `allowed` for that query of the batch. `out`
    // and the queries have the values' and the keys' depth.
    void run(const HeadRows& queries, const HeadRows& keys, const HeadRows& values, const AllowedKeys& allowed,
             std::int64_t batch, float scale, float* out, std::int64_t out_step);

private:
    std::vector<float> panels_;   // keys in the layout of row_panels.h
    std::vector<float> weights_;  // of a few queries
    std::vector<Keys> seen_;
};

}  // namespace headscope::cpu
