#include "cli/look/inside_report.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "observe/text_table.h"

namespace headscope {

namespace {

using Cells = std::vector<std::string>;

// "cat +1.20, The -0.31": the tokens with the largest products for one prediction, without those that have none.
std::string largest(const std::vector<RecordedToken>& tokens, const double* products) {
    constexpr std::size_t kShown = 3;
    std::vector<std::size_t> order(tokens.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return std::abs(products[a]) > std::abs(products[b]); });
    Cells shown;
    for (std::size_t i = 0; i < std::min(kShown, order.size()) && products[order[i]] != 0.0; ++i) {
        shown.push_back(fmt::format("{} {:+.2f}", tokens[order[i]].text, products[order[i]]));
    }
    return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::string text_of(const Saliency& saliency) {
    const std::vector<double> of_source = saliency.of_source.products();
    const std::vector<double> of_target = saliency.of_target.products();
    const bool has_source = !saliency.source.empty();
    std::vector<Cells> rows{has_source ? Cells{"predicted", "source", "target"} : Cells{"predicted", "text"}};
    for (std::size_t i = 0; i < saliency.predicted_texts.size(); ++i) {
        Cells row{saliency.predicted_texts[i]};
        if (has_source) {
            row.push_back(largest(saliency.source, of_source.data() + i * saliency.source.size()));
        }
        row.push_back(largest(saliency.target, of_target.data() + i * saliency.target.size()));
        rows.push_back(std::move(row));
    }
    return "What log P of each piece owes to what the model reads: gradient times embedding\n" + text_table(rows);
}

std::string text_of(const Lens& lens) {
    std::vector<Cells> rows{{"", "embedding"}};
    for (std::size_t layer = 1; layer < lens.layers.size(); ++layer) {
        rows.front().push_back(fmt::format("layer {}", layer));
    }
    rows.front().emplace_back("given");
    for (std::size_t i = 0; i < lens.tokens.size(); ++i) {
        Cells row{lens.tokens[i].text};
        for (const LensLayer& layer : lens.layers) {
            const NextCandidate& best = layer.steps[i].candidates.front();
            row.push_back(fmt::format("{} {:.2f}", best.text, std::exp(best.log_probability)));
        }
        row.push_back(lens.given[i]);
        rows.push_back(std::move(row));
    }
    return "The likeliest piece if the model ended after a layer, and its probability\n" + text_table(rows);
}

std::string text_of(const PatchEffects& found) {
    std::vector<Cells> rows{{"site", "position", "piece", "from", "change of log P"}};
    for (const PatchEffect& effect : found.effects) {
        rows.push_back({effect.site, fmt::format("{}", effect.position + 1), effect.token.text, effect.from.text,
                        fmt::format("{:+.4f}", effect.log_probability - found.log_probability)});
    }
    return fmt::format("log P {:.4f}, after the other text {:.4f}\n", found.log_probability,
                       found.from_log_probability) +
           text_table(rows);
}

}  // namespace headscope
