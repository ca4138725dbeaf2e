// The weights of a page of heads: as exact as the page's size allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "observe/attention_record.h"

namespace headscope {

// How the page holds the weights of all heads. Numbers are little-endian, in base64.
enum class WeightForm : std::uint8_t {
    Fine,    // 16 bits: round(65535 w)
    Coarse,  // 8 bits: round(255 sqrt(w)), so that small weights are finer
    Strong,  // only weights of at least `least`: for each query, 16 bits each: their count, their keys, round(65535 w)
};

struct PageWeights {
    WeightForm form = WeightForm::Fine;
    double least = 0.0;     // of Strong: smaller weights are left out
    double left_out = 0.0;  // of Strong: the share of all weight that is
    std::size_t bytes = 0;  // in the page, at most
};

// Fine where it takes at most half of `most` bytes, since a page of many should open quickly; Coarse where it takes at
// most all of them; else as many of the strongest weights as fit. Error for weights that are not within 0 to 1, such as
// those of a difference, and for more keys than a page can number.
PageWeights weights_within(const AttentionRecord& record, std::size_t most);

// Whether no query has weight on a later key: then Fine and Coarse leave out everything above the diagonal.
bool is_triangle(const SiteWeights& site);

// One head, from 0, in base64; `triangle`: is_triangle() of the site.
std::string page_weights(const SiteWeights& site, std::int64_t head, const PageWeights& weights, bool triangle);

// The largest difference between a weight and the page's.
double largest_rounding(WeightForm form);

}  // namespace headscope
