// What a model would write after each layer, compared with its own output and with PyTorch's residuals
// (tests/golden/make_site_vectors.py).
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "explore/inner_json.h"
#include "explore/lens.h"
#include "observe/recorded_text.h"
#include "tests/explore/known_model.h"
#include "tests/explore/tiny_explorer.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// The logits of a residual of GPT-2 in double: layer norm, then the tied embedding.
std::vector<double> logits_of(const Known& known, const float* residual) {
    const auto host = [&](const char* name) {
        return to_host<double>(*known.backend, known.models.parameters().at(name).value());
    };
    const std::vector<double> gain = host("decoder.norm.gain");
    const std::vector<double> bias = host("decoder.norm.bias");
    const std::vector<double> table = host("embedding.weight");
    const std::size_t width = gain.size();
    double mean = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
        mean += static_cast<double>(residual[i]) / static_cast<double>(width);
    }
    double variance = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
        variance += std::pow(static_cast<double>(residual[i]) - mean, 2.0) / static_cast<double>(width);
    }
    const double epsilon = static_cast<double>(known.models.model().config.norm.epsilon);
    std::vector<double> logits(table.size() / width);
    for (std::size_t id = 0; id < logits.size(); ++id) {
        for (std::size_t i = 0; i < width; ++i) {
            const double normalised = (static_cast<double>(residual[i]) - mean) / std::sqrt(variance + epsilon);
            logits[id] += (gain[i] * normalised + bias[i]) * table[id * width + i];
        }
    }
    return logits;
}

}  // namespace

TEST_CASE("the last layer of a lens has the model's own distributions", "[lens]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const std::string name = GENERATE(from_range(known_models()));
    CAPTURE(device, name);
    const Known known(name, device);
    const Lens lens = read_lens(*known.backend, known.models, Compute::F32, known.request);
    REQUIRE(lens.problem == "");
    const HookedRun run = known.run({.text = {}});
    const std::vector<ExploredStep>& last = lens.layers.back().steps;
    REQUIRE(last.size() == lens.tokens.size());
    REQUIRE(lens.given.size() == lens.tokens.size());
    REQUIRE(!run.steps.empty());
    // A pass of a masked model computes the logits of masks alone, which changes the order of sums on some devices.
    const double margin = name == "hf-bert" ? 1e-6 : 0.0;
    for (const ExploredStep& own : run.steps) {
        const ExploredStep& seen = last.at(static_cast<std::size_t>(own.position));
        CHECK(seen.token == own.token);
        CHECK(std::abs(seen.log_probability - own.log_probability) <= margin);
        REQUIRE(seen.candidates.size() == own.candidates.size());
        for (std::size_t i = 0; i < own.candidates.size(); ++i) {
            CHECK(seen.candidates[i].token == own.candidates[i].token);
            CHECK(std::abs(seen.candidates[i].log_probability - own.candidates[i].log_probability) <= margin);
        }
    }
}

TEST_CASE("a layer of a lens is a run whose last residual is that of the layer", "[lens]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const std::string name = GENERATE(from_range(known_models()));
    CAPTURE(device, name);
    const Known known(name, device);
    const Lens lens = read_lens(*known.backend, known.models, Compute::F32, known.request);
    REQUIRE(lens.problem == "");
    const std::string last = lens.layers.back().site;
    REQUIRE(lens.layers.size() >= 2);
    CHECK(lens.layers[0].site.ends_with(".embedding"));
    for (const LensLayer& layer : lens.layers) {
        CAPTURE(layer.site);
        SiteValues residual = known.expected("site/" + layer.site, last);  // PyTorch's
        const HookedRun run = known.run({.text = {}, .patches = {{.by = residual}}});
        for (const ExploredStep& expected : run.steps) {
            const ExploredStep& found = layer.steps.at(static_cast<std::size_t>(expected.position));
            CHECK(found.token == expected.token);
            CHECK(found.log_probability == Approx(expected.log_probability).margin(1e-4));
        }
    }
}

TEST_CASE("a layer of a lens has the last norm and the output projection of PyTorch's residual", "[lens]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    CAPTURE(device);
    const Known known("hf-gpt2", device);
    const Lens lens = read_lens(*known.backend, known.models, Compute::F32, known.request);
    REQUIRE(lens.problem == "");
    for (const LensLayer& layer : lens.layers) {
        CAPTURE(layer.site);
        const SiteValues residual = known.expected("site/" + layer.site, layer.site);
        const auto width = static_cast<std::size_t>(residual.shape[-1]);
        REQUIRE(layer.steps.size() * width == residual.values.size());
        for (std::size_t position = 0; position < layer.steps.size(); ++position) {
            const std::vector<double> logits = logits_of(known, residual.values.data() + position * width);
            double sum = 0.0;
            for (const double logit : logits) {
                sum += std::exp(logit);
            }
            const std::vector<NextCandidate>& candidates = layer.steps[position].candidates;
            REQUIRE(candidates.size() == 10);
            for (const NextCandidate& candidate : candidates) {
                const double expected = logits.at(static_cast<std::size_t>(candidate.token)) - std::log(sum);
                CHECK(candidate.log_probability == Approx(expected).margin(1e-4));
            }
        }
    }
}

