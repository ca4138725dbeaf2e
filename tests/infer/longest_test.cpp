// Sentences of the maximum length with learned positions: padding to a multiple of 8 would need positions that do not
// exist.
#include <catch2/catch.hpp>

#include "infer/forced_scores.h"
#include "infer/model_scorer.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "tiny_model.h"

using namespace headscope;

namespace {

ModelConfig learned_config() {
    ModelConfig config = tiny_config();
    config.positions.kind = Positions::Learned;
    config.max_length = 29;  // not a multiple of 8
    return config;
}

std::vector<Hypothesis> decode(Scorer& scorer, const std::vector<std::vector<std::int32_t>>& sources,
                               const ModelConfig& config, int beam) {
    const std::vector<std::int64_t> limits(sources.size(), config.max_length);
    return search(scorer, limits, config.frame.bos_id, token_rules(config, {}), {.beam = beam});
}

}  // namespace

TEST_CASE("the longest sentences of a model with learned positions are translated as in other batches") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const int beam = GENERATE(1, 4);
    const auto backend = open_device(device, environment_options());
    const TinyModel model(*backend, learned_config());
    const ModelConfig& config = model.transformer.config();
    Context ctx{.backend = *backend};
    std::vector<std::vector<std::int32_t>> sources;
    for (std::size_t length = 25; length <= 29; ++length) {  // including eos
        sources.push_back(random_sources(1, 1, 40, length).front());
        while (sources.back().size() + 1 < length) {
            sources.back().push_back(4 + static_cast<std::int32_t>(sources.back().size() * length % 36));
        }
    }
    ModelScorer together(ctx, model.transformer, ended(sources));
    const auto found = decode(together, sources, config, beam);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        INFO(device << ", beam " << beam << ", " << sources[i].size() + 1 << " tokens");
        ModelScorer alone(ctx, model.transformer, ended({sources[i]}));
        CHECK(decode(alone, {sources[i]}, config, beam).front().tokens == found[i].tokens);
        // A separate pass without cache, search and batch agrees on the first token.
        const auto scores = next_log_probabilities(ctx, model.transformer, ended({sources[i]}).front(), {});
        ModelScorer first(ctx, model.transformer, ended({sources[i]}));
        const NextTokens& next = first.step({config.frame.bos_id}, {0}, 1);
        CHECK(scores.at(static_cast<std::size_t>(next.tokens.front())) ==
              Approx(next.log_probabilities.front()).margin(1e-4));
    }
}
