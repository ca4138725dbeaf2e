// Summary statistics of a head, to sort by and to tell positional from syntactic heads.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "observe/attention_record.h"

namespace headscope {

// Means over the queries of a sentence. Ignores pads, as queries and as keys.
struct HeadStatistics {
    AttentionSite site;
    int head = 1;                      // from 1
    double entropy = 0.0;              // bits; 0: one key, log2(keys): uniform
    double distance = 0.0;             // mean |key - query|, in tokens
    double offset = 0.0;               // mean key - query: negative looks back
    double sharpness = 0.0;            // the mean of each query's largest weight
    std::array<double, 3> diagonal{};  // weight on the previous, the same and the next position
    double on_end = 0.0;               // weight on <EOS>; of a language model also on <BOS>
    double strongest = 0.0;            // the largest weight, from this token to that one
    std::int64_t strongest_query = 0, strongest_key = 0;
    // Of the queries whose token stood in the text before, and not as the one just before them: the weight on its
    // earlier places, and on the tokens that followed there (induction, Olsson et al. 2022).
    std::int64_t repeated = 0;  // such queries; of cross attention none
    double duplicate = 0.0, induction = 0.0;
    bool off = false;  // all weights are 0: it was switched off, and has no numbers

    double on_previous() const { return diagonal[0]; }
    // None in cross attention, whose keys are of another text; the other two also in a text that repeats nothing.
    std::optional<double> previous_if_any() const {
        return site.kind == AttentionKind::Cross ? std::nullopt : std::optional(on_previous());
    }
    std::optional<double> duplicate_if_any() const { return repeated > 0 ? std::optional(duplicate) : std::nullopt; }
    std::optional<double> induction_if_any() const { return repeated > 0 ? std::optional(induction) : std::nullopt; }
    double on_diagonal() const { return diagonal[0] + diagonal[1] + diagonal[2]; }
};

HeadStatistics statistics_of(const AttentionRecord& record, const SiteWeights& weights, int head);
// Statistics of every recorded head, in record order.
std::vector<HeadStatistics> head_statistics(const AttentionRecord& record);

}  // namespace headscope
