#include "train/gradient_watch.h"
#include "model/frame_of_config.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "backend/ops/elementwise.h"
#include "tests/model/small_model.h"
#include "tests/ops/devices.h"
#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The sum of squares of each parameter's part of the flat gradient, computed on the host.
std::vector<double> squares_by_host(Backend& backend, const Parameters& parameters) {
    std::vector<double> sums;
    const auto gradients = to_host<double>(backend, parameters.flat_gradients());
    for (const ParameterSpec& spec : parameters.table()) {
        const std::int64_t begin = parameters.stored(spec.name).offset - parameters.flat_values().offset;
        double sum = 0.0;
        for (std::int64_t i = begin; i < begin + spec.shape.elements(); ++i) {
            sum += gradients[static_cast<std::size_t>(i)] * gradients[static_cast<std::size_t>(i)];
        }
        sums.push_back(sum);
    }
    return sums;
}

nlohmann::json watching(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    settings["training"]["watch_gradients"] = true;
    settings["training"]["report_every"] = 1;
    settings["training"]["steps"] = 3;
    settings["training"]["validate_every"] = 0;
    settings["training"]["source_tokens"] = 128;
    settings["training"]["target_tokens"] = 192;
    return settings;
}

}  // namespace

TEST_CASE("the sums of squares are those of each parameter, also in replayed passes", "[watch]") {
    for (const std::string& id : conformance::devices_under_test()) {
        for (const NamedConfig& varied : varied_configs()) {
            INFO(id << ", " << varied.name);
            const auto backend = open_device(id, environment_options());
            int bodies = 0;
            LearnerOptions options{.loss = {.epsilon = 0.1F}, .watch_gradients = true};
            options.label = [&bodies](const std::string& label) { bodies += label == "encoder.embedding" ? 1 : 0; };
            Learner learner(*backend, varied.config, options);
            const GradientWatch& watch = *learner.watch();
            const std::vector<ParameterSpec>& table = learner.parameters().table();
            const std::vector batch{make_batch(random_pairs(varied.config, 3, 1), frame_of(varied.config), 0)};
            for (int turn = 1; turn <= 4; ++turn) {
                learner.step(batch, turn, 1e-3);
                const auto found = to_host<double>(*backend, watch.squares());
                const auto expected = squares_by_host(*backend, learner.parameters());
                REQUIRE(found.size() == expected.size());
                for (std::size_t i = 0; i < found.size(); ++i) {
                    INFO(table[i].name << ", turn " << turn);
                    CHECK(found[i] == Approx(expected[i]).epsilon(1e-4).margin(1e-12));
                }
                CHECK(watch.first_not_finite(found).empty());
            }
            // Each pass is captured to see whether it is known, and captured again before it runs or is recorded.
            const bool replays = backend->replays();
            const bool checks = replays || environment_options().settings.on("HEADSCOPE_CHECK_REPLAYS");
            const int runs = replays ? 2 : 4;
            CHECK(bodies == runs + (checks ? 4 + runs : 0));
            std::vector<double> spoilt = to_host<double>(*backend, watch.squares());
            spoilt[0] = kInfinity;  // the order is known even if the pass was replayed
            CHECK(watch.first_not_finite(spoilt) == table[0].name);
        }
    }
}

TEST_CASE("the first parameter not finite is found in backward order, also among packed ones", "[watch]") {
    SmallModel model(small_config(), "cpu:oracle");
    Backend& backend = *model.backend;
    GradientWatch watch(backend, model.parameters);
    backend.run(Fill{.out = model.parameters.flat_gradients(), .value = 0.5F});
    const auto spoil = [&](const std::string& name) {
        backend.run(Fill{.out = model.parameters.at(name).gradient_target(backend).tensor,
                         .value = std::numeric_limits<float>::infinity()});
    };
    spoil("encoder.layers.0.self_attention.k.weight");
    spoil("embedding.weight");
    model.parameters.forget_gradients();
    const auto finish = [&](const Var& parameter) {
        parameter.gradient_target(backend);
        watch.final_gradient(parameter);
    };
    watch.begin();
    finish(model.parameters.at("decoder.layers.0.feed_forward.outer.weight"));
    finish(model.parameters.packed("encoder.layers.0.self_attention.q.weight", 3));
    finish(model.parameters.at("embedding.weight"));
    auto squares = to_host<double>(backend, watch.squares());
    CHECK(watch.first_not_finite(squares) == "encoder.layers.0.self_attention.k.weight");

    const auto index = [&](const std::string& name) {
        const auto& table = model.parameters.table();
        return static_cast<std::size_t>(
            std::find_if(table.begin(), table.end(), [&](const ParameterSpec& spec) { return spec.name == name; }) -
            table.begin());
    };
    CHECK(squares[index("encoder.layers.0.self_attention.q.weight")] == 0.25 * 64);
    CHECK(squares[index("encoder.layers.0.self_attention.v.weight")] == 0.25 * 64);
    CHECK(squares[index("encoder.layers.1.self_attention.v.weight")] == 0.0);  // was not finished
    squares[index("encoder.layers.0.self_attention.k.weight")] = 36.0;
    CHECK(watch.first_not_finite(squares) == "embedding.weight");
    const auto norms = watch.norms(squares, 2.0);
    CHECK(norms.at("encoder.layers.0.self_attention") == Approx(std::sqrt(16.0 + 36.0 + 16.0) / 2.0));
    CHECK(norms.at("decoder.layers.0.feed_forward") == Approx(std::sqrt(0.25 * 8 * 12) / 2.0));
}

