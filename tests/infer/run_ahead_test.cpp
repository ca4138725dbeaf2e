// Greedy steps that run on the device before the host looks at them.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "backend/forwarding_backend.h"
#include "backend/ops/attention.h"
#include "infer/model_scorer.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "tiny_model.h"

using namespace headscope;

namespace {

struct Manner {
    const char* name;
    SearchOptions options = {};
    std::vector<std::int32_t> prefix = {};
    std::int32_t only_until = 0;  // all tokens from here on are forbidden; 0: none
    std::int64_t longer_by = 17;  // than its source an output may be
};

std::vector<Hypothesis> decode(Context& ctx, const TinyModel& model,
                               const std::vector<std::vector<std::int32_t>>& sources, const Manner& manner, int ahead) {
    ModelScorer scorer(ctx, model.transformer, ended(sources));
    scorer.set_most_ahead(ahead);
    const ModelConfig& config = model.transformer.config();
    std::vector<Hypothesis> best;
    std::vector<SearchTask> tasks;
    for (const std::vector<std::int32_t>& source : sources) {
        tasks.push_back(
            {.limit = static_cast<std::int64_t>(source.size()) + manner.longer_by, .prefix = manner.prefix});
        if (manner.only_until > 0) {
            tasks.back().forbidden_after = [&](const std::vector<std::int32_t>&) {
                std::vector<std::int32_t> all(static_cast<std::size_t>(config.target_vocabulary - manner.only_until));
                std::iota(all.begin(), all.end(), manner.only_until);
                return all;
            };
        }
    }
    for (auto& hypotheses :
         search_tasks(scorer, tasks, config.frame.bos_id, token_rules(config, manner.options), manner.options)) {
        best.push_back(std::move(hypotheses.front()));
    }
    return best;
}

std::vector<Manner> manners() {
    return {{.name = "greedy", .options = {.beam = 1}},
            {.name = "without repetitions", .options = {.beam = 1, .no_repeat_ngram = 1}},
            {.name = "at least ten tokens", .options = {.beam = 1, .min_length = 10}},
            {.name = "a forced end", .options = {.beam = 1, .force_end = true}},
            {.name = "a forced beginning", .options = {.beam = 1}, .prefix = {7, 9, 7}}};
}

void check_both(const std::vector<Hypothesis>& found, const std::vector<Hypothesis>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].tokens == expected[i].tokens);
        CHECK(found[i].end == expected[i].end);
        // A sentence that has ended leaves the batch later, so products may have other shapes.
        CHECK(found[i].score == Approx(expected[i].score).margin(1e-4));
    }
}

}  // namespace

TEST_CASE("steps that run ahead give what single steps give", "[ahead]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const auto backend = open_device(device, environment_options());
    const TinyModel model(*backend, tiny_config());
    Context ctx{.backend = *backend};
    const auto sources = random_sources(6, 16, 40, 11);
    for (const Manner& manner : manners()) {
        INFO(device << ", " << manner.name);
        const std::vector<Hypothesis> single = decode(ctx, model, sources, manner, 1);
        const std::vector<Hypothesis> ahead = decode(ctx, model, sources, manner, 8);
        check_both(ahead, single);
        const std::vector<Hypothesis> one = decode(ctx, model, {sources[0]}, manner, 1);
        const std::vector<Hypothesis> one_ahead = decode(ctx, model, {sources[0]}, manner, 8);
        CHECK(one_ahead[0].tokens == one[0].tokens);
        CHECK(one_ahead[0].token_log_probabilities == one[0].token_log_probabilities);
    }
}

namespace {

class DownloadCounter final : public ForwardingBackend {
public:
    DownloadCounter() : ForwardingBackend(open_device("cpu")) {}
    void download(const Tensor& from, void* to, std::size_t bytes) override {
        ++downloads;
        ForwardingBackend::download(from, to, bytes);
    }
    int downloads = 0;
};

}  // namespace

