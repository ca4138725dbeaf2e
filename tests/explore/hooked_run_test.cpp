// Values at the sites of other programs' models, compared with PyTorch's forward hooks and gradients
// (tests/golden/make_site_vectors.py), and what a run refuses.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "explore/hooked_run.h"
#include "explore/saliency.h"
#include "model/sites.h"
#include "tests/explore/known_model.h"
#include "tests/explore/tiny_explorer.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

double largest_difference(const SiteValues& found, const SiteValues& expected) {
    REQUIRE(found.shape == expected.shape);
    REQUIRE(found.values.size() == expected.values.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < found.values.size(); ++i) {
        largest = std::max(largest, static_cast<double>(std::abs(found.values[i] - expected.values[i])));
    }
    return largest;
}

ExploreRequest tiny_text() {
    return {.source = "the small dog sees the big cat", .target = "the big cat"};
}

}  // namespace

TEST_CASE("every site has the value of PyTorch's forward hooks", "[hooks]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const std::string name = GENERATE(from_range(known_models()));
    CAPTURE(device, name);
    const Known known(name, device);
    const std::vector<std::string> sites = sites_of(known.models.model().config);
    const HookedRun run = known.run({.text = {}, .record = sites});
    REQUIRE(run.values.size() == sites.size());
    for (std::size_t i = 0; i < sites.size(); ++i) {
        CAPTURE(sites[i]);
        CHECK(run.values[i].site == sites[i]);
        const std::string entry = "site/" + sites[i];
        const SiteValues expected =
            sites[i] == "logits" ? known.expected_logits(entry, run.values[i]) : known.expected(entry, sites[i]);
        CHECK(largest_difference(run.values[i], expected) < 1e-4);
    }
    for (const SafeTensorsEntry& entry : known.file.entries()) {
        if (entry.name.starts_with("site/")) {
            CHECK_NOTHROW(run.at(entry.name.substr(5)));
        }
    }
    REQUIRE(run.steps.size() == known.predicted.size());
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
        CHECK(run.steps[i].token == known.predicted[i]);
    }
}

TEST_CASE("a run with replaced values has the logits of PyTorch's", "[hooks]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const std::string name = GENERATE(from_range(known_models()));
    CAPTURE(device, name);
    const Known known(name, device);
    const json notes = json::parse(known.file.metadata().at("patches"));
    const SiteValues plain = known.run({.text = {}, .record = {"logits"}}).at("logits");
    for (std::size_t i = 0; i < notes.size(); ++i) {
        CAPTURE(notes[i].dump());
        const SitePatch patch = known.patch(notes[i], i);
        const HookedRun run = known.run({.text = {}, .record = {"logits"}, .patches = {patch}});
        const SiteValues expected = known.expected_logits("patched/" + std::to_string(i), run.at("logits"));
        CHECK(largest_difference(run.at("logits"), expected) < 1e-4);
        CHECK(largest_difference(expected, plain) > 1e-2);

        // A function that writes the same values changes the same.
        const auto write = [&](SiteValues& values) {
            const std::int64_t columns = values.shape[-1];
            const std::int64_t rows = patch.by.shape[-2];
            const std::int64_t matrices = patch.by.shape.elements() / (rows * columns);
            for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
                const std::int64_t into = patch.head > 0 ? patch.head - 1 : matrix;
                std::copy_n(patch.by.values.begin() + matrix * rows * columns, rows * columns,
                            values.values.begin() + (into * values.shape[-2] + patch.first) * columns);
            }
        };
        const HookedRun same = known.run({.text = {}, .record = {"logits"}, .functions = {{patch.by.site, write}}});
        CHECK(same.at("logits").values == run.at("logits").values);
    }
}

TEST_CASE("reading changes nothing", "[hooks]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const TinyExplorer tiny(device);
    const Exploration read = tiny.explorer.explore(tiny_text());
    REQUIRE(read.problem == "");
    const auto run = [&](const std::vector<std::string>& record) {
        const HookedRun found =
            run_with_hooks(*tiny.backend, tiny.translator, Compute::F32, {.text = tiny_text(), .record = record});
        REQUIRE(found.steps.size() == read.steps.size());
        return found;
    };
    // Bit for bit: the explorer reads all weights, too, and otherwise attention may be one op.
    const HookedRun weights = run({"*.*.*.weights", "*.*.residual_mid", "*.*.residual_cross", "*.norm"});
    CHECK(weights.values.size() == 14);
    const HookedRun none = run({});
    CHECK(none.values.empty());
    const HookedRun residuals = run({"*.*.residual_mid", "*.*.residual_in", "*.*.feed_forward.hidden", "*.*.*.z"});
    for (std::size_t i = 0; i < read.steps.size(); ++i) {
        CHECK(weights.steps[i].log_probability == read.steps[i].log_probability);
        CHECK(residuals.steps[i].log_probability == none.steps[i].log_probability);
        CHECK(none.steps[i].log_probability == Approx(read.steps[i].log_probability).margin(1e-4));
    }
    CHECK(weights.log_probability == read.log_probability);
}