TEST_CASE("a lens shows what follows a prompt, and every piece of a text with masks", "[lens]") {
    const TinyExplorer causal("cpu", tiny_language_config(Architecture::CausalLm));
    const auto read = [](const TinyExplorer& tiny, const ExploreRequest& request) {
        return read_lens(*tiny.backend, tiny.translator, Compute::F32, request);
    };
    const Lens prompt = read(causal, {.source = "the small dog", .target = "", .candidates = 3});
    REQUIRE(prompt.problem == "");
    CHECK(prompt.given.back().empty());
    CHECK_FALSE(prompt.given.front().empty());
    CHECK(prompt.layers.size() == 3);
    CHECK(prompt.layers[1].site == "decoder.0.residual_out");
    REQUIRE(prompt.layers[1].steps.back().candidates.size() == 3);
    for (const NextCandidate& candidate : prompt.layers[1].steps.back().candidates) {
        CHECK(candidate.text == token_text(*causal.translator.model().target_tokenizer,
                                           causal.translator.model().config, candidate.token));
    }

    const TinyExplorer masked("cpu", tiny_language_config(Architecture::MaskedLm));
    const Lens filled = read(masked, {.source = "the [MASK] dog", .target_tokens = {9}});
    REQUIRE(filled.problem == "");
    CHECK(filled.layers[1].site == "encoder.0.residual_out");
    for (std::size_t i = 0; i < filled.tokens.size(); ++i) {
        CHECK(filled.given[i].empty() == (filled.tokens[i].kind != TokenKind::Mask));
    }

    const nlohmann::json parsed = nlohmann::json::parse(to_json(prompt));
    CHECK(parsed.at("text").size() == prompt.tokens.size());
    CHECK(parsed.at("given").back() == "");
    const nlohmann::json& layer = parsed.at("layers").at(1);
    CHECK(layer.at("layer") == 1);
    CHECK(layer.at("site") == "decoder.0.residual_out");
    CHECK(layer.at("positions").at(0).at("rank") == prompt.layers[1].steps[0].rank);
    CHECK_FALSE(layer.at("positions").back().contains("rank"));
    const NextCandidate& best = prompt.layers[1].steps[0].candidates[0];
    CHECK(layer.at("positions").at(0).at("candidates").at(0).at("piece") == best.text);
    CHECK(layer.at("positions").at(0).at("candidates").at(0).at("probability") == std::exp(best.log_probability));
}

TEST_CASE("a lens reads edited heads", "[lens]") {
    const TinyExplorer tiny;
    ExploreRequest request{.source = "the small dog", .target = "der hund"};
    request.edits = {{.site = {AttentionKind::Cross, 1}, .head = 2}};
    const Lens lens = read_lens(*tiny.backend, tiny.translator, Compute::F32, request);
    const HookedRun run = run_with_hooks(*tiny.backend, tiny.translator, Compute::F32, {.text = request});
    CHECK(lens.layers.back().steps[0].log_probability == run.steps[0].log_probability);
}

TEST_CASE("a lens ends when nobody waits", "[lens]") {
    const TinyExplorer tiny;
    int asked = 0;
    const Lens stopped = read_lens(*tiny.backend, tiny.translator, Compute::F32,
                                   {.source = "the cat", .target = "die katze"}, [&] { return ++asked < 3; });
    CHECK(stopped.problem == "");
    CHECK(stopped.layers.size() == 2);
    CHECK(stopped.given.size() == stopped.tokens.size());
}

TEST_CASE("a lens says what it cannot show", "[lens]") {
    const auto problem = [](const ModelConfig& config, const ExploreRequest& request) {
        const TinyExplorer tiny("cpu", config);
        return read_lens(*tiny.backend, tiny.translator, Compute::F32, request).problem;
    };
    ModelConfig config = tiny_config();
    CHECK_THAT(problem(config, {.source = "the cat"}), Contains("translation is required"));
    config.generation = Generation::MaskPredict;
    config.frame.mask_id = config.frame.unk_id;
    CHECK_THAT(problem(config, {.source = "the cat", .target = "die katze"}), Contains("mask_predict"));

    const TinyExplorer tiny;
    const Tensor& gain = tiny.translator.parameters().at("decoder.layers.0.feed_forward.norm.gain").value();
    from_host(*tiny.backend, gain,
              std::vector<float>(static_cast<std::size_t>(gain.elements()), std::numeric_limits<float>::quiet_NaN()));
    const Lens damaged =
        read_lens(*tiny.backend, tiny.translator, Compute::F32, {.source = "the cat", .target = "die katze"});
    CHECK_THAT(damaged.problem, Contains("NaN"));
    CHECK(damaged.layers.empty());
}