TEST_CASE("watching gradients reports them by layer and does not change the training", "[watch][trainer]") {
    std::vector<std::pair<std::string, const char*>> all;
    for (const std::string& id : conformance::devices_under_test()) {
        all.emplace_back(id, "f32");
    }
    for (const std::string& id : conformance::devices_with_storage()) {
        all.emplace_back(id, "f16");  // gradients are multiplied by the loss scale
    }
    for (const auto& [id, precision] : all) {
        INFO(id << " in " << precision);
        const TemporaryFolder folder;
        nlohmann::json settings = watching(folder);
        settings["training"]["precision"] = precision;
        settings["training"]["micro_batch_tokens"] = 64;
        settings["training"]["clip_norm"] = 0.5;
        DigitsRun watched(folder, settings, "watched", id);
        watched.start().train();
        const auto lines = logged(watched.output_folder, "train");
        REQUIRE(lines.size() == 3);
        for (const nlohmann::json& line : lines) {
            const auto norms = line.at("gradient_norms").get<std::map<std::string, double>>();
            std::set<std::string> layers;
            double squares = 0.0;
            for (const auto& [layer, norm] : norms) {
                layers.insert(layer);
                CHECK(norm > 0.0);
                squares += norm * norm;
            }
            CHECK(layers == std::set<std::string>{"decoder.layers.0.cross_attention", "decoder.layers.0.feed_forward",
                                                  "decoder.layers.0.self_attention", "embedding",
                                                  "encoder.layers.0.feed_forward", "encoder.layers.0.self_attention"});
            CHECK(std::sqrt(squares) == Approx(line.at("gradient_norm").get<double>()).epsilon(1e-4));
        }
        settings["training"]["watch_gradients"] = false;
        DigitsRun plain(folder, settings, "plain", id);
        plain.start().train();
        CHECK(plain.weights() == watched.weights());
        CHECK_FALSE(logged(plain.output_folder, "train").front().contains("gradient_norms"));
    }
}

TEST_CASE("a report's norms are means over its steps, also across a stop", "[watch][trainer]") {
    const TemporaryFolder folder;
    nlohmann::json settings = watching(folder);
    settings["training"]["steps"] = 4;
    DigitsRun each(folder, settings, "each");
    each.start().train();
    settings["training"]["report_every"] = 4;
    DigitsRun together(folder, settings, "together");
    together.hooks.stop_requested = stop_after(3);
    CHECK(together.start().train() == RunEnd::Stopped);
    DigitsRun rest(folder, settings, "together");
    CHECK(rest.start(true).train() == RunEnd::Finished);
    const auto lines = logged(each.output_folder, "train");
    const auto line = logged(rest.output_folder, "train").at(0);
    REQUIRE(lines.size() == 4);
    for (const auto& [layer, norm] : line.at("gradient_norms").items()) {
        double sum = 0.0;
        for (const nlohmann::json& one : lines) {
            sum += one.at("gradient_norms").at(layer).get<double>();
        }
        CHECK(norm.get<double>() == Approx(sum / 4.0).epsilon(1e-9));
    }
}

TEST_CASE("a run that diverges names the first gradient that was not finite", "[watch][divergence]") {
    const TemporaryFolder folder;
    nlohmann::json settings = watching(folder);
    settings["training"]["steps"] = 24;
    settings["training"]["checkpoint_every"] = 1000;
    settings["training"]["divergence_returns"] = 0;
    DigitsRun run(folder, settings, "out");
    run.hooks.stop_requested = [&run] {
        if (run.training->step() == 2) {
            run.backend->run(Fill{.out = run.learner->parameters().flat_values(), .value = 1e30F});
        }
        return false;
    };
    const std::string problem = error_of([&] { run.start().train(); });
    // The loss itself was not finite.
    const std::string first = "first in the backward pass: decoder.layers.0.feed_forward.norm.gain";
    CHECK_THAT(problem, Contains("step 12: the gradients of the last 10 steps were not finite, " + first + ":"));
    CHECK_THAT(run.said, Contains("SKIPPED 1 step whose gradient was not finite, " + first + "\n"));
    const auto lines = logged(run.output_folder, "train");
    CHECK(lines.back().at("first_not_finite") == "decoder.layers.0.feed_forward.norm.gain");
    CHECK_FALSE(lines.front().contains("first_not_finite"));
}
