#include "data/example_source.h"

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

}  // namespace headscope
