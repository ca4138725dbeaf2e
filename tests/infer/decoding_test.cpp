// Beam search with a model: results must not depend on cache, batch and device.
#include <cmath>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "backend/forwarding_backend.h"
#include "backend/ops/search.h"
#include "infer/forced_scores.h"
#include "infer/model_scorer.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "tiny_model.h"

using namespace headscope;

namespace {

constexpr double kTolerance = 1e-4;  // of log probabilities: F32 sums in different orders

std::vector<std::int64_t> limits_of(const std::vector<std::vector<std::int32_t>>& sources, std::int64_t extra) {
    std::vector<std::int64_t> limits;
    for (const auto& source : sources) {
        limits.push_back(static_cast<std::int64_t>(source.size()) + 1 + extra);
    }
    return limits;
}

std::vector<Hypothesis> decode(Scorer& scorer, const std::vector<std::vector<std::int32_t>>& sources,
                               const ModelConfig& config, const SearchOptions& options) {
    return search(scorer, limits_of(sources, 12), config.frame.bos_id, token_rules(config, {}), options);
}

std::vector<Hypothesis> decode_cached(Context& ctx, const TinyModel& model,
                                      const std::vector<std::vector<std::int32_t>>& sources,
                                      const SearchOptions& options) {
    ModelScorer scorer(ctx, model.transformer, ended(sources));
    return decode(scorer, sources, model.transformer.config(), options);
}

struct Step {
    std::vector<std::int32_t> tokens, parents;
};

// Three sentences, with and without a cache on every device.
void check_steps(const std::vector<Step>& steps) {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const auto backend = open_device(device, environment_options());
    const TinyModel model(*backend, tiny_config());
    Context ctx{.backend = *backend};
    const std::vector<std::vector<std::int32_t>> sources{{4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, {30}, {20, 21, 22}};
    ModelScorer cached(ctx, model.transformer, ended(sources));
    ModelScorer twice(ctx, model.transformer, ended(sources));
    UncachedScorer uncached(ctx, model.transformer, sources);
    INFO(device);
    for (const Step& step : steps) {
        const NextTokens& a = cached.step(step.tokens, step.parents, 3);
        const NextTokens& b = uncached.step(step.tokens, step.parents, 3);
        CHECK(a.tokens == b.tokens);
        for (std::size_t i = 0; i < a.log_probabilities.size(); ++i) {
            CHECK(a.log_probabilities[i] == Approx(b.log_probabilities[i]).margin(1e-4));
        }
        int asked = 0;
        const NextTokens& c = twice.step_until(step.tokens, step.parents, 1, 3, [&](const NextTokens& next) {
            CHECK(next.k == 1);
            CHECK(next.tokens.front() == a.tokens.front());
            ++asked;
            return false;
        });
        CHECK(asked == 1);
        CHECK(c.tokens == a.tokens);
        CHECK(c.log_probabilities == a.log_probabilities);
    }
}

void check_same(const Hypothesis& a, const Hypothesis& b) {
    CHECK(a.tokens == b.tokens);
    CHECK(std::abs(a.log_probability - b.log_probability) < kTolerance);
    CHECK(a.end == b.end);
}

ModelConfig config_of(const std::string& kind) {
    ModelConfig config = tiny_config();
    if (kind == "pre-norm, learned positions") {
        config.norm.placement = NormPlacement::Pre;
        config.positions.kind = Positions::Learned;
        config.max_length = 29;  // not a multiple of 8
        config.attention.bias = config.output.bias = true;
    } else if (kind == "d_v other than d_k") {
        config.attention.d_k = 4;
        config.attention.d_v = 12;
    } else if (kind == "adaptive softmax") {
        config.output.adaptive = {.cutoffs = {8, 16, 30}, .factor = 2};
    }
    return config;
}

}  // namespace

TEST_CASE("cached decoding equals decoding without a cache") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const auto backend = open_device(device, environment_options());
    const std::string kind =
        GENERATE("post-norm", "pre-norm, learned positions", "d_v other than d_k", "adaptive softmax");
    const int beam = GENERATE(1, 4);
    const TinyModel model(*backend, config_of(kind));
    const auto sources = random_sources(6, 16, 40, 11);
    Context ctx{.backend = *backend};
    const auto cached = decode_cached(ctx, model, sources, {.beam = beam});
    UncachedScorer scorer(ctx, model.transformer, sources);
    const auto uncached = decode(scorer, sources, model.transformer.config(), {.beam = beam});
    for (std::size_t i = 0; i < sources.size(); ++i) {
        INFO(device << ", " << kind << ", beam " << beam << ", sentence " << i);
        check_same(cached[i], uncached[i]);
    }
}

