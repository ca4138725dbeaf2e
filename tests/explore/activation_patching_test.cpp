// What single values in the middle of a pass, taken from another text, change of an output.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "explore/activation_patching.h"
#include "explore/hooked_run.h"
#include "explore/inner_json.h"
#include "tests/explore/tiny_explorer.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

Patching dog_for_cat(const std::string& sites) {
    return {.text = {.source = "the small cat sleeps", .target = "eine katze"},
            .from = "the small dog sees the big cat",
            .sites = sites};
}

PatchEffects patch(const TinyExplorer& tiny, const Patching& patching) {
    return patch_activations(*tiny.backend, tiny.translator, Compute::F32, patching);
}

}  // namespace

TEST_CASE("each effect is a run with one value of the other text", "[patching]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const std::string site =
        GENERATE("encoder.0.residual_out", "decoder.1.residual_mid", "decoder.0.cross_attention.v", "encoder.norm");
    CAPTURE(device, site);
    const TinyExplorer tiny(device);
    const Patching patching = dog_for_cat(site);
    const PatchEffects found = patch(tiny, patching);
    REQUIRE(found.problem == "");
    const auto run = [&](const std::string& source, const HookedRequest& request) {
        HookedRequest hooked = request;
        hooked.text = patching.text;
        hooked.text.source = source;
        return run_with_hooks(*tiny.backend, tiny.translator, Compute::F32, hooked);
    };
    const HookedRun plain = run(patching.text.source, {.text = {}, .record = {site}});
    const HookedRun other = run(patching.from, {.text = {}, .record = {site}});
    CHECK(found.log_probability == Approx(plain.log_probability).margin(1e-5));
    CHECK(found.from_log_probability == Approx(other.log_probability).margin(1e-5));
    REQUIRE(std::ssize(found.effects) == std::min(plain.at(site).shape[-2], other.at(site).shape[-2]));
    for (const PatchEffect& effect : found.effects) {
        const auto replace = [&](SiteValues& values) {
            const SiteValues& from = other.at(site);
            const std::int64_t columns = values.shape[-1];
            const std::int64_t matrices = values.shape.elements() / (values.shape[-2] * columns);
            for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
                std::copy_n(from.values.begin() + (matrix * from.shape[-2] + effect.position) * columns, columns,
                            values.values.begin() + (matrix * values.shape[-2] + effect.position) * columns);
            }
        };
        const HookedRun expected = run(patching.text.source, {.text = {}, .functions = {{site, replace}}});
        CHECK(effect.site == site);
        CHECK(effect.log_probability == expected.log_probability);
    }
    CHECK(found.effects[1].log_probability != found.log_probability);
}

TEST_CASE("values of the same text change nothing", "[patching]") {
    const TinyExplorer tiny;
    Patching patching = dog_for_cat("*.*.residual_out");
    patching.from = patching.text.source;
    const PatchEffects found = patch(tiny, patching);
    REQUIRE(found.problem == "");
    CHECK(found.effects.front().site == "encoder.0.residual_out");
    CHECK(found.effects.back().site == "decoder.1.residual_out");
    for (const PatchEffect& effect : found.effects) {
        CHECK(effect.log_probability == Approx(found.log_probability).margin(1e-5));
    }
}

TEST_CASE("effects name the pieces that were exchanged", "[patching]") {
    const TinyExplorer tiny;
    Patching patching = dog_for_cat("*.1.residual_in");
    patching.from = "a small dog";
    patching.positions = {1, 0};
    const PatchEffects found = patch(tiny, patching);
    REQUIRE(found.effects.size() == 4);
    CHECK(found.effects[0].position == 1);
    CHECK(found.effects[1].position == 0);
    CHECK(found.effects[1].token.text == "\u2581the");
    CHECK(found.effects[1].from.text == "\u2581a");
    CHECK(found.effects[3].site == "decoder.1.residual_in");
    CHECK(found.effects[3].token.text == "<BOS>");
    CHECK(found.effects[2].token == found.effects[2].from);  // both read the same target

    const nlohmann::json parsed = nlohmann::json::parse(to_json(found));
    CHECK(parsed.at("log_probability") == found.log_probability);
    CHECK(parsed.at("from_log_probability") == found.from_log_probability);
    const nlohmann::json& first = parsed.at("effects").at(0);
    CHECK(first.at("position") == 2);
    CHECK(first.at("piece") == found.effects[0].token.text);
    CHECK(first.at("from") == found.effects[0].from.text);
    CHECK(first.at("change") == found.effects[0].log_probability - found.log_probability);
}

TEST_CASE("language models are patched", "[patching]") {
    const TinyExplorer causal("cpu", tiny_language_config(Architecture::CausalLm));
    Patching patching{.text = {.source = "the small dog", .target = "sees the cat"},
                      .from = "the big dog",
                      .sites = "decoder.1.residual_in"};
    CHECK(patch(causal, patching).effects.size() > 4);
    patching.text.target = "";
    CHECK_THAT(patch(causal, patching).problem, Contains("no continuation"));

    const TinyExplorer masked("cpu", tiny_language_config(Architecture::MaskedLm));
    patching = {.text = {.source = "the [MASK] dog", .target_tokens = {9}},
                .from = "a [MASK] cat",
                .sites = "encoder.1.residual_in"};
    CHECK(patch(masked, patching).effects.at(1).token.text.ends_with("the"));
    patching.from = "a cat";
    CHECK_THAT(patch(masked, patching).problem, Contains("the text to take values from") && Contains("0 masks"));
    patching.text.target_tokens.clear();
    patching.from = "a [MASK] cat";
    CHECK_THAT(patch(masked, patching).problem, Contains("no token whose probability could change"));
}

TEST_CASE("patching ends when nobody waits, and names what is missing", "[patching]") {
    const TinyExplorer tiny;
    int asked = 0;
    const PatchEffects stopped = patch_activations(*tiny.backend, tiny.translator, Compute::F32,
                                                   dog_for_cat("*.*.residual_out"), [&] { return ++asked < 3; });
    CHECK(stopped.effects.size() == 2);
    Patching patching = dog_for_cat("encoder.1.residual");
    CHECK_THROWS_WITH(patch(tiny, patching), Contains("no site \"encoder.1.residual\""));
    patching.sites = "encoder.1.residual_in";
    patching.positions = {63};
    CHECK_THROWS_WITH(patch(tiny, patching), Contains("position 64 of encoder.1.residual_in"));
    patching.text.target.reset();
    CHECK_THAT(patch(tiny, patching).problem, Contains("translation is required"));
    patching = dog_for_cat("encoder.1.residual_in");
    patching.from = "";
    CHECK_THAT(patch(tiny, patching).problem, Contains("the text to take values from: the source sentence is empty"));
}