TEST_CASE("a run records values as they were replaced", "[hooks]") {
    const TinyExplorer tiny;
    const std::string site = "encoder.0.residual_out";
    const auto run = [&](const std::vector<SitePatch>& patches) {
        return run_with_hooks(*tiny.backend, tiny.translator, Compute::F32,
                              {.text = tiny_text(), .record = {site}, .patches = patches})
            .at(site)
            .values;
    };
    const std::vector<float> before = run({});
    const std::vector<float> after = run({{.by = {site, {2, 32}, std::vector<float>(64, 5.0F)}, .first = 1}});
    REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
        CHECK(after[i] == (i / 32 == 1 || i / 32 == 2 ? 5.0F : before[i]));
    }
}

TEST_CASE("a run's log-probability is that of what follows the prompt", "[hooks]") {
    const TinyExplorer causal("cpu", tiny_language_config(Architecture::CausalLm));
    const ExploreRequest text{.source = "the small dog", .target = "sees the cat"};
    const HookedRun run = run_with_hooks(*causal.backend, causal.translator, Compute::F32, {.text = text});
    const Exploration read = causal.explorer.explore(text);
    REQUIRE(run.problem == "");
    CHECK(run.prompt > 0);
    CHECK(run.prompt == read.prompt);
    CHECK(run.log_probability == Approx(read.log_probability).margin(1e-5));
    double sum = 0.0;
    for (std::size_t i = run.prompt; i < run.steps.size(); ++i) {
        sum += run.steps[i].log_probability;
    }
    CHECK(run.log_probability == Approx(sum).margin(1e-9));
}

TEST_CASE("a run reads edited heads", "[hooks]") {
    const TinyExplorer tiny;
    ExploreRequest text = tiny_text();
    text.edits = {{.site = {AttentionKind::Cross, 1}, .head = 2}};
    const HookedRun run = run_with_hooks(*tiny.backend, tiny.translator, Compute::F32,
                                         {.text = text, .record = {"decoder.1.cross_attention.weights"}});
    const SiteValues& weights = run.at("decoder.1.cross_attention.weights");
    const std::int64_t of_a_head = weights.shape[1] * weights.shape[2];
    for (std::int64_t i = 0; i < weights.shape.elements(); ++i) {
        CHECK((weights.values[static_cast<std::size_t>(i)] == 0.0F) == (i / of_a_head == 1));
    }
    CHECK(run.log_probability == Approx(tiny.explorer.explore(text).log_probability).margin(1e-4));
}

TEST_CASE("what cannot be recorded, replaced or differentiated is named", "[hooks]") {
    const TinyExplorer tiny;
    const auto run = [&](HookedRequest request) {
        request.text = tiny_text();
        return run_with_hooks(*tiny.backend, tiny.translator, Compute::F32, request);
    };
    CHECK_THROWS_WITH(run({.text = {}, .record = {"decoder.1.self_atention.z"}}),
                      "this model has no site \"decoder.1.self_atention.z\": did you mean "
                      "\"decoder.1.self_attention.z\"?");
    CHECK_THROWS_WITH(run({.text = {}, .record = {"encoder.7.*"}}), Contains("no site \"encoder.7.*\""));
    CHECK_THROWS_WITH(run({.text = {}, .record = {"anything at all"}}), Contains("expected a name such as"));
    const auto patch = [](const std::string& site, const Shape& shape, std::int64_t first = 0, int head = 0) {
        return SitePatch{{site, shape, std::vector<float>(static_cast<std::size_t>(shape.elements()))}, first, head};
    };
    CHECK_NOTHROW(run({.text = {}, .patches = {patch("encoder.0.residual_out", {2, 32}, 1)}}));
    for (const SitePatch& wrong :
         {patch("encoder.0.residual_out", {2, 31}), patch("encoder.0.residual_out", {2, 32}, 1000),
          patch("encoder.0.residual_out", {2, 32}, -1), patch("encoder.0.residual_out", {2, 32}, 0, 1),
          patch("encoder.0.self_attention.z", {2, 8}), patch("encoder.0.self_attention.z", {2, 8}, 0, 9)}) {
        CHECK_THROWS_WITH(run({.text = {}, .patches = {wrong}}), Contains("a patch of " + wrong.by.site));
    }
    const auto grow = [](SiteValues& values) { values.values.push_back(0.0F); };
    CHECK_THROWS_WITH(run({.text = {}, .functions = {{"encoder.norm", grow}}}), Contains("not their shape"));
    const auto spoil = [](SiteValues& values) { std::fill(values.values.begin(), values.values.end(), std::nanf("")); };
    CHECK_THAT(run({.text = {}, .functions = {{"logits", spoil}}}).problem, Contains("NaN"));

    const auto problem = [&](const ExploreRequest& text) {
        return measure_saliency(*tiny.backend, tiny.translator, Compute::F32, text).problem;
    };
    CHECK(problem(tiny_text()) == "");
    ExploreRequest edited = tiny_text();
    edited.edits = {{.site = {AttentionKind::Cross, 1}, .head = 99}};
    CHECK_THAT(problem(edited), Contains("head must be between"));
    ExploreRequest without = tiny_text();
    without.target.reset();
    CHECK(problem(without) != "");
    CHECK(run_with_hooks(*tiny.backend, tiny.translator, Compute::F32, {.text = without}).problem != "");
    const LoadedModel narrow(*tiny.backend, checkout_file("assets/models/en-de"), DType::I8);
    CHECK_THAT(measure_saliency(*tiny.backend, narrow, Compute::F32, tiny_text()).problem, Contains("in f32"));
}