TEST_CASE("a translation is the same in any batch") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const auto backend = open_device(device, environment_options());
    const std::string kind = GENERATE("post-norm", "pre-norm, learned positions");
    const int beam = GENERATE(1, 4);
    const TinyModel model(*backend, config_of(kind));
    const auto sources = random_sources(9, 16, 40, 5);
    Context ctx{.backend = *backend};
    const auto together = decode_cached(ctx, model, sources, {.beam = beam});
    for (std::size_t i = 0; i < sources.size(); ++i) {
        INFO(device << ", " << kind << ", beam " << beam << ", sentence " << i);
        check_same(decode_cached(ctx, model, {sources[i]}, {.beam = beam}).front(), together[i]);
    }
}

TEST_CASE("every device translates like the double-precision oracle") {
    const auto oracle = open_device("cpu:oracle");
    const TinyModel precise(*oracle, tiny_config());
    Context precise_ctx{.backend = *oracle};
    const auto sources = random_sources(24, 14, 40, 21);
    const int beam = GENERATE(1, 4);
    const auto expected = decode_cached(precise_ctx, precise, sources, {.beam = beam});
    for (const std::string& device : conformance::devices_under_test()) {
        const auto backend = open_device(device, environment_options());
        const TinyModel model(*backend, tiny_config());
        Context ctx{.backend = *backend};
        const auto found = decode_cached(ctx, model, sources, {.beam = beam});
        for (std::size_t i = 0; i < sources.size(); ++i) {
            INFO(device << ", beam " << beam << ", sentence " << i);
            check_same(found[i], expected[i]);
        }
    }
}

TEST_CASE("decoding is reproducible bit for bit") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const auto backend = open_device(device, environment_options());
    const TinyModel model(*backend, tiny_config());
    const auto sources = random_sources(7, 20, 40, 2);
    Context ctx{.backend = *backend};
    const auto first = decode_cached(ctx, model, sources, {});
    const auto second = decode_cached(ctx, model, sources, {});
    for (std::size_t i = 0; i < sources.size(); ++i) {
        INFO(device << ", sentence " << i);
        CHECK(first[i].tokens == second[i].tokens);
        CHECK(first[i].log_probability == second[i].log_probability);
    }
}

TEST_CASE("a log probability equals the sum of a teacher-forced pass") {
    std::vector<std::string> devices = conformance::devices_under_test();
    devices.emplace_back("cpu:oracle");
    const std::string device = GENERATE_COPY(from_range(devices));
    const double tolerance = device == "cpu:oracle" ? 1e-5 : kTolerance;  // scores are downloaded in F32
    const auto backend = open_device(device, environment_options());
    const TinyModel model(*backend, tiny_config());
    const ModelConfig& config = model.transformer.config();
    const auto sources = random_sources(3, 9, 40, 8);
    Context ctx{.backend = *backend};
    const auto found = decode_cached(ctx, model, sources, {});
    for (std::size_t i = 0; i < sources.size(); ++i) {
        INFO(device << ", sentence " << i);
        // One forced row: step by step through the found tokens.
        UncachedScorer scorer(ctx, model.transformer, {sources[i]});
        double sum = 0.0;
        std::int32_t previous = config.frame.bos_id;
        for (const std::int32_t token : found[i].tokens) {
            const NextTokens& next = scorer.step({previous}, {0}, static_cast<int>(config.target_vocabulary));
            const auto at = std::find(next.tokens.begin(), next.tokens.end(), token) - next.tokens.begin();
            sum += static_cast<double>(next.log_probabilities[at]);
            previous = token;
        }
        CHECK(found[i].log_probability == Approx(sum).margin(tolerance));
        CHECK(found[i].score ==
              Approx(sum / length_penalty(static_cast<std::int64_t>(found[i].tokens.size()), 0.6)).margin(tolerance));
    }
}

TEST_CASE("a row that continues another sentence uses its source") {
    // Equally many rows of the same sentences in another order, then of other sentences, then fewer, then more.
    check_steps({{{1, 1, 1}, {0, 1, 2}},
                 {{7, 8, 9}, {2, 0, 1}},
                 {{5, 6, 7}, {1, 1, 0}},
                 {{12, 13}, {2, 0}},
                 {{6, 7, 8, 9, 10}, {1, 0, 0, 1, 1}}});
}

