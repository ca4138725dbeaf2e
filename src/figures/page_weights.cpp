#include "figures/page_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "observe/family_labels.h"
#include "support/base64.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr double kMost16 = 65535.0;
constexpr double kMost8 = 255.0;
// Sums of a softmax in float32 or less exceed 1 by this at most.
constexpr float kAboveOne = 0.01F;
constexpr double kFirstLeast = 0.001;
constexpr double kLastLeast = 0.5;  // of a query, no two weights are larger

std::size_t base64_size(std::size_t bytes) {
    return (bytes + 2) / 3 * 4;
}

std::uint16_t fine(float weight) {
    return static_cast<std::uint16_t>(std::lround(std::min(static_cast<double>(weight), 1.0) * kMost16));
}

void put16(std::vector<std::uint8_t>& bytes, std::uint16_t value) {
    bytes.push_back(static_cast<std::uint8_t>(value & 0xFFU));
    bytes.push_back(static_cast<std::uint8_t>(value >> 8U));
}

void check_weights(const AttentionRecord& record) {
    for (const SiteWeights& site : record.sites) {
        if (site.keys > std::numeric_limits<std::uint16_t>::max()) {
            throw Error(fmt::format("a page of heads takes at most {} tokens, got {}",
                                    std::numeric_limits<std::uint16_t>::max(), site.keys));
        }
        for (const float weight : site.values) {
            if (!(weight >= 0.0F && weight <= 1.0F + kAboveOne)) {
                throw Error(fmt::format("a page of heads shows weights from 0 to 1, but {} has {}",
                                        layer_label(record.family, site.site), weight));
            }
        }
    }
}

// Bytes of all heads if each weight takes `each`.
std::size_t dense_size(const AttentionRecord& record, std::size_t each) {
    std::size_t bytes = 0;
    for (const SiteWeights& site : record.sites) {
        const auto queries = static_cast<std::size_t>(site.queries);
        const std::size_t weights =
            is_triangle(site) ? queries * (queries + 1) / 2 : queries * static_cast<std::size_t>(site.keys);
        bytes += static_cast<std::size_t>(site.heads) * base64_size(each * weights);
    }
    return bytes;
}

PageWeights strong(const AttentionRecord& record, double least) {
    PageWeights result{.form = WeightForm::Strong, .least = least};
    double all = 0.0;
    for (const SiteWeights& site : record.sites) {
        std::size_t kept = 0;
        for (const float weight : site.values) {
            const bool keeps = static_cast<double>(weight) >= least;
            kept += keeps ? 1 : 0;
            all += static_cast<double>(weight);
            result.left_out += keeps ? 0.0 : static_cast<double>(weight);
        }
        // With the padding of each head.
        result.bytes += base64_size(4 * kept + 2 * static_cast<std::size_t>(site.heads * site.queries) +
                                    3 * static_cast<std::size_t>(site.heads));
    }
    result.left_out /= std::max(all, std::numeric_limits<double>::min());
    return result;
}

void put_strong(std::vector<std::uint8_t>& bytes, const float* row, std::int64_t keys, double least) {
    std::vector<std::uint16_t> kept;
    for (std::int64_t key = 0; key < keys; ++key) {
        if (static_cast<double>(row[key]) >= least) {
            kept.push_back(static_cast<std::uint16_t>(key));
        }
    }
    put16(bytes, static_cast<std::uint16_t>(kept.size()));
    for (const std::uint16_t key : kept) {
        put16(bytes, key);
    }
    for (const std::uint16_t key : kept) {
        put16(bytes, fine(row[key]));
    }
}

}  // namespace

bool is_triangle(const SiteWeights& site) {
    if (site.queries != site.keys) {
        return false;
    }
    for (std::int64_t row = 0; row < site.heads * site.queries; ++row) {
        const auto from = site.values.begin() + row * site.keys;
        if (std::any_of(from + row % site.queries + 1, from + site.keys, [](float weight) { return weight != 0.0F; })) {
            return false;
        }
    }
    return true;
}

PageWeights weights_within(const AttentionRecord& record, std::size_t most) {
    check_weights(record);
    if (const std::size_t bytes = dense_size(record, 2); bytes <= most / 2) {
        return {.form = WeightForm::Fine, .bytes = bytes};
    }
    if (const std::size_t bytes = dense_size(record, 1); bytes <= most) {
        return {.form = WeightForm::Coarse, .bytes = bytes};
    }
    PageWeights result = strong(record, kFirstLeast);
    while (result.bytes > most && result.least < kLastLeast) {
        result = strong(record, 2.0 * result.least);
    }
    return result;
}

std::string page_weights(const SiteWeights& site, std::int64_t head, const PageWeights& weights, bool triangle) {
    std::vector<std::uint8_t> bytes;
    for (std::int64_t query = 0; query < site.queries; ++query) {
        const float* row = site.values.data() + (head * site.queries + query) * site.keys;
        if (weights.form == WeightForm::Strong) {
            put_strong(bytes, row, site.keys, weights.least);
            continue;
        }
        for (std::int64_t key = 0; key < (triangle ? query + 1 : site.keys); ++key) {
            if (weights.form == WeightForm::Fine) {
                put16(bytes, fine(row[key]));
            } else {
                const double root = std::sqrt(std::min(static_cast<double>(row[key]), 1.0));
                bytes.push_back(static_cast<std::uint8_t>(std::lround(root * kMost8)));
            }
        }
    }
    return base64(bytes);
}

double largest_rounding(WeightForm form) {
    // Of w = (b / 255)^2 the next larger one is farthest at w = 1; half of the way is rounded.
    return form == WeightForm::Coarse ? 1.0 / kMost8 : 0.5 / kMost16;
}

}  // namespace headscope
