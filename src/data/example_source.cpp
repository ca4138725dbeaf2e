#include "data/example_source.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "support/check.h"
#include "support/parallel.h"

namespace headscope {

std::vector<Example> ExampleSource::fetch(const Epoch& epoch, std::span<const std::uint32_t> examples) const {
    constexpr std::size_t kLeast = 256;  // fewer are not worth a thread
    std::vector<Example> pairs(examples.size());
    in_parallel(examples.size(), kLeast, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            pairs[i] = example(epoch, examples[i]);
        }
    });
    return pairs;
}

std::vector<Pass> passes_over(std::size_t size, double weight, std::uint64_t seed, std::int64_t epoch,
                              std::size_t corpus) {
    constexpr std::uint64_t kPasses = 0x50617373;
    const auto whole = static_cast<std::uint64_t>(weight);
    std::vector<Pass> passes;
    for (std::uint64_t number = 0; number <= whole; ++number) {
        const double share = number < whole ? 1.0 : weight - static_cast<double>(whole);
        if (share <= 0.0) {
            continue;
        }
        Pass pass{.random = Random(seed, stream_of(epoch, kPasses, corpus << 32U | number)), .items = {}};
        for (std::size_t i = 0; i < size; ++i) {
            if (share >= 1.0 || pass.random.uniform() < share) {
                pass.items.push_back(static_cast<std::uint32_t>(i));
            }
        }
        passes.push_back(std::move(pass));
    }
    return passes;
}

Epoch epoch_of(std::span<const WeightedExamples> corpora, std::uint64_t seed, std::int64_t number) {
    HEADSCOPE_CHECK(number >= 0, "epochs count from 0");
    Epoch epoch;
    epoch.number = number;
    std::size_t first = 0;
    for (std::size_t corpus = 0; corpus < corpora.size(); ++corpus) {
        const auto [size, weight] = corpora[corpus];
        for (const Pass& pass : passes_over(size, weight, seed, number, corpus)) {
            std::transform(pass.items.begin(), pass.items.end(), std::back_inserter(epoch.items),
                           [&](std::uint32_t item) { return static_cast<std::uint32_t>(first + item); });
        }
        first += size;
    }
    if (epoch.items.empty()) {
        epoch.items.resize(first);
        std::iota(epoch.items.begin(), epoch.items.end(), std::uint32_t{0});
    }
    epoch.starts.resize(epoch.items.size() + 1);
    std::iota(epoch.starts.begin(), epoch.starts.end(), std::uint32_t{0});
    return epoch;
}

}  // namespace headscope
