// Translation with weights, activations and caches in 16 bits.
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "infer/forced_scores.h"
#include "infer/model_scorer.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "tiny_model.h"

using namespace headscope;

namespace {

// The log probability of an output, computed with one pass per token without a cache.
double forced(Backend& backend, const TinyModel& model, std::vector<std::int32_t> source,
              const std::vector<std::int32_t>& tokens) {
    Context ctx{.backend = backend};
    source.push_back(model.transformer.config().frame.eos_id);
    std::vector<std::int32_t> prefix;
    double sum = 0.0;
    for (const std::int32_t token : tokens) {
        sum += next_log_probabilities(ctx, model.transformer, source, prefix).at(static_cast<std::size_t>(token));
        prefix.push_back(token);
    }
    return sum;
}

std::vector<Hypothesis> decode(Backend& backend, const TinyModel& model,
                               const std::vector<std::vector<std::int32_t>>& sources, int beam) {
    const ModelConfig& config = model.transformer.config();
    Context ctx{.backend = backend};
    ModelScorer scorer(ctx, model.transformer, ended(sources));
    return search(scorer, std::vector<std::int64_t>(sources.size(), 5), config.frame.bos_id, token_rules(config, {}),
                  {.beam = beam});
}

}  // namespace

TEST_CASE("cached decoding in 16 bits equals a pass without a cache, and nearly equals F32", "[storage]") {
    const auto cpu = open_device("cpu");
    const ModelConfig config = tiny_config();
    const TinyModel exact(*cpu, config);
    const auto sources = random_sources(2, 6, 40, 11);
    // A random model's tokens have about 1/40 each, log P -3.7; the distances below are of one token, a third measured.
    constexpr std::pair<DType, double> kBounds[] = {{DType::BF16, 0.03}, {DType::F16, 0.004}};
    for (const std::string& device : conformance::devices_with_storage()) {
        const auto backend = open_device(device, environment_options());
        for (const auto& [storage, bound] : kBounds) {
            const TinyModel model(*backend, config, 3, storage);
            for (const int beam : {1, 4}) {
                const auto found = decode(*backend, model, sources, beam);
                for (std::size_t i = 0; i < sources.size(); ++i) {
                    INFO(device << ", " << name_of(storage) << ", beam " << beam << ", sentence " << i);
                    const auto tokens = static_cast<double>(found[i].tokens.size());
                    const double own = found[i].log_probability / tokens;
                    CHECK(std::abs(own - forced(*backend, model, sources[i], found[i].tokens) / tokens) < bound);
                    const double full = forced(*cpu, exact, sources[i], found[i].tokens) / tokens;
                    CHECK(std::abs(own - full) < bound);
                    CHECK(own != full);
                }
                CHECK(decode(*backend, model, sources, beam).front().log_probability == found.front().log_probability);
            }
        }
    }
}