TEST_CASE("the rows of a sentence share its source") {
    check_steps({{{1, 1, 1}, {0, 1, 2}},
                 {{7, 8, 9, 10, 11, 12}, {0, 0, 1, 1, 2, 2}},   // two rows each
                 {{8, 9, 10, 11, 12, 13}, {1, 0, 3, 3, 4, 5}},  // crossed, within their sentences
                 {{5, 6, 7, 8}, {5, 4, 1, 1}},                  // the second is done, the others swap
                 {{6, 7, 8}, {0, 1, 3}},                        // two rows and one
                 {{9, 10, 11, 12}, {1, 0, 2, 2}},               // two each again
                 {{7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, {0, 1, 0, 1, 0, 2, 3, 2, 3, 2}},  // five each
                 {{4, 5}, {9, 7}}});                                                       // one sentence is left
}

namespace {

// Counts the gathers of per-source data: [sources, heads, source_length, d_k]; the data of tokens has more heads in all
// layers.
class SourceWatcher final : public ForwardingBackend {
public:
    SourceWatcher() : ForwardingBackend(open_device("cpu")) {}
    using ForwardingBackend::run;
    void run(const GatherRows& op) override {
        if (op.out.rank() == 4 && op.out.dim(1) == tiny_config().attention.heads) {
            sources.push_back(op.out.dim(0));
        }
        ForwardingBackend::run(op);
    }
    std::vector<std::int64_t> sources;  // of each gather
};

struct Blind : AttentionObserver {
    bool wants(const AttentionSite&) const override { return false; }
    Tensor observe(Backend&, const AttentionView& view) override { return view.weights; }
};

}  // namespace

TEST_CASE("keys and values of the sources are gathered only when a sentence is done") {
    SourceWatcher backend;
    const ModelConfig config = tiny_config();
    const TinyModel model(backend, config);
    const std::vector<std::vector<std::int32_t>> sources{{4, 5, 6, 7}, {30, 31}, {20, 21, 22}};
    Blind blind;
    const bool observed = GENERATE(false, true);
    Context ctx{.backend = backend, .observer = observed ? &blind : nullptr};
    ModelScorer scorer(ctx, model.transformer, ended(sources));
    const auto moved = [&](const Step& step) {
        backend.sources.clear();
        scorer.step(step.tokens, step.parents, 3);
        return backend.sources;
    };
    const auto of = [&](std::int64_t count) {  // keys and values of each layer
        return std::vector<std::int64_t>(static_cast<std::size_t>(2 * config.decoder_layers), count);
    };
    const std::vector<std::int64_t> none;
    INFO("observed: " << observed);
    CHECK(moved({{1, 1, 1}, {0, 1, 2}}) == none);
    CHECK(moved({{7, 8, 9, 10, 11, 12}, {0, 0, 1, 1, 2, 2}}) == (observed ? of(6) : none));
    CHECK(moved({{8, 9, 10, 11, 12, 13}, {1, 0, 3, 3, 4, 5}}) == none);
    CHECK(moved({{5, 6, 7, 8}, {1, 0, 5, 4}}) == of(observed ? 4 : 2));  // the second is done
    CHECK(moved({{6, 7, 8}, {0, 1, 3}}) == of(3));                       // no longer equally many rows each
    CHECK(moved({{6, 7, 8}, {1, 0, 2}}) == none);
    CHECK(moved({{9, 10}, {1, 2}}) == of(2));
}

TEST_CASE("teacher-forced scores equal those of cached decoding", "[forced]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const auto backend = open_device(device, environment_options());
    INFO(device);
    const TinyModel model(*backend, tiny_config());
    const ModelConfig& config = model.transformer.config();
    Context ctx{.backend = *backend};
    const std::vector<std::int32_t> source{4, 9, 30, 17, config.frame.eos_id};
    ModelScorer scorer(ctx, model.transformer, {source});
    std::vector<std::int32_t> written;
    for (const std::int32_t token : {11, 7, 11}) {
        const NextTokens& next = scorer.step({written.empty() ? config.frame.bos_id : written.back()}, {0},
                                             static_cast<int>(config.target_vocabulary));
        const std::vector<double> forced = next_log_probabilities(ctx, model.transformer, source, written);
        REQUIRE(forced.size() == static_cast<std::size_t>(config.target_vocabulary));
        for (std::size_t i = 0; i < next.tokens.size(); ++i) {
            CHECK(forced[static_cast<std::size_t>(next.tokens[i])] ==
                  Approx(next.log_probabilities[i]).margin(kTolerance));
        }
        written.push_back(token);
    }
}
