// What the number of heads costs: rows A of the paper's Table 3 have as many columns in all and so the same products.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "experiment/layer_probe.h"
#include "experiment/study_report.h"

namespace headscope {

struct HeadCost {
    std::int64_t heads = 0;
    LayerCost cost = {};  // of self-attention with d_k = d_v = width / heads
};

// Numbers of heads that do not divide the width are left out.
std::vector<HeadCost> measure_heads(Backend& backend, const std::set<std::int64_t>& heads, std::int64_t length,
                                    std::int64_t width, int repeat);

// Adds them as a table, a picture and the key "heads".
void add_head_costs(const std::vector<HeadCost>& costs, StudyReport& report);

}  // namespace headscope
