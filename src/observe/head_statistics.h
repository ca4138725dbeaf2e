// What a head does, in a few numbers: to sort heads by, and to find the positional and the syntactic ones at a glance.
#pragma once

#include <array>
#include <vector>

#include "observe/attention_record.h"

namespace headscope {

// Means over the queries of a sentence; pads are no queries, and what looks at a pad counts for nothing.
struct HeadStatistics {
    AttentionSite site;
    int head = 1;            // from 1
    double entropy = 0.0;    // bits; 0: one key, log2(keys): all keys alike
    double distance = 0.0;   // mean |key - query|, in tokens
    double offset = 0.0;     // mean key - query: negative looks back
    double sharpness = 0.0;  // the mean of each query's largest weight
    // The share that lies on the key before the query, at its own place, and after it.
    std::array<double, 3> diagonal{};
    double on_end = 0.0;  // the share that lies on <EOS>

    double on_diagonal() const { return diagonal[0] + diagonal[1] + diagonal[2]; }
};

HeadStatistics statistics_of(const AttentionRecord& record, const SiteWeights& weights, int head);
// Of every head recorded, in the record's order.
std::vector<HeadStatistics> head_statistics(const AttentionRecord& record);

}  // namespace headscope
