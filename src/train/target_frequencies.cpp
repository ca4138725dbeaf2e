#include "train/target_frequencies.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "data/batch.h"

namespace headscope {

std::vector<double> target_frequencies(const ExampleSource& source, const Frame& frame, std::int64_t vocabulary) {
    constexpr std::size_t kAtOnce = 4096;
    const Epoch epoch = source.epoch(0);
    std::vector<double> counts(static_cast<std::size_t>(vocabulary));
    for (std::size_t first = 0; first < epoch.examples(); first += kAtOnce) {
        std::vector<std::uint32_t> examples(std::min(kAtOnce, epoch.examples() - first));
        std::iota(examples.begin(), examples.end(), static_cast<std::uint32_t>(first));
        for (const Example& pair : source.fetch(epoch, examples)) {
            for (const std::int32_t id : make_batch(std::span(&pair, 1), frame, 0).predicted.classes) {
                if (id != kNoTarget) {
                    counts[static_cast<std::size_t>(id)] += 1.0;
                }
            }
        }
    }
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    std::transform(counts.begin(), counts.end(), counts.begin(), [&](double count) { return count / total; });
    return counts;
}

std::string shares_of_clusters(const std::vector<double>& frequencies, const std::vector<std::int32_t>& starts) {
    std::string text = "adaptive softmax: ";
    for (std::size_t i = 0; i <= starts.size(); ++i) {
        const auto from = frequencies.begin() + (i == 0 ? 0 : starts[i - 1]);
        const auto to = i < starts.size() ? frequencies.begin() + starts[i] : frequencies.end();
        const double share = 100.0 * std::accumulate(from, to, 0.0);
        text += i == 0 ? fmt::format("{:.1f} % of the predicted tokens are in the head", share)
                       : fmt::format(", {:.1f} % in cluster {}", share, i);
    }
    return text;
}

}  // namespace headscope