TEST_CASE("the host looks once at the steps that run ahead", "[ahead]") {
    DownloadCounter backend;
    const TinyModel model(backend, tiny_config());
    Context ctx{.backend = backend};
    const std::vector<std::vector<std::int32_t>> sources{{4, 5, 6, 7}};
    const auto downloads = [&](int ahead) {
        backend.downloads = 0;
        const Manner manner{.name = "to the limit", .options = {.beam = 1, .bad_words = {{2}}}};
        const std::vector<Hypothesis> decoded = decode(ctx, model, sources, manner, ahead);
        CHECK(decoded[0].tokens.size() == 21);
        return backend.downloads;
    };
    CHECK(downloads(1) == 21);
    CHECK(downloads(8) < 21);  // 5, and those of steps that are taken back
}

TEST_CASE("steps are not run ahead by rows that cannot go back", "[ahead]") {
    const auto backend = open_device("cpu");
    Context ctx{.backend = *backend};
    const auto most_of = [&](const ModelConfig& config) {
        const TinyModel model(*backend, config);
        ModelScorer scorer(ctx, model.transformer, {{4, 5, 2}});
        scorer.set_most_ahead(8);
        return scorer.most_ahead();
    };
    ModelConfig config = tiny_config();
    CHECK(most_of(config) == 8);
    config.mixer.decoder = MixerKind::Restricted;
    config.mixer.window = 4;
    CHECK(most_of(config) == 1);
    config = tiny_config();
    config.mixer.decoder = MixerKind::Gru;
    CHECK(most_of(config) == 1);
}

namespace {

// Counts what the layers of a decoder append to its cache at each step.
class StepCounter final : public ForwardingBackend {
public:
    StepCounter() : ForwardingBackend(open_device("cpu")) {}
    using ForwardingBackend::run;
    void run(const CacheAppend& op) override {
        ++appends;
        ForwardingBackend::run(op);
    }
    int appends = 0;
};

}  // namespace

TEST_CASE("greedy steps run ahead only where a device ranks all that they need", "[ahead]") {
    StepCounter backend;
    ModelConfig config = tiny_config(100);
    config.max_length = 128;
    const TinyModel model(backend, config);
    Context ctx{.backend = backend};
    const auto sources = random_sources(2, 8, 100, 12);
    const auto steps_of = [&](const Manner& manner, int ahead) {
        backend.appends = 0;
        return std::pair{decode(ctx, model, sources, manner, ahead), backend.appends};
    };
    const std::vector<std::int32_t> no_end{config.frame.eos_id};
    const std::vector<Manner> never{
        {.name = "a rule that leaves ten tokens", .options = {.beam = 1}, .only_until = 10},
        {.name = "sampling", .options = {.beam = 1, .sample = true}},
        {.name = "repetition penalty", .options = {.beam = 1, .repetition_penalty = 1.3}},
        {.name = "sequence bias", .options = {.beam = 1, .sequence_bias = {{.tokens = {5}, .bias = 2.0}}}}};
    for (const Manner& manner : never) {
        INFO(manner.name);
        const auto [single, steps] = steps_of(manner, 1);
        const auto [ahead, steps_ahead] = steps_of(manner, 8);
        check_both(ahead, single);
        CHECK(steps_ahead == steps);
    }
    // More tokens are forbidden than a device ranks only after the first 60.
    const Manner unrepeated{.name = "without repetitions",
                            .options = {.beam = 1, .bad_words = {no_end}, .no_repeat_ngram = 1},
                            .longer_by = 80};
    const std::vector<Hypothesis> single = decode(ctx, model, sources, unrepeated, 1);
    check_both(decode(ctx, model, sources, unrepeated, 8), single);
    CHECK(single[0].tokens.size() > 80);
}

TEST_CASE("steps are not run ahead while they are observed", "[ahead]") {
    struct Observer final : AttentionObserver {
        bool wants(const AttentionSite&) const override { return true; }
        Tensor observe(Backend&, const AttentionView& view) override { return view.weights; }
    };
    const auto backend = open_device("cpu");
    const TinyModel model(*backend, tiny_config());
    Observer observer;
    Context ctx{.backend = *backend, .observer = &observer};
    ModelScorer scorer(ctx, model.transformer, {{4, 5, 2}});
    scorer.set_most_ahead(8);
    CHECK(scorer.most_ahead() == 1);
}
